// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI

/// Reads and changes the state and the cap of an account; `APIKeys.swift` has its API keys.
package struct AccountStore: Sendable {
    let database: DirectoryDatabase
    let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// Changes to the account; nil leaves a field as it is.
    package struct Change: Hashable, Sendable {
        package var brandingEnabled: Bool?
        package var voipDialerEnabled: Bool?
        /// A case of `AccountState`: `active` and `trial` let gateways brand calls, every other one stops them.
        package var status: String?
        /// `live` or `testing`.
        package var mode: String?
        /// Counted events a month; -1 removes the cap.
        package var cap: Int?
        /// Counted events a month that the account's plan includes.
        package var includedImprints: Int?
        /// True gives each brand of the account a public card.
        package var hasCards: Bool?

        package init() {}

        /// - Throws: `AccountStoreError` for the first invalid value.
        package func check() throws {
            if let status, AccountState(rawValue: status) == nil { throw AccountStoreError.badStatus(status) }
            if let mode, mode != "live", mode != "testing" { throw AccountStoreError.badMode }
            if let includedImprints, includedImprints < 0 { throw AccountStoreError.badIncluded }
            if let cap, cap < -1 { throw AccountStoreError.badCap }
        }
    }

    /// The status of a closed account, which gets no new keys.
    static let closed = AccountState.closed.rawValue

    /// Changes the account's state; gateways receive it with their next sync or event.
    ///
    /// - Parameter condition: on the present `AccountList.Summary.version`.
    /// - Throws: `AccountStoreError`, `VersionConflict`, or a database error.
    package func change(_ change: Change, if condition: VersionCondition = .none) throws {
        try change.check()
        try database.pool.write { [account] database in
            try AccountList.check(condition, account, database)
            try Self.apply(change, to: account, database)
        }
    }

    /// Lets the feed's change numbers begin a new epoch: clients sync once by the time of their cursors.
    ///
    /// For a database that lost changes which clients have seen, such as after the restore of a backup.
    package func renewFeed() throws {
        try database.pool.writeFeed(of: account) { [account] database in
            try database.execute("UPDATE feed_head SET epoch = epoch + 1 WHERE account = ?", [account.row])
        }
    }

    static func apply(_ change: Change, to account: AccountID, _ database: any SQLConnection) throws {
        try database.execute(
            """
            UPDATE account SET branding_enabled = coalesce(?, branding_enabled),
            voip_dialer_enabled = coalesce(?, voip_dialer_enabled), status = coalesce(?, status),
            mode = coalesce(?, mode), included_imprints = coalesce(?, included_imprints), card = coalesce(?, card)
            WHERE id = ?
            """,
            [
                change.brandingEnabled, change.voipDialerEnabled, change.status, change.mode, change.includedImprints,
                change.hasCards, account.row,
            ])
        if let cap = change.cap {
            try database.execute(
                "UPDATE account SET cap_this_month = ? WHERE id = ?", [cap < 0 ? nil : cap, account.row])
        }
    }

    /// The account's state as of `now` (seconds since 1970), with the operator's switch as `brandingEnabled`.
    package func config(now: Int64) throws -> DirectoryConfig {
        try database.pool.read { [account] in try Self.config(of: account, now: now, $0) }
    }

    /// The account's state with the operator's switch as `brandingEnabled`; `forClients` is the form for clients.
    ///
    /// - Parameter device: the device that asks, for the gates of a debug upload.
    static func config(
        of account: AccountID, device: String? = nil, now: Int64, _ database: any SQLConnection
    ) throws -> DirectoryConfig {
        var config = try Self.config(of: account, month: MonthUsage.month(of: now), database)
        config.debugUI = try DebugRequests.debugUI(account, device: device, now: now, database)
        return config
    }

    /// The account's state with the usage of a month such as `2026-01`, without the gates of a debug upload.
    static func config(
        of account: AccountID, month: String, _ database: any SQLConnection
    ) throws -> DirectoryConfig {
        // Of one statement, because each poll asks, and a server on another machine takes a round trip for each.
        let statement = "SELECT account.*, (\(MonthUsage.sum)) AS used FROM account WHERE account.id = :account"
        guard let row = try database.row(statement, ["account": account.row, "month": month]) else {
            return DirectoryConfig()
        }
        let used: Int? = row["used"]
        return Self.config(row, used: used ?? 0)
    }

    /// The state of a row of `account`, without the gates of a debug upload.
    static func config(_ row: SQLRow, used: Int) -> DirectoryConfig {
        var config = DirectoryConfig()
        config.mode = row["mode"]
        config.brandingEnabled = row["branding_enabled"]
        config.voipDialerEnabled = row["voip_dialer_enabled"]
        config.accountStatus = row["status"]
        config.clientID = row["client_id"]
        let cap: Int? = row["cap_this_month"]
        config.capThisMonth = cap.map { .events($0) } ?? .unlimited
        config.usedThisMonth = used
        config.includedImprintsMonthly = row["included_imprints"]
        return config
    }
}

/// Refusals of a change to an account or its keys.
package enum AccountStoreError: OperatorError, Hashable {
    case badName
    case nameTaken(String)
    case noKey(String)
    case badAccountName
    case accountTaken(String)
    case noAccount(String, similar: String? = nil)
    case isClosed
    case badStatus(String)
    case badMode
    case badIncluded
    case badCap
    case badKind

    package var kind: OperatorMistakeKind {
        switch self {
        case .badName, .badAccountName, .badStatus, .badMode, .badIncluded, .badCap, .badKind: .invalid
        case .noKey, .noAccount: .missing
        case .nameTaken, .accountTaken, .isClosed: .conflict
        }
    }

    package var description: String {
        switch self {
        case .badName: "a key's name has 1 to 64 characters and no control characters"
        case .nameTaken(let name):
            "there is a valid key named \"\(name)\" already; remove it first, or choose another name"
        case .noKey(let name): "there is no valid key \"\(name)\"; list the keys to see their names and identifiers"
        case .badAccountName: "an account's name has 1 to 64 letters, digits, dots, dashes and underscores"
        case .accountTaken(let name): "there is an account named \"\(name)\" already; choose another name"
        case .noAccount(let name, let similar):
            "there is no account \"\(name)\"\(SimilarName.hint(similar)); list the accounts to see their names"
        case .isClosed: "the account is closed; give it the status active first"
        case .badStatus(let text):
            """
            there is no status "\(text.prefix(64))"; choose one of \(AccountState.all): active and trial brand calls, \
            the others stop them
            """
        case .badMode: "the mode is live or testing"
        case .badIncluded: "the included imprints must be 0 or more"
        case .badCap: "the cap must be 0 or more, or -1 for none"
        case .badKind: "the kind of a key is gateway, phone or registrar"
        }
    }
}
