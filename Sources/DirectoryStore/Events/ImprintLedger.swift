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
        let results = try await store([imprint], now: now)
        guard let result = results.first else { throw InconsistentStore(description: "an imprint has no result") }
        return try result.get()
    }

    /// Stores several imprints in one transaction, each as if alone.
    ///
    /// - Returns: for each imprint the id, or the refusal of the day's limit.
    /// - Throws: a database error.
    package func store(_ imprints: [Imprint], now: Int64) async throws -> [Result<String, StoreError>] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let detailed = try imprints.map { ($0, String(decoding: try encoder.encode($0), as: UTF8.self)) }
        return try await database.pool.write { [account, limit = database.storedPerDay] database in
            try detailed.map { imprint, details in
                guard try AccountQuota.take(details.utf8.count, of: account, limit: limit, now: now, database) else {
                    return .failure(.quotaReached(now: now))
                }
                return .success(try Self.store(imprint, details, account, now: now, database))
            }
        }
    }

    private static func store(
        _ imprint: Imprint, _ details: String, _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws -> String {
        try database.value(
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
