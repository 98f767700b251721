// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Crypto
package import Foundation

/// A digest of everything in an account's sync responses, used as a validator: it changes when a response would have
/// new content.
///
/// The digest leaves two values out. `synced_at` is the server's time, different each second. `used_this_month` grows
/// with each event, so the large full response of a busy account would never be unchanged; event responses carry the
/// number as well. The digest includes whether the cap is reached. The tag is therefore weak (RFC 9110 §8.8.1): the
/// same in meaning, not in every byte.
package struct SyncState: Sendable {
    package let digest: Data
    /// The time of this state, in seconds since 1970, unique per account; in the future after two changes within one
    /// second.
    package let modified: Int64
    /// False for a state that is new, or that could not be stored.
    package let isSaved: Bool

    /// The present state; `now` is seconds since 1970.
    static func current(
        _ account: AccountID, logoBase: String?, now: Int64, _ database: any SQLConnection
    ) throws -> SyncState {
        let end = try FeedEnd(account, database)
        let digest = try Self.digest(of: account, end, logoBase: logoBase, now: now, database)
        if let seen = end.stored, seen.digest == digest { return seen }
        return SyncState(digest: digest, modified: now, isSaved: false)
    }

    /// Stores a new state with its time.
    ///
    /// The times of entries do not show a closed gate. So the first time of each state is stored, at least one second
    /// after the state before.
    package func saved(for account: AccountID, _ database: DirectoryDatabase, now: Int64) async throws -> SyncState {
        try await database.commits.write { [digest] database in
            let known = try Self.stored(account, database)
            if let known, known.digest == digest { return known }
            let modified = max(now, (known?.modified ?? 0) + 1)
            try database.execute(
                """
                INSERT INTO sync_state (account, digest, modified) VALUES (?, ?, ?)
                ON CONFLICT (account) DO UPDATE SET digest = excluded.digest, modified = excluded.modified
                """, [account.row, digest, modified])
            return SyncState(digest: digest, modified: modified, isSaved: true)
        }
    }

    private static func digest(
        of account: AccountID, _ end: FeedEnd, logoBase: String?, now: Int64, _ database: any SQLConnection
    ) throws -> Data {
        var config = try AccountStore.config(of: account, now: now, database)
        let isCapReached = config.isCapReached
        config.usedThisMonth = nil
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var hash = SHA256()
        let last = end.head.last
        hash.update(data: Data("\(account.row) \(last) \(end.changed) \(isCapReached) \(logoBase ?? "")\n".utf8))
        hash.update(data: try encoder.encode(config))
        // Uploads close the request for their device, so the digest includes their count.
        let (open, uploads) = try DebugRequests.openWithUploads(account, now: now, database)
        hash.update(data: try encoder.encode(open))
        hash.update(data: Data("\(uploads)".utf8))
        if end.head.epoch != 0 { hash.update(data: Data("\nepoch \(end.head.epoch)".utf8)) }
        return Data(hash.finalize())
    }

    private static func stored(_ account: AccountID, _ database: any SQLConnection) throws -> SyncState? {
        let statement = "SELECT digest, modified FROM sync_state WHERE account = ?"
        return try database.row(statement, [account.row]).map {
            SyncState(digest: $0["digest"], modified: $0["modified"], isSaved: true)
        }
    }
}

/// The end of an account's feed with the state stored last, of one statement.
private struct FeedEnd {
    let head: ChangeCounter.Head
    /// The time of the last change, in seconds since 1970; 0 without one.
    let changed: Int64
    let stored: SyncState?

    init(_ account: AccountID, _ database: any SQLConnection) throws {
        let statement = """
            SELECT feed_head.epoch, feed_head.last_change, sync_state.digest, sync_state.modified,
                (SELECT updated FROM brand_number WHERE account = feed_head.account AND change <= feed_head.last_change
                    ORDER BY change DESC LIMIT 1) AS changed
            FROM feed_head LEFT JOIN sync_state ON sync_state.account = feed_head.account WHERE feed_head.account = ?
            """
        guard let row = try database.row(statement, [account.row]) else {
            throw InconsistentStore(description: "there is no account \(account.row)")
        }
        head = ChangeCounter.Head(epoch: row[0], last: row[1])
        let (digest, modified, changed): (Data?, Int64?, Int64?) = (row[2], row[3], row[4])
        self.changed = changed ?? 0
        stored = digest.flatMap { digest in
            modified.map { SyncState(digest: digest, modified: $0, isSaved: true) }
        }
    }
}
