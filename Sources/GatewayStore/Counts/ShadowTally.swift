// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

/// Counts the ended calls of trunks and routes in shadow by the brand that each would have shown.
///
/// A table of its own, because it counts calls without a brand beside those that would have one. It has no row while nothing is in
/// shadow.
struct ShadowTally {
    private struct Kind: Hashable {
        let hour: Int64
        let trunk: String
        let decision: String
        let brand: String
        let customer: String
    }

    private var kinds: [Kind: CallSums] = [:]

    /// Changes the sums of the calls that are like one call in shadow.
    mutating func change(_ call: CallRecord, hour: Int64, _ change: (inout CallSums) -> Void) {
        let brand = call.brandInShadow
        let kind = Kind(
            hour: hour, trunk: call.trunk ?? "", decision: call.decision, brand: brand ?? "",
            customer: brand == nil ? "" : call.customer ?? "")
        change(&kinds[kind, default: CallSums()])
    }

    /// Adds the sums to the table.
    func store(in database: Database) throws {
        guard !kinds.isEmpty else { return }
        let add = try LedgerStatement(
            database,
            """
            INSERT INTO shadow_hour VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            \(HourTally.onConflict)
            """)
        for (kind, sums) in kinds where sums != CallSums() {
            add.bind(1, kind.hour)
            add.bind(2, kind.trunk)
            add.bind(3, kind.decision)
            add.bind(4, kind.brand)
            add.bind(5, kind.customer)
            try HourTally.run(add, sums, after: 5)
        }
    }

    /// The table; an empty text means no trunk, no brand or no customer.
    static let table = """
        CREATE TABLE shadow_hour (
            hour INTEGER NOT NULL,
            trunk TEXT NOT NULL,
            decision TEXT NOT NULL,
            brand TEXT NOT NULL,
            customer TEXT NOT NULL,
            \(HourTally.sums),
            PRIMARY KEY (hour, trunk, decision, brand, customer)
        ) WITHOUT ROWID;

        """
}
