// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// All accounts of the directory; accounts are closed and never deleted, because events and reports belong to them.
package struct AccountList: Sendable {
    private let database: DirectoryDatabase

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// An account in a list.
    package struct Summary: Codable, Hashable, Sendable {
        /// The `client_id` that clients receive.
        package let id: String
        package let name: String
        package let status: String
        package let mode: String
        package let brandingEnabled: Bool
        package let voipDialerEnabled: Bool
        /// Counted events a month; nil for no cap.
        package let cap: Int?
        package let includedImprints: Int
        /// True if each brand of the account has a public card.
        package let hasCards: Bool
        /// Events counted in this calendar month.
        package let used: Int
        /// ISO 8601; nil for the first account of the database.
        package let created: String?

        /// True when the cap of this month is reached.
        package var isCapReached: Bool { cap.map { used >= $0 } ?? false }

        /// True if gateways may brand calls of the account: by its switch, its status and its cap.
        package var isBranding: Bool { brandingEnabled && AccountState.isOpen(status) && !isCapReached }

        package enum CodingKeys: String, CodingKey {
            case id, name, status, mode
            case brandingEnabled = "branding_enabled"
            case voipDialerEnabled = "voip_dialer_enabled"
            case cap = "cap_this_month"
            case includedImprints = "included_imprints_monthly"
            case hasCards = "card_enabled"
            case used = "used_this_month"
            case created = "created_at"
        }
    }

    /// Creates an account.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 letters, digits, `-`, `_` and `.`, so that it fits into a path; unique.
    ///   - now: seconds since 1970.
    /// - Throws: `AccountStoreError`, or a database error.
    @discardableResult
    package func create(name: String, _ change: AccountStore.Change = .init(), now: Int64) throws -> AccountID {
        guard PlainName.isPlain(name, atMost: 64) else { throw AccountStoreError.badAccountName }
        try change.check()
        return try database.pool.write { database in
            let taken = try database.exists("SELECT 1 FROM account WHERE name = ?", [name])
            if taken { throw AccountStoreError.accountTaken(name) }
            let row = try database.value(
                Int64.self,
                """
                INSERT INTO account (client_id, name, mode, branding_enabled, voip_dialer_enabled, status,
                included_imprints, created)
                VALUES (?, ?, 'live', TRUE, TRUE, 'active', 0, ?) RETURNING id
                """, [NewSecret.text("", bytes: 16), name, now])
            guard let row else { throw AccountStoreError.accountTaken(name) }
            try ChangeCounter.begin(AccountID(row: row), database)
            let account = AccountID(row: row)
            try AccountStore.apply(change, to: account, database)
            return account
        }
    }

    /// The account with this name or identifier.
    ///
    /// - Throws: `AccountStoreError.noAccount`, or a database error.
    package func find(_ reference: String) throws -> AccountID {
        try database.pool.read { database in
            guard let row = try Self.row(reference, database) else {
                throw AccountStoreError.noAccount(
                    reference, similar: try SimilarName(database).of(reference, "SELECT name FROM account"))
            }
            return AccountID(row: row)
        }
    }

    /// All accounts in order of creation; `now` is seconds since 1970.
    package func all(now: Int64) throws -> [Summary] {
        try database.pool.read { database in
            try database.rows("SELECT * FROM account ORDER BY id").map {
                try Self.summary($0, now: now, database)
            }
        }
    }

    /// One account; `now` is seconds since 1970.
    package func summary(of account: AccountID, now: Int64) throws -> Summary {
        try database.pool.read { database in
            let row = try database.row("SELECT * FROM account WHERE id = ?", [account.row])
            guard let row else { throw AccountStoreError.noAccount("\(account.row)") }
            return try Self.summary(row, now: now, database)
        }
    }

    /// Closes an account: sets its status to `closed` and revokes all its keys, so its gateways stop branding.
    ///
    /// - Parameters:
    ///   - condition: on the present `Summary.version`.
    ///   - now: seconds since 1970.
    /// - Throws: `VersionConflict`, or a database error.
    package func close(_ account: AccountID, if condition: VersionCondition = .none, now: Int64) throws {
        try database.pool.write { database in
            try Self.check(condition, account, database)
            try database.execute("UPDATE account SET status = ? WHERE id = ?", [AccountStore.closed, account.row])
            try database.execute(
                "UPDATE api_key SET revoked = ? WHERE account = ? AND revoked IS NULL", [now, account.row])
        }
    }

    /// Checks a condition in the transaction of a change.
    ///
    /// - Throws: `VersionConflict`, or a database error.
    static func check(_ condition: VersionCondition, _ account: AccountID, _ database: any SQLConnection) throws {
        if condition == .none { return }
        let row = try database.row("SELECT * FROM account WHERE id = ?", [account.row])
        guard let row else { throw AccountStoreError.noAccount("\(account.row)") }
        // The events of the month are no part of the version.
        let present = summary(row, used: 0)
        try condition.check(present.version, .account, present.name)
    }

    private static func row(_ reference: String, _ database: any SQLConnection) throws -> Int64? {
        try database.value(
            Int64.self, "SELECT id FROM account WHERE name = ?1 OR client_id = ?1 ORDER BY name = ?1 DESC", [reference])
    }

    private static func summary(_ row: SQLRow, now: Int64, _ database: any SQLConnection) throws -> Summary {
        summary(row, used: try MonthUsage.counted(by: AccountID(row: row["id"]), now: now, database))
    }

    private static func summary(_ row: SQLRow, used: Int) -> Summary {
        let created: Int64 = row["created"]
        return Summary(
            id: row["client_id"], name: row["name"], status: row["status"], mode: row["mode"],
            brandingEnabled: row["branding_enabled"], voipDialerEnabled: row["voip_dialer_enabled"],
            cap: row["cap_this_month"], includedImprints: row["included_imprints"], hasCards: row["card"],
            used: used, created: created > 0 ? Timestamp.string(from: created) : nil)
    }
}

/// Names that need no escaping in a path, a file name or a command.
enum PlainName {
    /// True for ASCII letters, digits, `-`, `_` and `.` that do not begin with a dot or a dash.
    static func isPlain(_ name: String, atMost limit: Int) -> Bool {
        guard let first = name.utf8.first, first != UInt8(ascii: "."), first != UInt8(ascii: "-") else { return false }
        return name.utf8.count <= limit
            && name.utf8.allSatisfy {
                (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
            }
    }
}
