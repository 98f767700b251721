// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Ledger: arrivals of brands' numbers")
struct BrandArrivalsTests {
    private static let day: Int64 = 20_454
    /// More than two pieces; the second half of the rows is a day later.
    private static let count = 2 * LedgerReader.piece + 1_000

    private let temporary = TemporaryFolder()
    private let reader: LedgerReader

    /// Each fourth call is a branded one of 61255501001, and each fourth from a trunk without trust with the same number.
    ///
    /// The first branded call has another brand than all later ones. Each fourth caller has no brand, and each fourth is withheld.
    init() throws {
        let database = try HeraldDatabase(folder: temporary.path)
        try database.ledger.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
                    INSERT INTO call (id, call_id, sip_call_id, direction, trunk, caller, brand_name, brand_id, decision,
                        invite_at, evidence)
                    SELECT n, 'i' || n, 's' || n, 1, iif(n % 4 = 1, 'cheap', 'carrier'),
                        CASE n % 4 WHEN 2 THEN 61255509000 + n WHEN 3 THEN NULL ELSE 61255501001 END,
                        CASE WHEN n = 4 THEN 'Former' WHEN n % 4 = 0 THEN 'Acme' END, iif(n % 4 = 0, 'b-7', NULL),
                        CASE n % 4 WHEN 0 THEN 'matched' WHEN 1 THEN 'untrusted' WHEN 2 THEN 'no_match' ELSE 'privacy' END,
                        (?2 + (n > ?1 / 2)) * 86400000000 + n, 1 | iif(n % 4 = 1, 0, 1 << 18)
                    FROM number
                    """, arguments: [Self.count, Self.day])
        }
        reader = LedgerReader(database)
    }

    private func read(since: Int64, details: Int64) throws -> (reading: ArrivalsReading, pieces: Int) {
        let reading = ArrivalsReading(since: since, firstDetailed: details)
        var pieces = 1
        while try reading.next(reader) { pieces += 1 }
        return (reading, pieces)
    }

    @Test func `each call counts once over all pieces, with its number's latest brand`() throws {
        let (reading, pieces) = try read(since: Self.day * 86_400, details: Self.day + 1)
        #expect(pieces >= 6)
        let arrivals = reading.arrivals.sorted { ($0.day, $0.way.trunk ?? "") < ($1.day, $1.way.trunk ?? "") }
        #expect(arrivals.map(\.way.trunk) == ["carrier", "cheap", "carrier", "cheap"])
        #expect(arrivals.map(\.calls).reduce(0, +) == Int(Self.count) / 2)
        #expect(Set(arrivals.map(\.owner)) == [.init(brand: "Acme", brandID: "b-7", customer: nil)])
        #expect(arrivals.map(\.way.isBranded) == [true, false, true, false])
        #expect(arrivals.map(\.way.evidence.isTrusted) == [true, false, true, false])
        let first = try #require(arrivals.first)
        #expect(first.firstAt == Self.day * 86_400_000_000 + 4 && first.lastAt > first.firstAt)
        #expect(reading.firstDaysOfTrunks == ["carrier": Self.day, "cheap": Self.day])
    }

    @Test func `call ids and numbers are kept of the wanted days alone, and few`() throws {
        let arrivals = try read(since: Self.day * 86_400, details: Self.day + 1).reading.arrivals
        for arrival in arrivals {
            let isWanted = arrival.day > Self.day
            #expect(arrival.callers == (isWanted ? ["+61255501001"] : []))
            #expect(
                isWanted ? (1...ArrivalsReading.mostListed).contains(arrival.examples.count) : arrival.examples.isEmpty)
        }
    }

    @Test func `calls before the span do not count`() throws {
        let reading = try read(since: (Self.day + 1) * 86_400, details: Self.day + 1).reading
        #expect(
            Set(reading.arrivals.map(\.day)) == [Self.day + 1] && reading.firstDaysOfTrunks["carrier"] == Self.day + 1)
        #expect(try read(since: (Self.day + 9) * 86_400, details: 0).reading.arrivals.isEmpty)
    }
}
