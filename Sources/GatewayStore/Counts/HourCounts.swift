// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Calls of some hours, counted by the recorder as they ended; calls in progress are among them.
package struct HourCounts: Hashable, Sendable {
    /// Calls of one hour that have direction, trunk, decision and outcome in common.
    package struct Kind: Hashable, Sendable {
        /// Of the INVITE, from 1970.
        package var hour: Int64
        package var isInbound: Bool
        /// Nil for a trunk that the configuration did not have.
        package var trunk: String?
        package var decision: String
        /// Nil for calls in progress.
        package var outcome: String?
        package var sums: CallSums

        package init(
            hour: Int64, isInbound: Bool = true, trunk: String?, decision: String, outcome: String?, sums: CallSums
        ) {
            (self.hour, self.isInbound, self.trunk) = (hour, isInbound, trunk)
            (self.decision, self.outcome, self.sums) = (decision, outcome, sums)
        }
    }

    /// Calls with one brand.
    package struct Brand: Hashable, Sendable {
        package var name: String
        /// The customer whose brand it is; nil for a usual brand.
        package var customer: String?
        package var sums: CallSums

        package init(name: String, customer: String? = nil, sums: CallSums) {
            (self.name, self.customer, self.sums) = (name, customer, sums)
        }
    }

    /// By hour, the oldest first.
    package var kinds: [Kind]
    /// The brands of the most calls; a name that two customers have is two brands.
    package var brands: [Brand]
    /// The counts are complete for calls from here on; seconds since 1970.
    package var since: Int64

    package init(kinds: [Kind] = [], brands: [Brand] = [], since: Int64 = 0) {
        (self.kinds, self.brands, self.since) = (kinds, brands, since)
    }
}

extension LedgerReader {
    /// The calls whose INVITEs came in some hours.
    ///
    /// Reads a row for each kind of call in an hour, and the calls in progress, however many calls have ended.
    ///
    /// - Parameters:
    ///   - hours: hours since 1970.
    ///   - brands: the largest number of brands.
    package func counts(of hours: ClosedRange<Int64>, brands: Int = 10) throws -> HourCounts {
        try database.read { database in
            let since = try Int64.fetchOne(database, sql: "SELECT since FROM counted") ?? 0
            return HourCounts(
                kinds: try Self.kinds(hours, in: database), brands: try Self.brands(hours, most: brands, in: database),
                since: (since + 999_999) / 1_000_000)
        }
    }

    private static func kinds(_ hours: ClosedRange<Int64>, in database: Database) throws -> [HourCounts.Kind] {
        let select = try LedgerStatement(
            database,
            """
            SELECT hour, direction, trunk, decision, outcome, calls, reached, answered, talks, talk_seconds
            FROM call_hour WHERE hour BETWEEN ?1 AND ?2
            UNION ALL
            SELECT invite_at / \(HourTally.hour) AS hour, direction, coalesce(trunk, ''), decision, '', count(*), 0, 0, 0, 0
            FROM call WHERE \(isInProgress) GROUP BY hour, direction, trunk, decision
            ORDER BY hour
            """)
        select.bind(1, hours.lowerBound)
        select.bind(2, hours.upperBound)
        var kinds: [HourCounts.Kind] = []
        while let kind = try select.row({ row in
            HourCounts.Kind(
                hour: row.integer(0) ?? 0, isInbound: row.integer(1) == 1, trunk: filled(row.text(2)),
                decision: row.text(3) ?? "", outcome: filled(row.text(4)), sums: sums(row, from: 5))
        }) { kinds.append(kind) }
        return kinds
    }

    private static func brands(
        _ hours: ClosedRange<Int64>, most: Int, in database: Database
    ) throws -> [HourCounts.Brand] {
        let select = try LedgerStatement(
            database,
            """
            SELECT brand, customer, sum(calls) AS calls, sum(reached), sum(answered), sum(talks), sum(talk_seconds) FROM (
                SELECT brand, customer, calls, reached, answered, talks, talk_seconds
                FROM brand_hour WHERE hour BETWEEN ?1 AND ?2
                UNION ALL
                SELECT brand_name, coalesce(customer, ''), 1, 0, 0, 0, 0
                FROM call WHERE \(isInProgress) AND direction = 1 AND decision = 'matched' AND brand_name IS NOT NULL
            ) GROUP BY brand, customer ORDER BY calls DESC, brand, customer LIMIT ?3
            """)
        select.bind(1, hours.lowerBound)
        select.bind(2, hours.upperBound)
        select.bind(3, most)
        var brands: [HourCounts.Brand] = []
        while let brand = try select.row({ row in
            HourCounts.Brand(name: row.text(0) ?? "", customer: filled(row.text(1)), sums: sums(row, from: 2))
        }) { brands.append(brand) }
        return brands
    }

    /// Calls in progress of the hours ?1 to ?2, by the index of open calls.
    private static let isInProgress = """
        ended_at IS NULL AND continued_as IS NULL
            AND invite_at >= ?1 * \(HourTally.hour) AND invite_at < (?2 + 1) * \(HourTally.hour)
        """

    static func filled(_ text: String?) -> String? { text?.isEmpty == true ? nil : text }

    static func sums(_ row: LedgerRow, from first: CInt) -> CallSums {
        CallSums(
            calls: row.integer(first) ?? 0, reached: row.integer(first + 1) ?? 0, answered: row.integer(first + 2) ?? 0,
            talks: row.integer(first + 3) ?? 0, talkSeconds: row.integer(first + 4) ?? 0)
    }
}
