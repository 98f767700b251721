// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Whether trunks have sent calls yet, and whether one of them had a brand.
package struct FirstCalls: Hashable, Sendable {
    package var hasInbound = false
    package var hasBranded = false

    package init(hasInbound: Bool = false, hasBranded: Bool = false) {
        (self.hasInbound, self.hasBranded) = (hasInbound, hasBranded)
    }
}

extension LedgerReader {
    /// Looks for calls of trunks among the newest rows only, so that the cost has a bound.
    package func firstCalls(newest most: Int = 10_000) throws -> FirstCalls {
        try database.read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT max(direction = 1) AS inbound, max(direction = 1 AND decision = 'matched') AS branded
                    FROM (SELECT direction, decision FROM call ORDER BY id DESC LIMIT ?)
                    """, arguments: [most])
            return FirstCalls(hasInbound: row?["inbound"] ?? false, hasBranded: row?["branded"] ?? false)
        }
    }
}
