// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore
import Foundation
import Hummingbird

/// `POST mobile/branding/imprint`: stores imprints, which are never counted; events are.
struct ImprintRoute: Sendable {
    let database: DirectoryDatabase
    let now: @Sendable () -> Int64

    func imprint(_ request: Request, _ context: AccountContext) async throws -> Response {
        let now = now()
        let imprint = try Imprint(try await JSONBody.object(of: request, levels: .max), now: now)
        let id = try await ImprintLedger(database, account: context.account).store(imprint, now: now)
        return try JSONBody.response(ImprintResponse(imprintID: id, displayedAt: imprint.displayedAt))
    }
}

extension Imprint {
    /// Reads an imprint; only the device identifier is required.
    ///
    /// A missing time means the present, because some clients omit it. `now` is seconds since 1970.
    ///
    /// - Throws: `Refusal` (400) without a `device_id`.
    init(_ object: [String: JSONValue], now: Int64) throws {
        let fields = RequestFields<CodingKeys>(object)
        let number = fields.clean(.phoneNumber, atMost: FieldLimit.number) ?? ""
        let time: String? = if case .string(let text) = object["displayed_at"] { text } else { nil }
        self.init(
            phoneNumber: E164Number(number)?.description ?? number,
            displayedAt: time.flatMap { FieldCheck.isTime($0) ? $0 : nil } ?? Timestamp.string(from: now),
            deviceID: try fields.deviceID(.deviceID))
        platform = fields.clean(.platform)
        osVersion = fields.clean(.osVersion)
        deviceModel = fields.clean(.deviceModel)
        campaignID = fields.clean(.campaignID)
    }
}
