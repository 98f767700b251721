// SPDX-License-Identifier: Apache-2.0

package import Branding
import BrandingAPI

/// Lists the numbers of an account, assigns them to brands, and deactivates them.
package struct BrandNumbers: Sendable {
    let database: DirectoryDatabase
    let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// The delivery state of a number.
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        case active
        /// Not delivered while the owner of its brand is inactive.
        case held
        case inactive
    }

    /// A number in a list.
    package struct NumberRow: Codable, Hashable, Sendable {
        package let number: String
        package let brandID: String
        package let name: String
        package let logo: String?
        package let reason: String?
        package let state: State
        /// ISO 8601.
        package let updated: String

        package enum CodingKeys: String, CodingKey {
            case state
            case number = "phone_number_e164"
            case brandID = "brand_id"
            case name = "brand_name"
            case logo = "logo_url"
            case reason = "call_reason"
            case updated = "updated_at"
        }
    }

    /// At most `limit` numbers after `after`, in numeric order, optionally of one brand or one state.
    package func page(
        after: E164Number?, limit: Int, brandID: String? = nil, state: State? = nil
    ) throws -> [NumberRow] {
        let stateCondition =
            switch state {
            case nil: "true"
            case .active: "active"
            case .held: "held"
            case .inactive: "NOT active AND NOT held"
            }
        return try database.pool.read { [account] database in
            var arguments: SQLArguments = [
                "account": account.row, "after": after.map { Int64($0.digits) } ?? 0, "limit": limit,
            ]
            if let brandID { arguments.named["brand"] = .text(brandID) }
            return try database.rows(
                """
                SELECT * FROM brand_number WHERE account = :account AND number > :after
                AND \(brandID == nil ? "true" : "brand_id = :brand") AND \(stateCondition)
                ORDER BY number LIMIT :limit
                """, arguments
            ).map(Self.numberRow)
        }
    }

    /// Assigns a number to a brand and activates it.
    ///
    /// - Parameters:
    ///   - reason: a call reason of its own; nil uses the brand's.
    ///   - condition: on the present `NumberRow.version`.
    ///   - now: seconds since 1970.
    /// - Returns: the number as it is stored.
    /// - Throws: `BrandListError`, `VersionConflict`, or a database error.
    @discardableResult
    package func set(
        _ number: E164Number, brandID: String, reason: String?, if condition: VersionCondition = .none, now: Int64
    ) throws -> NumberRow {
        try Self.check(reason)
        return try database.pool.writeFeed(of: account) { [account] database in
            let brand = try Self.brand(brandID, account, database)
            try condition.check(Self.find(number, account, database)?.version, .number, "\(number)")
            try Self.put([number], brand, reason: reason, account, now: now, database)
            guard let stored = try Self.find(number, account, database) else {
                throw InconsistentStore(description: "a number that was stored is not there")
            }
            return stored
        }
    }

    /// Assigns numbers to a brand in one transaction and activates them; parameters and errors as above.
    ///
    /// - Parameter numbers: at most some thousands, which one statement takes.
    /// - Returns: the earlier rows of the numbers that were active or held for another brand.
    package func set(
        _ numbers: [E164Number], brandID: String, reason: String?, now: Int64
    ) throws -> [NumberRow] {
        try Self.check(reason)
        return try database.pool.writeFeed(of: account) { [account] database in
            let brand = try Self.brand(brandID, account, database)
            let moved = try Self.others(numbers, than: brandID, account, database)
            try Self.put(numbers, brand, reason: reason, account, now: now, database)
            return moved
        }
    }

    private static func check(_ reason: String?) throws {
        if let reason, let problem = EntryRules.problem("call_reason", reason) {
            throw BrandListError.badField(problem)
        }
    }

    private static func brand(
        _ id: String, _ account: AccountID, _ database: any SQLConnection
    ) throws -> BrandList.Brand {
        guard let brand = try BrandList.find(id, account, database) else {
            throw try BrandList.unknown(id, account, database)
        }
        return brand
    }

    private static func put(
        _ numbers: [E164Number], _ brand: BrandList.Brand, reason: String?, _ account: AccountID, now: Int64,
        _ database: any SQLConnection
    ) throws {
        let entries = numbers.map { number in
            BrandEntries.Entry(
                number: number, name: brand.name, brandID: brand.id, logoURL: brand.logo,
                callReason: reason ?? brand.reason)
        }
        _ = try BrandEntries.put(entries, account, now: now, database)
    }

    /// The rows of numbers that are active or held for another brand.
    private static func others(
        _ numbers: [E164Number], than brandID: String, _ account: AccountID, _ database: any SQLConnection
    ) throws -> [NumberRow] {
        if numbers.isEmpty { return [] }
        let places = repeatElement("?", count: numbers.count).joined(separator: ", ")
        return try database.rows(
            """
            SELECT * FROM brand_number WHERE account = ? AND brand_id <> ? AND (active OR held) AND number IN (\(places))
            ORDER BY number
            """,
            SQLArguments(
                [.integer(account.row), .text(brandID)] + numbers.map { SQLValue.integer(Int64($0.digits)) })
        ).map(numberRow)
    }

    /// Deactivates numbers in one transaction; clients receive the change with their next sync.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: the count of numbers that were active or held.
    package func deactivate(_ numbers: [E164Number], now: Int64) throws -> Int {
        try database.pool.writeFeed(of: account) { [account] database in
            try numbers.reduce(0) { try $0 + Self.deactivate($1, account, now: now, database) }
        }
    }

    /// Deactivates a number as above, under a condition on its present `NumberRow.version`.
    ///
    /// - Returns: the number as it is stored; nil for one that was neither active nor held.
    /// - Throws: `VersionConflict`, or a database error.
    package func deactivate(
        _ number: E164Number, if condition: VersionCondition, now: Int64
    ) throws -> NumberRow? {
        try database.pool.writeFeed(of: account) { [account] database in
            guard let before = try Self.find(number, account, database), before.state != .inactive else { return nil }
            try condition.check(before.version, .number, "\(number)")
            _ = try Self.deactivate(number, account, now: now, database)
            return try Self.find(number, account, database)
        }
    }

    private static func deactivate(
        _ number: E164Number, _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws -> Int {
        let arguments: SQLArguments = ["number": Int64(number.digits)]
        try Registrations.withdraw(where: "number = :number", arguments, account, database)
        return try ChangeCounter.apply(
            "active = FALSE, held = FALSE", where: "number = :number AND (active OR held)", arguments, account,
            now: now,
            database)
    }

    /// The brand of a number, and the reason for which an event of it would not count.
    struct Attribution: Hashable, Sendable {
        let brandID: String?
        private let reason: UncountedReason?
        /// The time since which the number is out of use, in seconds since 1970; nil for a number in use.
        private let outSince: Int64?

        init(brandID: String?, reason: UncountedReason?, outSince: Int64? = nil) {
            (self.brandID, self.reason, self.outSince) = (brandID, reason, outSince)
        }

        /// The reason against an event.
        ///
        /// - Parameter displayed: the time of the display, in seconds since 1970; nil if it is not known.
        func reason(at displayed: Int64?) -> UncountedReason? {
            if let displayed, let outSince, displayed < outSince { return nil }
            return reason
        }
    }

    /// The attribution of a number that the account does not have.
    static let unknown = Attribution(brandID: nil, reason: .noMatch)

    /// The attribution of a number, by its row with the owner of its brand.
    static func attribution(_ row: SQLRow) -> Attribution {
        let brandID: String? = row["brand_id"]
        if row["active"] { return Attribution(brandID: brandID, reason: nil) }
        guard row["held"] else {
            // A number that is out of use changes no more, so its last change took it out.
            return Attribution(brandID: brandID, reason: .noMatch, outSince: row["updated"])
        }
        let owner: String? = row["owner"]
        return Attribution(
            brandID: brandID,
            reason: owner == BrandList.Owner.suspended.rawValue ? .ownerSuspended : .ownerUnresolved)
    }

    static func numberRow(_ row: SQLRow) -> NumberRow {
        let number: Int64 = row["number"]
        return NumberRow(
            number: "+\(number)", brandID: row["brand_id"], name: row["name"], logo: row["logo_url"],
            reason: row["call_reason"], state: row["active"] ? .active : row["held"] ? .held : .inactive,
            updated: Timestamp.string(from: row["updated"]))
    }
}
