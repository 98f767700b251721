// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import GRDB

/// Calls of one day from a number of a brand that arrived in the same way; it has no callee.
package struct BrandArrivals: Hashable, Sendable {
    package var brand: String
    package var brandID: String?
    /// Nil for a usual brand.
    package var customer: String?
    /// The brand's number, with a plus sign.
    package var caller: String
    /// Days since 1970, in UTC.
    package var day: Int64
    /// Nil for a trunk that the configuration did not have.
    package var trunk: String?
    /// Trust, verification and its source; nothing else is set.
    package var evidence: DecisionEvidence
    /// Whether the signature failed, also one that takes no part in the decision.
    package var isSignatureFailed: Bool
    /// The provider that signed; foreign text. Nil for none.
    package var provider: String?
    /// Whether the directory's brand was written.
    package var isBranded: Bool
    package var calls: Int
    /// Microseconds since 1970.
    package var firstAt: Int64
    package var lastAt: Int64
    /// The call id of one of the calls.
    package var example: String

    package init(
        brand: String, brandID: String?, customer: String?, caller: String, day: Int64, trunk: String?,
        evidence: DecisionEvidence, isSignatureFailed: Bool, provider: String?, isBranded: Bool, calls: Int,
        firstAt: Int64, lastAt: Int64, example: String
    ) {
        (self.brand, self.brandID, self.customer, self.caller) = (brand, brandID, customer, caller)
        (self.day, self.trunk, self.evidence, self.isSignatureFailed) = (day, trunk, evidence, isSignatureFailed)
        (self.provider, self.isBranded, self.calls) = (provider, isBranded, calls)
        (self.firstAt, self.lastAt, self.example) = (firstAt, lastAt, example)
    }
}

extension LedgerReader {
    private static let microsecondsOfDay: Int64 = 86_400_000_000

    /// The arrivals of all numbers that had a brand of the directory in a span of time.
    ///
    /// Reads the calls of the span by their rows, twice. A withheld caller is in none. A call that another gateway goes on
    /// with is left out.
    ///
    /// - Parameter since: Unix seconds.
    package func arrivalsOfBrands(since: Int64) throws -> [BrandArrivals] {
        // Bits of `DecisionEvidence`: present, verification, source of it, trust.
        let bits = 1 | 7 << 4 | 15 << 7 | 1 << 18
        let sql = """
            WITH owner AS (
                SELECT caller, brand_name, brand_id, customer, max(invite_at) FROM call
                WHERE id >= ?1 AND invite_at >= ?2 AND direction = 1 AND decision = 'matched'
                    AND caller IS NOT NULL AND brand_name IS NOT NULL
                GROUP BY caller)
            SELECT owner.brand_name, owner.brand_id, owner.customer, call.caller,
                invite_at / \(Self.microsecondsOfDay) AS day, trunk, coalesce(evidence, 0) & \(bits) AS findings,
                coalesce(trust >> 1 & 7 = 5, 0) AS failed, provider, decision = 'matched' AS branded,
                count(*), min(invite_at), max(invite_at), max(call_id)
            FROM call JOIN owner ON owner.caller = call.caller
                LEFT JOIN call_signature ON call_signature.call = call.id
            WHERE call.id >= ?1 AND invite_at >= ?2 AND direction = 1 AND continued_as IS NULL
            GROUP BY call.caller, day, trunk, findings, failed, provider, branded
            """
        return try spanned(sql, since: since).map { row in
            let findings: Int64 = row[6]
            return BrandArrivals(
                brand: row[0], brandID: row[1], customer: row[2], caller: "+\(row[3] as Int64)", day: row[4],
                trunk: row[5], evidence: DecisionEvidence(rawValue: UInt32(truncatingIfNeeded: findings)),
                isSignatureFailed: row[7], provider: row[8], isBranded: row[9], calls: row[10], firstAt: row[11],
                lastAt: row[12], example: row[13])
        }
    }

    /// The day of each trunk's first inbound call in a span of time, in days since 1970.
    ///
    /// - Parameter since: Unix seconds.
    package func firstDaysOfTrunks(since: Int64) throws -> [String: Int64] {
        let sql = """
            SELECT trunk, min(invite_at) / \(Self.microsecondsOfDay) FROM call
            WHERE id >= ?1 AND invite_at >= ?2 AND direction = 1 AND trunk IS NOT NULL GROUP BY trunk
            """
        return try spanned(sql, since: since).reduce(into: [:]) { $0[$1[0] as String] = $1[1] as Int64 }
    }

    private func spanned(_ sql: String, since: Int64) throws -> [Row] {
        try database.read { database in
            // A stepped clock may disturb the order by a while, so a day before the span counts too.
            let first = try CallOrder.firstRow(from: (since - 86_400) * 1_000_000, in: database) ?? 0
            return try Row.fetchAll(database, sql: sql, arguments: [first, since * 1_000_000])
        }
    }
}
