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
            let (isValid, brand) = try Self.thing(of: link, account, database)
            let card = try brand.flatMap { try BrandCards.find($0, account, database) }
            return Found(isValid: isValid, cardBrand: card?.id)
        }
    }

    private static func thing(
        of link: DeepLink, _ account: AccountID, _ database: any SQLConnection
    ) throws -> (isValid: Bool, brand: String?) {
        switch link.kind {
        case .brand:
            let brand = try database.value(
                String.self,
                """
                SELECT brand_id FROM brand_number \(database.dialect.index("brand_number_brand"))
                WHERE account = ? AND brand_id = ? AND active LIMIT 1
                """,
                [account.row, link.id])
            return (brand != nil, brand)
        case .number:
            let brand = try E164Number(link.id).flatMap { try BrandEntries.find($0, account, database)?.brandID }
            return (brand != nil, brand)
        case .call:
            let brands = try brands(ofCall: link.id, account, database)
            return (!brands.isEmpty, brands.compactMap(\.self).first)
        }
    }

    /// The brands of a call's events; empty for an unknown call.
    ///
    /// Links name a call by its `call_event_id`, and an event without one by its `event_id`. No index has the former, so
    /// it is looked up among the messages about calls and the newest events of the account.
    private static func brands(
        ofCall id: String, _ account: AccountID, _ database: any SQLConnection
    ) throws -> [String?] {
        var rows = try database.rows(
            "SELECT brand_id FROM event WHERE event_id = ? AND account = ?", [id, account.row])
        if rows.isEmpty, EventRequest.isCallID(id) {
            rows = try database.rows(
                "SELECT brand_id FROM push_message WHERE account = ? AND topic IN (?, ?) AND key = ?",
                [account.row, PushTopic.missedCall.rawValue, PushTopic.callReturned.rawValue, id])
        }
        if rows.isEmpty, EventRequest.isCallID(id) {
            rows = try database.rows(
                """
                SELECT brand_id FROM (SELECT brand_id, meta FROM event WHERE account = ?
                    ORDER BY received DESC LIMIT \(newest)) AS recent
                WHERE replace(meta, ?, '') <> meta
                """, [account.row, #""call_event_id":"\#(id)""#])
        }
        return rows.map { $0["brand_id"] }
    }

    /// The events of an account among which a call is looked up.
    package static let newest = 1000
}
