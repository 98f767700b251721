// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import GRDB

/// The account that owns the brands: its state, its cap, its API keys.
package struct AccountStore: Sendable {
    private let database: DirectoryDatabase
    private let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// A key as the operator sees it: never the key itself.
    package struct KeyRow: Hashable, Sendable {
        package let name: String
        /// Seconds since 1970.
        package let created: Int64
        /// Seconds since 1970; nil while the key is good.
        package let revoked: Int64?
    }

    /// Changes to the account; nil leaves a field as it is.
    package struct Change: Sendable {
        package var brandingEnabled: Bool?
        package var voipDialerEnabled: Bool?
        /// `active` and `trial` let gateways brand calls, every other word stops them.
        package var status: String?
        /// Counted events a month; a negative number takes the cap away.
        package var cap: Int?

        package init() {}
    }

    /// Makes a key; the answer is the only time it is ever seen.
    ///
    /// - Parameters:
    ///   - name: what the operator knows it by; free again once the key of that name is revoked.
    ///   - now: seconds since 1970.
    /// - Throws: `AccountStoreError`, or a database error.
    package func createKey(name: String, now: Int64) throws -> String {
        let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard (1...64).contains(name.count), isPlain else { throw AccountStoreError.badName }
        let key = Hexadecimal.secret("hd_")
        try database.pool.write { [account] database in
            let taken = try Bool.fetchOne(
                database, sql: "SELECT 1 FROM api_key WHERE account = ? AND name = ? AND revoked IS NULL",
                arguments: [account.row, name])
            if taken == true { throw AccountStoreError.nameTaken(name) }
            try database.execute(
                sql: "INSERT INTO api_key (hash, account, name, created) VALUES (?, ?, ?, ?)",
                arguments: [SecretHash.of(key), account.row, name, now])
        }
        return key
    }

    /// Takes a key out of use; false when there is no good key of that name.
    package func revokeKey(name: String, now: Int64) throws -> Bool {
        try database.pool.write { [account] database in
            try database.execute(
                sql: "UPDATE api_key SET revoked = ? WHERE account = ? AND name = ? AND revoked IS NULL",
                arguments: [now, account.row, name])
            return database.changesCount > 0
        }
    }

    /// All keys, oldest first.
    package func keys() throws -> [KeyRow] {
        try database.pool.read { [account] database in
            try Row.fetchAll(
                database, sql: "SELECT name, created, revoked FROM api_key WHERE account = ? ORDER BY created, name",
                arguments: [account.row]
            ).map { KeyRow(name: $0["name"], created: $0["created"], revoked: $0["revoked"]) }
        }
    }

    /// Changes the account's state; gateways learn it with their next sync or event.
    package func change(_ change: Change) throws {
        try database.pool.write { [account] database in
            try database.execute(
                sql: """
                    UPDATE account SET branding_enabled = coalesce(?, branding_enabled),
                    voip_dialer_enabled = coalesce(?, voip_dialer_enabled), status = coalesce(?, status) WHERE id = ?
                    """,
                arguments: [change.brandingEnabled, change.voipDialerEnabled, change.status, account.row])
            if let cap = change.cap {
                try database.execute(
                    sql: "UPDATE account SET cap_this_month = ? WHERE id = ?",
                    arguments: [cap < 0 ? nil : cap, account.row])
            }
        }
    }

    /// The `config` object of answers, as of `now` (seconds since 1970).
    package func config(now: Int64) throws -> DirectoryConfig {
        try database.pool.read { [account] in try Self.config(of: account, now: now, $0) }
    }

    /// - Parameter device: whose answer it is, for the gates of a debug upload.
    static func config(
        of account: AccountID, device: String? = nil, now: Int64, _ database: Database
    ) throws -> DirectoryConfig {
        var config = DirectoryConfig()
        guard
            let row = try Row.fetchOne(database, sql: "SELECT * FROM account WHERE id = ?", arguments: [account.row])
        else { return config }
        config.mode = row["mode"]
        config.brandingEnabled = row["branding_enabled"]
        config.voipDialerEnabled = row["voip_dialer_enabled"]
        config.accountStatus = row["status"]
        config.clientID = row["client_id"]
        let cap: Int? = row["cap_this_month"]
        config.capThisMonth = cap.map { .events($0) } ?? .unlimited
        config.usedThisMonth = try MonthUsage.counted(by: account, now: now, database)
        config.includedImprintsMonthly = row["included_imprints"]
        config.debugUI = try DebugRequests.debugUI(account, device: device, now: now, database)
        return config
    }
}

/// Why a change of the account was refused.
package enum AccountStoreError: Error, Hashable, CustomStringConvertible {
    case badName
    case nameTaken(String)

    package var description: String {
        switch self {
        case .badName: "a key's name has 1 to 64 characters and no control characters"
        case .nameTaken(let name):
            "there is a good key named \"\(name)\" already; revoke it first, or choose another name"
        }
    }
}
