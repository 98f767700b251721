// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GRDB

/// One sync answer's walk through the entries, page by page, over one unchanging state of the database.
///
/// What changes while it walks has a later change number than its cursor, so it comes with the next sync and not twice.
/// Full answers hold active entries only; incremental ones also say what is no longer active, to clients that asked.
struct ChangeFeed: Sendable {
    /// Where the client may go on next time.
    let cursor: SyncCursor
    let config: DirectoryConfig
    private let snapshot: DatabaseSnapshot
    private let account: AccountID
    private let range: Range
    private let includesInactive: Bool

    /// Which entries are asked for.
    private enum Range {
        case active
        case after(change: Int64)
        case since(seconds: Int64)
    }

    private static let pageSize = 1000

    /// Takes the state; `now` is seconds since 1970, `since` where the client stands.
    init(
        _ database: DirectoryDatabase, account: AccountID, device: String? = nil, since: SyncCursor?,
        includesInactive: Bool = false, now: Int64
    ) async throws {
        let snapshot = try database.pool.makeSnapshot()
        let (last, config) = try await snapshot.read { database in
            let last = try Int64.fetchOne(
                database, sql: "SELECT last_change FROM account WHERE id = ?", arguments: [account.row])
            return (last ?? 0, try AccountStore.config(of: account, device: device, now: now, database))
        }
        self.snapshot = snapshot
        self.account = account
        self.config = config
        self.includesInactive = includesInactive
        cursor = SyncCursor(seconds: now, change: last)
        range =
            switch since {
            case nil: .active
            case let since? where since.change.map { $0 <= last } ?? false: .after(change: since.change ?? 0)
            // A cursor from the future is of a database that was there before this one: only its time still means something.
            case let since?: .since(seconds: since.seconds)
            }
    }

    /// The entries behind the last one of the page before, which is nil for the first; empty at the end.
    func page(after previous: Position?) async throws -> (items: [BrandingItem], last: Position?) {
        let (condition, bound) = condition
        let (account, from) = (account, previous?.change ?? -1)
        return try await snapshot.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM brand_number WHERE account = ? AND change > ? AND \(condition)
                    ORDER BY change LIMIT \(Self.pageSize)
                    """,
                arguments: [account.row, from, bound])
            return (rows.map(BrandEntries.item), rows.last.map { Position(change: $0["change"]) })
        }
    }

    /// Where a page ends.
    struct Position: Sendable {
        fileprivate let change: Int64
    }

    private var activity: String { includesInactive ? "" : "active = 1 AND " }

    private var condition: (sql: String, bound: Int64) {
        switch range {
        case .active: ("active = ?", 1)
        case .after(let change): (activity + "change > ?", change)
        case .since(let seconds): (activity + "updated >= ?", seconds)
        }
    }
}
