// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Crypto
package import Foundation
import GRDB

/// What an account's sync answers are made of, as a validator: it changes when an answer would say something new.
///
/// Two things in an answer are left out. `synced_at` is the server's time, different each second. `used_this_month`
/// grows with each event: with it the full answer of a busy account, the one large enough to be worth a 304, would never
/// be unchanged; clients learn the number from event answers too. What it decides, whether the cap is reached, is in. The
/// tag is therefore weak (RFC 9110 §8.8.1): the same in meaning, not in every byte.
package struct SyncState: Sendable {
    package let digest: Data
    /// Seconds since 1970 from which this state was seen, no two states of an account at the same second; in the future
    /// for a state that followed too fast.
    package let modified: Int64
    /// False for a state that nobody has seen yet, or that could not be stored.
    package let isNoted: Bool

    /// The state of now; `now` is seconds since 1970.
    static func current(
        _ account: AccountID, logoBase: String?, now: Int64, _ database: Database
    ) throws -> SyncState {
        let digest = try Self.digest(of: account, logoBase: logoBase, now: now, database)
        if let seen = try stored(account, database), seen.digest == digest { return seen }
        return SyncState(digest: digest, modified: now, isNoted: false)
    }

    /// The state with the time from which on it was seen.
    ///
    /// A time alone would let a client miss a gate, because closing one is no change of an entry. So the moment at which
    /// a state was first seen is kept, and steps on by a second at least.
    package func noted(for account: AccountID, _ database: DirectoryDatabase, now: Int64) async throws -> SyncState {
        try await database.commits.write { [digest] database in
            let known = try Self.stored(account, database)
            if let known, known.digest == digest { return known }
            let modified = max(now, (known?.modified ?? 0) + 1)
            try database.execute(
                sql: """
                    INSERT INTO sync_state (account, digest, modified) VALUES (?, ?, ?)
                    ON CONFLICT (account) DO UPDATE SET digest = excluded.digest, modified = excluded.modified
                    """,
                arguments: [account.row, digest, modified])
            return SyncState(digest: digest, modified: modified, isNoted: true)
        }
    }

    private static func digest(
        of account: AccountID, logoBase: String?, now: Int64, _ database: Database
    ) throws -> Data {
        let last = try FeedTouch.last(account, database)
        var config = try AccountStore.config(of: account, now: now, database)
        let isCapReached = config.isCapReached
        config.usedThisMonth = nil
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var hash = SHA256()
        let changed = try FeedTouch.time(ofChange: last, account, database) ?? 0
        hash.update(data: Data("\(account.row) \(last) \(changed) \(isCapReached) \(logoBase ?? "")\n".utf8))
        hash.update(data: try encoder.encode(config))
        hash.update(data: try encoder.encode(try DebugRequests.open(account, now: now, database)))
        // Uploads close a request for their device, so they count too.
        let answers = try DebugRequests.answers(account, now: now, database)
        hash.update(data: Data("\(answers)".utf8))
        return Data(hash.finalize())
    }

    private static func stored(_ account: AccountID, _ database: Database) throws -> SyncState? {
        let statement = try database.cachedStatement(sql: "SELECT digest, modified FROM sync_state WHERE account = ?")
        return try Row.fetchOne(statement, arguments: [account.row]).map {
            SyncState(digest: $0["digest"], modified: $0["modified"], isNoted: true)
        }
    }
}
