// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation

/// A request for changes.
package struct Poll: Sendable {
    /// The client's cursor; nil without one.
    let since: SyncCursor?

    package init(since: SyncCursor?) { self.since = since }
}

/// Everything that decides a poll's response, of one statement: most polls need nothing else.
package struct PolledAccount: Sendable {
    /// The end of the feed.
    let head: ChangeCounter.Head
    /// The time of the last change, in seconds since 1970; 0 without one.
    let changed: Int64
    /// The time of the client's last change, in seconds since 1970; nil without a cursor, and without such a change.
    let seen: Int64?
    /// The account's state, without the gates of a debug upload.
    let config: DirectoryConfig
    /// True if each brand of the account has a public card.
    let hasCards: Bool
    /// The debug requests that have not expired.
    let requests: [DebugRequests.Open]
    /// The count of their uploads.
    let uploads: Int
    /// The state that was stored last.
    let stored: FeedState?

    /// - Parameters:
    ///   - since: the client's cursor; nil without one.
    ///   - now: seconds since 1970.
    init(_ account: AccountID, since: SyncCursor? = nil, now: Int64, _ database: any SQLConnection) throws {
        var arguments = Self.arguments(since, now: now)
        arguments.named["account"] = .integer(account.row)
        let rows = try database.rows(Self.statement("", "account", "account.id = :account"), arguments)
        guard let row = rows.first else {
            throw InconsistentStore(description: "there is no account \(account.row)")
        }
        self.init(row, rows)
    }

    /// Finds the owner of a key by its hash, and the state of its account; nil for an unknown, revoked or expired key.
    static func ofKey(
        hash: Data, _ poll: Poll, now: Int64, _ database: any SQLConnection
    ) throws -> (caller: Caller, polled: PolledAccount)? {
        var arguments = Self.arguments(poll.since, now: now)
        arguments.named["hash"] = .bytes(hash)
        let statement = Self.statement(
            "api_key.account, api_key.kind, api_key.expires AS key_expires, key_signing.api_id, key_signing.secret,",
            "api_key LEFT JOIN key_signing ON key_signing.key_hash = api_key.hash JOIN account ON account.id = api_key.account",
            "api_key.hash = :hash AND api_key.revoked IS NULL")
        let rows = try database.rows(statement, arguments)
        guard let row = rows.first, row["key_expires"] as Int64? ?? .max > now else { return nil }
        return (Caller(row, hash: hash), PolledAccount(row, rows))
    }

    private init(_ row: SQLRow, _ rows: [SQLRow]) {
        head = ChangeCounter.Head(epoch: row["feed_epoch"], last: row["last_change"])
        let (changed, used): (Int64?, Int?) = (row["changed"], row["used"])
        self.changed = changed ?? 0
        seen = row["seen"]
        config = AccountStore.config(row, used: used ?? 0)
        hasCards = row["card"]
        (requests, uploads) = DebugRequests.openWithUploads(rows)
        let (digest, modified): (Data?, Int64?) = (row["digest"], row["modified"])
        stored = digest.flatMap { digest in
            modified.map { FeedState(digest: digest, modified: $0, isSaved: true) }
        }
    }

    private static func arguments(_ since: SyncCursor?, now: Int64) -> SQLArguments {
        ["month": MonthUsage.month(of: now), "now": now, "ending": since?.ending, "modulus": since?.modulus]
    }

    /// A query with a row for each open debug request, and one without any.
    ///
    /// The cursor has the last digits of a change number. The remainder is the arithmetic of `SyncCursor.change(in:)`.
    private static func statement(_ columns: String, _ tables: String, _ condition: String) -> String {
        """
        SELECT \(columns) account.*, feed_head.epoch AS feed_epoch, feed_head.last_change,
            sync_state.digest, sync_state.modified,
            (\(MonthUsage.sum(of: "account.id"))) AS used, (\(time("feed_head.last_change"))) AS changed,
            (\(time("feed_head.last_change - (feed_head.last_change - :ending) % :modulus"))) AS seen,
            \(DebugRequests.columns)
        FROM \(tables) JOIN feed_head ON feed_head.account = account.id
            LEFT JOIN sync_state ON sync_state.account = account.id
            LEFT JOIN debug_request ON debug_request.account = account.id AND debug_request.expires > :now
        WHERE \(condition) ORDER BY debug_request.id
        """
    }

    /// The query of the time of the last change up to a change number.
    private static func time(_ change: String) -> String {
        """
        SELECT updated FROM brand_number WHERE account = account.id AND change <= \(change) ORDER BY change DESC LIMIT 1
        """
    }
}
