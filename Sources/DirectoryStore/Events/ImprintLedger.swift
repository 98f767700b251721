// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Foundation

/// The imprints of an account: one per device, number and time, and never counted.
package struct ImprintLedger: Sendable {
    private let database: DirectoryDatabase
    private let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID) {
        self.database = database
        self.account = account
    }

    /// Stores an imprint, unless the same device, number and time is stored already.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: the id of the stored imprint.
    /// - Throws: `StoreError.quotaReached`, or a database error.
    package func store(_ imprint: Imprint, now: Int64) async throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let details = String(decoding: try encoder.encode(imprint), as: UTF8.self)
        return try await database.pool.write { [account, limit = database.storedPerDay] database in
            guard try AccountQuota.take(details.utf8.count, of: account, limit: limit, now: now, database) else {
                throw StoreError.quotaReached(now: now)
            }
            return try database.value(
                String.self,
                """
                INSERT INTO imprint (account, device_id, number, displayed_at, imprint_id, details, received)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (account, device_id, number, displayed_at) DO UPDATE SET received = imprint.received
                RETURNING imprint_id
                """,
                [
                    account.row, imprint.deviceID, imprint.phoneNumber, imprint.displayedAt,
                    UUID().uuidString.lowercased(), details, now,
                ]) ?? ""
        }
    }
}
