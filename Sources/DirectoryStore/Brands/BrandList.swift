// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// The brands of an account; each number belongs to one brand and is delivered with its name and logo.
package struct BrandList: Sendable {
    let database: DirectoryDatabase
    let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// The state of the company behind a brand; only numbers of active owners are delivered.
    package enum Owner: String, Codable, Hashable, Sendable, CaseIterable {
        case active, suspended, unresolved
    }

    /// A brand in a list.
    package struct Brand: Codable, Hashable, Sendable {
        package var id: String
        package var name: String
        /// A URL, or the plain name of a logo of this server.
        package var logo: String?
        package var reason: String?
        package var owner: Owner
        /// ISO 8601.
        package var updated: String
        /// Active numbers; nil in a list.
        package var numbers: Int?

        package enum CodingKeys: String, CodingKey {
            case numbers
            case id = "brand_id"
            case name = "brand_name"
            case logo = "logo_url"
            case reason = "call_reason"
            case owner = "owner_state"
            case updated = "updated_at"
        }
    }

    /// Changes to a brand; nil keeps a field, an empty logo or reason removes it.
    package struct Change: Sendable {
        package var name: String?
        package var logo: String?
        package var reason: String?
        package var owner: Owner?

        package init() {}

        /// - Throws: `BrandListError.badField`.
        func check() throws {
            if let name, name.isEmpty { throw BrandListError.badField("no brand_name") }
            for (field, text) in [("brand_name", name), ("logo_url", logo), ("call_reason", reason)] {
                guard let text, !text.isEmpty else { continue }
                if let problem = EntryRules.problem(field, text) { throw BrandListError.badField(problem) }
            }
        }
    }

    /// Creates a brand.
    ///
    /// - Parameters:
    ///   - id: nil derives it from the letters and digits of the name.
    ///   - change: its fields; the name is required.
    ///   - now: seconds since 1970.
    /// - Throws: `BrandListError`, or a database error.
    @discardableResult
    package func create(id: String?, _ change: Change, now: Int64) throws -> Brand {
        try change.check()
        guard let name = change.name else { throw BrandListError.badField("no brand_name") }
        guard let id = id ?? EntryRules.identifier(of: name), !id.isEmpty else {
            throw BrandListError.badField("no brand_id")
        }
        if let problem = EntryRules.problem("brand_id", id) { throw BrandListError.badField(problem) }
        return try database.pool.writeFeed(of: account) { [account] database in
            if try Self.find(id, account, database) != nil { throw BrandListError.taken(id) }
            try database.execute(
                "INSERT INTO brand (account, id, name, updated) VALUES (?, ?, ?, ?)", [account.row, id, name, now])
            try Self.apply(change, to: id, account, now: now, database)
            return try Self.detail(id, account, database)
        }
    }

    /// Changes a brand and its numbers in one transaction; each active number takes a new change number.
    ///
    /// Name and logo apply to all numbers, a call reason to numbers without a reason of their own. An owner that
    /// becomes inactive holds the numbers back until it is active again. Setting the same logo again delivers the
    /// numbers again.
    ///
    /// - Parameters:
    ///   - condition: on the present `Brand.version`.
    ///   - now: seconds since 1970.
    /// - Throws: `BrandListError`, `VersionConflict`, or a database error.
    package func change(
        _ id: String, _ change: Change, if condition: VersionCondition = .none, now: Int64
    ) throws -> Brand {
        try change.check()
        return try database.pool.writeFeed(of: account) { [account] database in
            guard let before = try Self.find(id, account, database) else {
                throw try Self.unknown(id, account, database)
            }
            try condition.check(before.version, .brand, id)
            try Self.apply(change, to: id, account, now: now, database)
            let after = try Self.detail(id, account, database)
            try Self.passOn(before, after, givesLogoAgain: change.logo != nil, account, now: now, database)
            try PushBrands.write(before, after, account, now: now, database)
            return try Self.detail(id, account, database)
        }
    }

    /// Deactivates all numbers of brands in one transaction; the brands stay.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: the count of numbers deactivated by this call.
    /// - Throws: `BrandListError.unknown` without any change, or a database error.
    package func deactivate(_ ids: [String], now: Int64) throws -> Int {
        try database.pool.writeFeed(of: account) { [account] database in
            try ids.reduce(0) { count, id in
                guard try Self.find(id, account, database) != nil else {
                    throw try Self.unknown(id, account, database)
                }
                return try count + Self.deactivate(id, account, now: now, database)
            }
        }
    }

    /// Deactivates all numbers of a brand, under a condition on its present `Brand.version`.
    ///
    /// - Returns: the count of numbers deactivated by this call.
    /// - Throws: `BrandListError.unknown`, `VersionConflict`, or a database error.
    package func deactivate(_ id: String, if condition: VersionCondition, now: Int64) throws -> Int {
        try database.pool.writeFeed(of: account) { [account] database in
            guard let before = try Self.find(id, account, database) else {
                throw try Self.unknown(id, account, database)
            }
            try condition.check(before.version, .brand, id)
            return try Self.deactivate(id, account, now: now, database)
        }
    }

    private static func deactivate(
        _ id: String, _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws -> Int {
        let numbers = "number IN (SELECT number FROM brand_number WHERE account = :account AND brand_id = :brand)"
        try Registrations.withdraw(where: numbers, ["brand": id], account, database)
        return try ChangeCounter.apply(
            "active = FALSE, held = FALSE", where: "brand_id = :brand AND (active OR held)", ["brand": id], account,
            now: now, database)
    }

    /// One brand with the count of its numbers.
    ///
    /// - Throws: `BrandListError.unknown`, or a database error.
    package func brand(_ id: String) throws -> Brand {
        try database.pool.read { [account] in try Self.detail(id, account, $0) }
    }

    /// The names of brands by their identifiers; identifiers without a brand are left out.
    package func names(of ids: Set<String>) throws -> [String: String] {
        if ids.isEmpty { return [:] }
        let places = repeatElement("?", count: ids.count).joined(separator: ", ")
        return try database.pool.read { [account] database in
            try database.rows(
                "SELECT id, name FROM brand WHERE account = ? AND id IN (\(places))",
                SQLArguments([.integer(account.row)] + ids.map { SQLValue.text($0) })
            ).reduce(into: [:]) { $0[$1[0]] = $1[1] as String }
        }
    }

    /// At most `limit` brands after `after`, by identifier.
    package func page(after: String?, limit: Int) throws -> [Brand] {
        try database.pool.read { [account] database in
            try database.rows(
                "SELECT * FROM brand WHERE account = ? AND id > ? ORDER BY id LIMIT ?",
                [account.row, after ?? "", limit]
            ).map(Self.brand)
        }
    }

    static func find(_ id: String, _ account: AccountID, _ database: any SQLConnection) throws -> Brand? {
        try database.row(
            "SELECT * FROM brand WHERE account = ? AND id = ?", [account.row, id]
        ).map(brand)
    }

    /// The error for a brand that is not there, with a similar identifier.
    static func unknown(
        _ id: String, _ account: AccountID, _ database: any SQLConnection
    ) throws -> BrandListError {
        let similar = try SimilarName(database).of(id, "SELECT id AS name FROM brand WHERE account = ?", [account.row])
        return .unknown(id, similar: similar)
    }

    private static func detail(_ id: String, _ account: AccountID, _ database: any SQLConnection) throws -> Brand {
        guard var brand = try find(id, account, database) else { throw try unknown(id, account, database) }
        // Without the hint SQLite reads all numbers of the account: 77 ms instead of 0.2 ms with 300,000 numbers.
        brand.numbers = try database.value(
            Int.self,
            """
            SELECT count(*) FROM brand_number \(database.dialect.index("brand_number_brand"))
            WHERE account = ? AND brand_id = ? AND active
            """, [account.row, id])
        return brand
    }

    static func brand(_ row: SQLRow) -> Brand {
        Brand(
            id: row["id"], name: row["name"], logo: row["logo"], reason: row["reason"],
            owner: Owner(rawValue: row["owner"]) ?? .unresolved, updated: Timestamp.string(from: row["updated"]))
    }

    private static func apply(
        _ change: Change, to id: String, _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws {
        try database.execute(
            """
            UPDATE brand SET name = coalesce(:name, name),
            logo = nullif(coalesce(:logo, logo), ''),
            reason = nullif(coalesce(:reason, reason), ''), owner = coalesce(:owner, owner),
            updated = CASE WHEN updated > :now THEN updated ELSE :now END WHERE account = :account AND id = :id
            """,
            [
                "name": change.name, "logo": change.logo, "reason": change.reason, "owner": change.owner?.rawValue,
                "now": now, "account": account.row, "id": id,
            ])
    }

    private static func passOn(
        _ before: Brand, _ after: Brand, givesLogoAgain: Bool, _ account: AccountID, now: Int64,
        _ database: any SQLConnection
    ) throws {
        var old = before
        (old.numbers, old.updated) = (after.numbers, after.updated)
        if old == after, !givesLogoAgain { return }
        _ = try ChangeCounter.apply(
            """
            name = :name, logo_url = :logo, call_reason = CASE WHEN call_reason IS NOT DISTINCT FROM :old THEN :reason ELSE call_reason END,
            active = :isActive, held = NOT :isActive
            """, where: "brand_id = :brand AND (active OR held)",
            [
                "name": after.name, "logo": after.logo, "reason": after.reason, "old": before.reason,
                "isActive": after.owner == .active, "brand": after.id,
            ], account, now: now, database)
    }
}

/// Refusals of a change to a brand.
package enum BrandListError: OperatorError, Hashable {
    case badField(String)
    case taken(String)
    case unknown(String, similar: String? = nil)

    package var kind: OperatorMistakeKind {
        switch self {
        case .badField: .invalid
        case .taken: .conflict
        case .unknown: .missing
        }
    }

    package var description: String {
        switch self {
        case .badField(let problem): problem
        case .taken(let id): "there is a brand \"\(id)\" already; change it, or choose another brand_id"
        case .unknown(let id, let similar):
            "there is no brand \"\(id)\"\(SimilarName.hint(similar)); list the brands to see their identifiers"
        }
    }
}
