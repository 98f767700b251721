// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The calls of one signer in a span of time, by outcome.
package struct ProviderCalls: Hashable, Sendable {
    /// The provider code, or the first number of a signer of numbers. It is foreign text.
    package let provider: String
    /// Counts by outcome; calls in progress have none.
    package let outcomes: [String: Int]
    package let total: Int
    /// Calls with attestation A, B and C, in this order.
    package var attestations = [0, 0, 0]
    /// Answered calls that ended within `shortest` seconds.
    package var short = 0
    /// Calls that the callee marked as unwanted: 607 (RFC 8197).
    package var unwanted = 0

    /// Calls below this length count as short, which most unwanted calls are.
    package static let shortest: Int64 = 6
}

/// A signer that has signed a number of a brand lately for the first time.
package struct NewProvider: Hashable, Sendable {
    package let provider: String
    package let brand: String
    /// The caller's number.
    package let caller: String
    /// Time of the first such call, microseconds since 1970.
    package let firstAt: Int64
}

// Each query reads the calls of its span by their rows, once.
extension LedgerReader {
    /// The signers of inbound calls since a time in Unix seconds, those with the most calls first.
    package func callsOfProviders(since: Int64) throws -> [ProviderCalls] {
        let counts = try rows(
            """
            SELECT provider, outcome, count(*),
                count(*) FILTER (WHERE trust >> 1 & 7 = 1), count(*) FILTER (WHERE trust >> 1 & 7 = 2),
                count(*) FILTER (WHERE trust >> 1 & 7 = 3),
                count(*) FILTER (
                    WHERE outcome = 'ANSWERED' AND ended_at - answered_at < \(ProviderCalls.shortest) * 1000000),
                count(*) FILTER (WHERE status = 607)
            FROM call JOIN call_signature ON call_signature.call = call.id
            WHERE id >= ? AND invite_at >= ? AND direction = 1 AND provider IS NOT NULL AND continued_as IS NULL
            GROUP BY provider, outcome
            """, since: since)
        let signers = Dictionary(grouping: counts) { row -> String in row[0] }
        return signers.map { provider, rows in
            func sum(_ column: Int) -> Int { rows.reduce(0) { $0 + ($1[column] as Int) } }
            let outcomes = rows.compactMap { row in (row[1] as String?).map { ($0, row[2] as Int) } }
            return ProviderCalls(
                provider: provider, outcomes: Dictionary(outcomes, uniquingKeysWith: +), total: sum(2),
                attestations: (3...5).map(sum), short: sum(6), unwanted: sum(7))
        }.sorted { ($1.total, $0.provider) < ($0.total, $1.provider) }
    }

    /// Signers whose first call of a brand's number is younger than a time, where another signer has signed the number before.
    ///
    /// A brand is one of the directory, with an identifier. Any signer can write any name into its tokens.
    ///
    /// - Parameters:
    ///   - time: Unix seconds.
    ///   - since: the begin of the span that counts, in Unix seconds.
    package func providersOfBrands(newSince time: Int64, since: Int64) throws -> [NewProvider] {
        let firsts = try rows(
            """
            SELECT caller, provider, min(invite_at), max(brand_name) FILTER (WHERE brand_id IS NOT NULL)
            FROM call JOIN call_signature ON call_signature.call = call.id
            WHERE id >= ? AND invite_at >= ? AND direction = 1 AND provider IS NOT NULL AND caller IS NOT NULL
            GROUP BY caller, provider ORDER BY caller, min(invite_at)
            """, since: since)
        var found: [NewProvider] = []
        for (_, signers) in Dictionary(grouping: firsts, by: { row -> Int64 in row[0] }) {
            guard let brand = signers.lazy.compactMap({ row -> String? in row[3] }).first else { continue }
            for row in signers.dropFirst() where (row[2] as Int64) >= time * 1_000_000 {
                found.append(
                    NewProvider(provider: row[1], brand: brand, caller: "+\(row[0] as Int64)", firstAt: row[2]))
            }
        }
        return found.sorted { ($0.firstAt, $0.caller, $0.provider) < ($1.firstAt, $1.caller, $1.provider) }
    }

    /// Rows of a query whose first arguments are the first row and the begin of the span.
    private func rows(_ sql: String, since: Int64) throws -> [Row] {
        try database.read { database in
            // A stepped clock may disturb the order by a while, so a day before the span counts too.
            let first = try CallOrder.firstRow(from: (since - 86_400) * 1_000_000, in: database) ?? 0
            return try Row.fetchAll(database, sql: sql, arguments: [first, since * 1_000_000])
        }
    }
}
