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
package struct FeedState: Sendable {
    package let digest: Data
    /// The time of this state, in seconds since 1970, unique per account; in the future after two changes within one
    /// second.
    package let modified: Int64
    /// False for a state that is new, or that could not be stored.
    package let isSaved: Bool

    /// The present state of an account; `now` is seconds since 1970.
    static func current(
        _ account: AccountID, logoBase: String?, now: Int64, _ database: any SQLConnection
    ) throws -> FeedState {
        try current(PolledAccount(account, now: now, database), account, logoBase: logoBase, now: now)
    }

    static func current(
        _ polled: PolledAccount, _ account: AccountID, logoBase: String?, now: Int64
    ) throws -> FeedState {
        let digest = try Self.digest(of: account, polled, logoBase: logoBase)
        if let seen = polled.stored, seen.digest == digest { return seen }
        return FeedState(digest: digest, modified: now, isSaved: false)
    }

    /// Stores a new state with its time.
    ///
    /// The times of entries do not show a closed gate. So the first time of each state is stored, at least one second
    /// after the state before.
    package func saved(for account: AccountID, _ database: DirectoryDatabase, now: Int64) async throws -> FeedState {
        try await database.commits.write { [digest] database in
            let known = try Self.stored(account, database)
            if let known, known.digest == digest { return known }
            let modified = max(now, (known?.modified ?? 0) + 1)
            try database.execute(
                """
                INSERT INTO sync_state (account, digest, modified) VALUES (?, ?, ?)
                ON CONFLICT (account) DO UPDATE SET digest = excluded.digest, modified = excluded.modified
                """, [account.row, digest, modified])
            return FeedState(digest: digest, modified: modified, isSaved: true)
        }
    }

    private static func digest(of account: AccountID, _ polled: PolledAccount, logoBase: String?) throws -> Data {
        var config = polled.config
        let isCapReached = config.isCapReached
        config.usedThisMonth = nil
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var hash = SHA256()
        let last = polled.head.last
        hash.update(data: Data("\(account.row) \(last) \(polled.changed) \(isCapReached) \(logoBase ?? "")\n".utf8))
        hash.update(data: try encoder.encode(config))
        // Uploads close the request for their device, so the digest includes their count.
        hash.update(data: try encoder.encode(polled.requests))
        hash.update(data: Data("\(polled.uploads)".utf8))
        if polled.head.epoch != 0 { hash.update(data: Data("\nepoch \(polled.head.epoch)".utf8)) }
        if polled.hasCards { hash.update(data: Data("\ncards".utf8)) }
        return Data(hash.finalize())
    }

    private static func stored(_ account: AccountID, _ database: any SQLConnection) throws -> FeedState? {
        let statement = "SELECT digest, modified FROM sync_state WHERE account = ?"
        return try database.row(statement, [account.row]).map {
            FeedState(digest: $0["digest"], modified: $0["modified"], isSaved: true)
        }
    }
}
