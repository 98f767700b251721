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
        let imprint = try await Answers.body(
            Imprint.self, of: request,
            fields: [
                "phone_number_e164", "displayed_at", "device_id", "platform", "os_version", "device_model",
                "campaign_id",
            ])
        guard let number = E164Number(imprint.phoneNumber) else {
            throw Refusal.badRequest("phone_number_e164 is no E.164 number")
        }
        try EventCheck.time(imprint.displayedAt, "displayed_at")
        try EventCheck.length(imprint.deviceID, 1...128, "device_id")
        for text in [imprint.platform, imprint.osVersion, imprint.deviceModel, imprint.campaignID] {
            try text.map { try EventCheck.length($0, 0...128, "platform, os_version, device_model and campaign_id") }
        }
        let id = try await store(imprint, number, context.account)
        return try Answers.json(ImprintResponse(imprintID: id, displayedAt: imprint.displayedAt))
    }

    /// Keeps the first of its kind; the id is that of the one kept.
    private func store(_ imprint: Imprint, _ number: E164Number, _ account: AccountID) async throws -> String {
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
                    account.row, imprint.deviceID, number.description, imprint.displayedAt,
                    UUID().uuidString.lowercased(), details, now,
                ]) ?? ""
        }
    }
}
