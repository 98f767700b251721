// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

/// Ended calls of trunks and routes in shadow within some hours.
package struct ShadowCounts: Hashable, Sendable {
    /// Calls that have trunk, decision and brand in common.
    package struct Kind: Hashable, Sendable {
        /// Nil for a trunk that the configuration did not have.
        package var trunk: String?
        /// `shadow` for a call that would have had a brand, else the reason why it would have none.
        package var decision: String
        /// The brand that would have been shown; nil for none, and for values of a signature alone.
        package var brand: String?
        /// The customer whose brand it is; nil for a usual brand.
        package var customer: String?
        package var sums: CallSums

        package init(
            trunk: String?, decision: String, brand: String? = nil, customer: String? = nil, sums: CallSums
        ) {
            (self.trunk, self.decision, self.brand, self.customer) = (trunk, decision, brand, customer)
            self.sums = sums
        }
    }

    /// The most frequent first.
    package var kinds: [Kind]

    package init(kinds: [Kind] = []) { self.kinds = kinds }
}

extension LedgerReader {
    /// The ended calls in shadow whose INVITEs came in some hours.
    ///
    /// Reads a row for each kind of call in an hour.
    ///
    /// - Parameter hours: hours since 1970.
    package func shadowCounts(of hours: ClosedRange<Int64>) throws -> ShadowCounts {
        try database.read { database in
            let select = try LedgerStatement(
                database,
                """
                SELECT trunk, decision, brand, customer, sum(calls) AS calls, sum(reached), sum(answered), sum(talks),
                    sum(talk_seconds)
                FROM shadow_hour WHERE hour BETWEEN ?1 AND ?2
                GROUP BY trunk, decision, brand, customer HAVING sum(calls) > 0
                ORDER BY calls DESC, trunk, decision, brand, customer
                """)
            select.bind(1, hours.lowerBound)
            select.bind(2, hours.upperBound)
            var kinds: [ShadowCounts.Kind] = []
            while let kind = try select.row({ row in
                ShadowCounts.Kind(
                    trunk: Self.filled(row.text(0)), decision: row.text(1) ?? "", brand: Self.filled(row.text(2)),
                    customer: Self.filled(row.text(3)), sums: Self.sums(row, from: 4))
            }) { kinds.append(kind) }
            return ShadowCounts(kinds: kinds)
        }
    }
}
