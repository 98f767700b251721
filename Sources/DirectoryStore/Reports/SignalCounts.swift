// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

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
            let statement = """
                INSERT INTO day_signal (account, day, signal, count) VALUES (?, ?, ?, 1)
                ON CONFLICT (account, day, signal) DO UPDATE SET count = day_signal.count + 1
                """
            try database.execute(
                statement,
                [
                    account.row, String(Timestamp.string(from: now).prefix(10)), signal.rawValue,
                ])
        }
    }

    /// The counts of a month, such as `2026-01`.
    static func counts(
        of account: AccountID, in month: String, _ database: any SQLConnection
    ) throws -> [Signal: Int] {
        try database.rows(
            "SELECT signal, CAST(sum(count) AS BIGINT) FROM day_signal WHERE account = ? AND day LIKE ? GROUP BY signal",
            [account.row, month + "-%"]
        ).reduce(into: [:]) { counts, row in
            if let signal = Signal(rawValue: row[0]) { counts[signal] = row[1] }
        }
    }
}
