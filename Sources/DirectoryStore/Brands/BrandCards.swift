// SPDX-License-Identifier: Apache-2.0

package import Branding

/// The public cards of brands: what anybody may read who has the link.
package struct BrandCards: Sendable {
    private let database: DirectoryDatabase

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// The contents of a card; no callee is among them.
    package struct Card: Hashable, Sendable {
        package let id: String
        package let name: String
        /// A URL, or the plain name of a logo of this server.
        package let logo: String?
        package let reason: String?
        /// The first numbers in use, in numeric order.
        package let numbers: [Number]
        /// True if the brand has more numbers.
        package let hasMore: Bool
    }

    /// A number of a card.
    package struct Number: Hashable, Sendable {
        package let number: E164Number
        /// The number's own call reason; nil if it has none or the brand's.
        package let reason: String?
    }

    /// Numbers on a card.
    package static let most = 20

    /// The card of a brand; nil if it is not public.
    ///
    /// A card needs the account's switch, an account that may brand calls, an active owner and a number in use. An
    /// identifier that several such accounts have gives no card, because neither name may appear for the other. The cap
    /// of the month does not matter.
    package func card(of id: String) async throws -> Card? {
        try await database.pool.read { database in try Self.find(id, nil, database) }
    }

    /// - Parameter account: the account that has the brand; nil for any.
    static func find(_ id: String, _ account: AccountID?, _ database: any SQLConnection) throws -> Card? {
        guard id.utf8.count <= 4096, !id.utf8.contains(0) else { return nil }
        let brands = try database.rows(brandQuery(database.dialect), [id])
        guard brands.count == 1, let row = brands.first else { return nil }
        let owner: Int64 = row["account"]
        if let account, account.row != owner { return nil }
        let reason: String? = row["reason"]
        let numbers = try database.rows(
            numberQuery(database.dialect), [owner, id, most + 1]
        ).compactMap { row -> Number? in
            let (digits, own): (Int64, String?) = (row["number"], row["call_reason"])
            return E164Number("+\(digits)").map { Number(number: $0, reason: own == reason ? nil : own) }
        }
        return Card(
            id: row["id"], name: row["name"], logo: row["logo"], reason: reason,
            numbers: Array(numbers.prefix(most)), hasMore: numbers.count > most)
    }

    /// The brands of an identifier that have a public card, two at most.
    ///
    /// The joined tables are read in this order, and the numbers by their brand. SQLite otherwise reads all brands and
    /// numbers of an account: 25 ms with 300,000 numbers, also for a closed card, whose existence the time would show.
    static func brandQuery(_ dialect: SQLDialect) -> String {
        """
        SELECT brand.* FROM account CROSS JOIN brand
        WHERE brand.account = account.id AND brand.id = ?
        AND account.card AND account.branding_enabled AND account.status IN (\(open)) AND brand.owner = 'active'
        AND EXISTS (SELECT 1 FROM brand_number \(dialect.index("brand_number_brand"))
            WHERE brand_number.account = brand.account AND brand_number.brand_id = brand.id AND brand_number.active)
        LIMIT 2
        """
    }

    /// The first numbers in use of a brand.
    static func numberQuery(_ dialect: SQLDialect) -> String {
        """
        SELECT number, call_reason FROM brand_number \(dialect.index("brand_number_brand"))
        WHERE account = ? AND brand_id = ? AND active ORDER BY number LIMIT ?
        """
    }

    private static let open = AccountState.allCases.filter(\.isOpen).map { "'\($0.rawValue)'" }.joined(separator: ", ")
}
