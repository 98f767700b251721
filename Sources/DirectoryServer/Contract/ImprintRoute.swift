// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import GRDB
import Hummingbird

/// `POST mobile/branding/imprint`: kept once for a device, number and time, and never counted; events are.
struct ImprintRoute: Sendable {
    let database: DirectoryDatabase
    let now: @Sendable () -> Int64

    func imprint(_ request: Request, _ context: AccountContext) async throws -> Response {
        let imprint = try Imprint(try await Answers.object(of: request, levels: .max), now: now())
        let id = try await store(imprint, context.account)
        return try Answers.json(ImprintResponse(imprintID: id, displayedAt: imprint.displayedAt))
    }

    /// Keeps the first of its kind; the id is that of the one kept.
    private func store(_ imprint: Imprint, _ account: AccountID) async throws -> String {
        let details = String(decoding: try Answers.encoder().encode(imprint), as: UTF8.self)
        let now = now()
        let limit = database.storedPerDay
        return try await database.pool.write { database in
            guard try AccountQuota.take(details.utf8.count, of: account, limit: limit, now: now, database) else {
                throw Refusal.quotaReached(now: now)
            }
            return try String.fetchOne(
                database,
                sql: """
                    INSERT INTO imprint (account, device_id, number, displayed_at, imprint_id, details, received)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (account, device_id, number, displayed_at) DO UPDATE SET received = received
                    RETURNING imprint_id
                    """,
                arguments: [
                    account.row, imprint.deviceID, imprint.phoneNumber, imprint.displayedAt,
                    UUID().uuidString.lowercased(), details, now,
                ]) ?? ""
        }
    }
}

extension Imprint {
    /// Reads an imprint; whatever else it lacks, it must name its device.
    ///
    /// Some clients leave the time out, and mean the present. `now` is seconds since 1970.
    ///
    /// - Throws: `Refusal` (400) without a `device_id`.
    fileprivate init(_ object: [String: JSONValue], now: Int64) throws {
        let fields = RequestFields<CodingKeys>(object)
        let number = fields.clean(.phoneNumber, atMost: FieldLimit.number) ?? ""
        let time: String? = if case .string(let text) = object["displayed_at"] { text } else { nil }
        self.init(
            phoneNumber: E164Number(number)?.description ?? number,
            displayedAt: time.flatMap { EventCheck.isTime($0) ? $0 : nil } ?? Timestamp.string(from: now),
            deviceID: try fields.deviceID(.deviceID))
        platform = fields.clean(.platform)
        osVersion = fields.clean(.osVersion)
        deviceModel = fields.clean(.deviceModel)
        campaignID = fields.clean(.campaignID)
    }
}
