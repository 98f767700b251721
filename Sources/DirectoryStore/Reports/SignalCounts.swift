// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GRDB

/// Counts acknowledged syncs and lookups by account and day, in UTC.
///
/// Source: securenode-endpoint-contract §7b, "Sync response (ack)", "Number matched", "Calls not matched".
package struct SignalCounts: Sendable {
    /// The counted signals; the raw value is stored in the database.
    package enum Signal: String, CaseIterable, Sendable {
        case acknowledged = "ack"
        case matched
        case notMatched = "not_matched"
    }

    let database: DirectoryDatabase
    let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID) {
        self.database = database
        self.account = account
    }

    /// Counts one; `now` is seconds since 1970.
    package func add(_ signal: Signal, now: Int64) async throws {
        try await database.commits.write { [account] database in
            let statement = try database.cachedStatement(
                sql: """
                    INSERT INTO day_signal (account, day, signal, count) VALUES (?, ?, ?, 1)
                    ON CONFLICT (account, day, signal) DO UPDATE SET count = count + 1
                    """)
            try statement.execute(arguments: [
                account.row, String(Timestamp.string(from: now).prefix(10)), signal.rawValue,
            ])
        }
    }

    /// The counts of a month, such as `2026-01`.
    static func counts(
        of account: AccountID, in month: String, _ database: Database
    ) throws -> [Signal: Int] {
        try Row.fetchAll(
            database,
            sql: "SELECT signal, sum(count) FROM day_signal WHERE account = ? AND day LIKE ? GROUP BY signal",
            arguments: [account.row, month + "-%"]
        ).reduce(into: [:]) { counts, row in
            if let signal = Signal(rawValue: row[0]) { counts[signal] = row[1] }
        }
    }
}
