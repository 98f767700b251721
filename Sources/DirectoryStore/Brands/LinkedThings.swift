// SPDX-License-Identifier: Apache-2.0

import Branding
package import BrandingAPI

/// The things of an account that links of apps open.
package struct LinkedThings: Sendable {
    private let database: DirectoryDatabase
    private let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID) {
        self.database = database
        self.account = account
    }

    /// A link's thing.
    package struct Found: Hashable, Sendable {
        /// True if the account has the thing, and a brand or number is in use.
        package let isValid: Bool
        /// The brand whose card shows the thing; nil without a public card.
        package let cardBrand: String?
    }

    /// Looks up what a link opens.
    package func find(_ link: DeepLink) async throws -> Found {
        try await database.pool.read { [account] database in
            let brand = try Self.brand(of: link, account, database)
            let isValid =
                switch link.kind {
                case .call: try Self.hasEvent(link.id, account, database)
                case .brand, .number: brand != nil
                }
            let card = try brand.flatMap { try BrandCards.find($0, account, database) }
            return Found(isValid: isValid, cardBrand: card?.id)
        }
    }

    private static func brand(of link: DeepLink, _ account: AccountID, _ database: any SQLConnection) throws -> String?
    {
        switch link.kind {
        case .brand:
            return try database.value(
                String.self,
                """
                SELECT brand_id FROM brand_number \(database.dialect.index("brand_number_brand"))
                WHERE account = ? AND brand_id = ? AND active LIMIT 1
                """,
                [account.row, link.id])
        case .number:
            return try E164Number(link.id).flatMap { try BrandEntries.find($0, account, database)?.brandID }
        case .call:
            return try database.value(
                String.self, "SELECT brand_id FROM event WHERE event_id = ? AND account = ? AND brand_id IS NOT NULL",
                [link.id, account.row])
        }
    }

    private static func hasEvent(_ id: String, _ account: AccountID, _ database: any SQLConnection) throws -> Bool {
        try database.exists("SELECT 1 FROM event WHERE event_id = ? AND account = ?", [id, account.row])
    }
}
