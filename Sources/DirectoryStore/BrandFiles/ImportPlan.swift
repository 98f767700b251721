// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Primitives

/// The changes that an import makes, computed from the staged rows and the present state.
///
/// Two equal digests mean that the same numbers and brands change in the same way.
package struct ImportPlan: Hashable, Sendable {
    /// The values of a number that an import can change.
    package struct Values: Hashable, Sendable {
        package let name: String
        package let brandID: String
        package let logo: String?
        package let reason: String?
    }

    /// A change of one number.
    package struct Change: Hashable, Sendable {
        package let number: String
        /// Nil for a number that is new or was out of use.
        package let before: Values?
        /// Nil for a number that is deactivated.
        package let after: Values?
    }

    /// Changes kept of each kind; all are counted.
    package static let kept = 200

    package internal(set) var added: [Change] = []
    package internal(set) var changed: [Change] = []
    package internal(set) var removed: [Change] = []
    package internal(set) var addedCount = 0
    package internal(set) var changedCount = 0
    package internal(set) var removedCount = 0
    /// Brands that the import creates, or whose name or logo it changes.
    package internal(set) var brandCount = 0
    /// SHA-256 of every change, in hexadecimal digits.
    package internal(set) var digest = ""
    /// The state of the account for which this plan holds.
    let basis: Basis

    /// A state of an account's numbers and brands; another change makes another basis.
    struct Basis: Hashable, Sendable {
        private let head: ChangeCounter.Head
        private let brands: Int
        /// The time of the last change of a brand, in seconds since 1970; nil without brands.
        private let changed: Int64?

        /// Reads the present state, in a fraction of the time of a plan.
        init(_ account: AccountID, _ database: any SQLConnection) throws {
            head = try ChangeCounter.head(account, database)
            let time = "SELECT max(updated) FROM brand WHERE account = ?"
            changed = try database.value(Int64.self, time, [account.row])
            brands = try database.value(Int.self, "SELECT count(*) FROM brand WHERE account = ?", [account.row]) ?? 0
        }
    }

    /// Compares the rows of a staging with an account; reads only, inside the caller's transaction.
    ///
    /// - Parameters:
    ///   - replaces: true includes the numbers without a row, which are deactivated.
    ///   - pause: called after every thousand changes; its error ends the comparison.
    init(
        _ account: AccountID, replaces: Bool, _ database: any SQLConnection, pause: @escaping () throws -> Void = {}
    ) throws {
        basis = try Basis(account, database)
        var hash = PlanHash(pause: pause)
        hash.add(replaces ? "replace" : "merge")
        try readNumbers(account, &hash, database)
        if replaces { try readRemoved(account, &hash, database) }
        try readBrands(account, &hash, database)
        digest = hash.digest
    }

    private mutating func readNumbers(_ account: AccountID, _ hash: inout PlanHash, _ database: any SQLConnection)
        throws
    {
        try database.forEach(
            """
            SELECT incoming.number, incoming.name, incoming.brand_id, incoming.logo_url, incoming.call_reason,
                coalesce(owner, 'active'), coalesce(known.active OR known.held, FALSE),
                known.name, known.brand_id, known.logo_url, known.call_reason
            FROM incoming LEFT JOIN brand ON brand.account = :account AND brand.id = incoming.brand_id
                LEFT JOIN brand_number AS known ON known.account = :account AND known.number = incoming.number
            WHERE \(EntryStaging.differs) ORDER BY incoming.number
            """, ["account": account.row]
        ) { row in
            try hash.add(row)
            let isInUse: Bool = row[6]
            let change = Change(
                number: Self.number(row), before: isInUse ? Self.values(row, at: 7) : nil,
                after: Self.values(row, at: 1))
            if isInUse {
                changedCount += 1
                if changed.count < Self.kept { changed.append(change) }
            } else {
                addedCount += 1
                if added.count < Self.kept { added.append(change) }
            }
        }
    }

    private mutating func readRemoved(_ account: AccountID, _ hash: inout PlanHash, _ database: any SQLConnection)
        throws
    {
        try database.forEach(
            """
            SELECT number, name, brand_id, logo_url, call_reason FROM brand_number WHERE account = ?
            AND \(EntryStaging.isMissing) ORDER BY number
            """, [account.row]
        ) { row in
            try hash.add(row)
            removedCount += 1
            guard removed.count < Self.kept else { return }
            removed.append(Change(number: Self.number(row), before: Self.values(row, at: 1), after: nil))
        }
    }

    private mutating func readBrands(_ account: AccountID, _ hash: inout PlanHash, _ database: any SQLConnection) throws
    {
        try database.forEach(
            """
            SELECT incoming.brand_id, incoming.name, incoming.logo_url, brand.name, brand.logo
            FROM (\(EntryStaging.lastOfEachBrand)) AS incoming
                LEFT JOIN brand ON brand.account = ?1 AND brand.id = incoming.brand_id
            WHERE brand.id IS NULL OR brand.name IS DISTINCT FROM incoming.name OR brand.logo IS DISTINCT FROM incoming.logo_url
            ORDER BY incoming.brand_id
            """, [account.row]
        ) { row in
            try hash.add(row)
            brandCount += 1
        }
    }

    private static func number(_ row: SQLRow) -> String {
        let number: Int64 = row[0]
        return "+\(number)"
    }

    private static func values(_ row: SQLRow, at column: Int) -> Values {
        Values(name: row[column], brandID: row[column + 1], logo: row[column + 2], reason: row[column + 3])
    }
}

/// The hash of a plan's changes.
private struct PlanHash {
    private var hash = SHA256()
    private var count = 0
    private let pause: () throws -> Void

    init(pause: @escaping () throws -> Void) { self.pause = pause }

    mutating func add(_ text: String) { hash.update(data: Data(text.utf8)) }

    mutating func add(_ row: SQLRow) throws {
        for column in 0..<row.count {
            // A length before each text keeps two texts from reading as one.
            let text = row.printed(column) ?? "-"
            hash.update(data: Data("\(text.utf8.count):\(text)".utf8))
        }
        count += 1
        if count.isMultiple(of: 1_000) { try pause() }
    }

    var digest: String { Hexadecimal.text(hash.finalize()) }
}
