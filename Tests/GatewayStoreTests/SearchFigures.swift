// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import Synchronization
import TestFixtures
import Testing

@testable import GatewayStore

/// Figures of `docs/commands.md`; only with `HERALD_LEDGER_CALLS`, the number of calls in the ledger.
@Suite("Figures of searches")
struct SearchFigures {
    private static let calls = ProcessInfo.processInfo.environment["HERALD_LEDGER_CALLS"].flatMap { Int64($0) }

    private static func fill(_ ledger: LedgerFixture, _ calls: Int64) throws {
        try ledger.database.ledger.write { database in
            // Ten a second, with the texts of a usual call. A call in 10,000 is an emergency call.
            try database.execute(
                sql: """
                    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
                    INSERT INTO call (id, call_id, sip_call_id, direction, trunk, caller, destination, subscriber, subscriber_key,
                        brand_id, brand_name, carrier_name, decision, invite_at, ringing_at, answered_at, ended_at, status, outcome,
                        ring_seconds, call_seconds, evidence)
                    SELECT n, printf('%08x-1111-4222-8333-%012x', n, n), printf('%016x%016x@sbc.carrier.example', n, n * 7), 1,
                        'carrier', 61255000000 + n % 90000, 61255500000 + n % 500, '61255500' || (n % 500), '61255500' || (n % 500),
                        'b-' || (n % 800), 'Brand number ' || (n % 800), 'WIRELESS CALLER',
                        CASE WHEN n % 10000 = 0 THEN 'emergency' WHEN n % 3 = 0 THEN 'no_match' ELSE 'matched' END,
                        ?2 + n * 100000, ?2 + n * 100000 + 50000, ?2 + n * 100000 + 70000, ?2 + n * 100000 + 90000, 200,
                        CASE WHEN n % 4 = 0 THEN 'MISSED' ELSE 'ANSWERED' END, 5, 60, 77
                    FROM number
                    """, arguments: [calls, LedgerFixture.Clock.start])
        }
    }

    private static func filter(_ change: (inout CallFilter) -> Void) -> CallFilter {
        var filter = CallFilter()
        change(&filter)
        return filter
    }

    /// Searches that find few calls, or none, read the most.
    private static let filters: [(name: String, filter: CallFilter)] = [
        ("newest", filter { _ in }), ("decision of many", filter { $0.decisions = ["no_match"] }),
        ("decision of few", filter { $0.decisions = ["emergency"] }),
        ("decision of none", filter { $0.decisions = ["stale"] }),
        ("brand", filter { $0.brand = "Brand number 17" }), ("part of a name", filter { $0.name = "nobody" }),
        ("number", filter { $0.number = E164Number("+61255000017") }),
        ("last digits", filter { $0.numberEnd = "9999999" }),
        ("part of a Call-ID", filter { $0.callIDPart = "zzzz" }), ("open", filter { $0.outcome = "OPEN" }),
    ]

    @Test(.enabled(if: calls != nil, "set HERALD_LEDGER_CALLS"))
    func `time of a search, and of the recorder's commits beside it`() throws {
        let calls = try #require(Self.calls)
        let ledger = try LedgerFixture(capacity: 4_096)
        try Self.fill(ledger, calls)
        let reader = LedgerReader(ledger.database)
        for (name, filter) in Self.filters {
            var found = 0
            let took = try ContinuousClock().measure { found = try reader.search(filter, limit: 50).calls.count }
            print("figures: \(calls) calls, \(name): \(found) found in \(took)")
        }
        for name in ["zzzz", "0000"] {
            let took = try ContinuousClock().measure {
                _ = try reader.calls(named: CallName(name, others: ["x"]), CallFilter(), limit: 20)
            }
            print("figures: the begin \(name) of a Call-ID: \(took)")
        }
        let day = Self.filter { $0.until = LedgerFixture.Clock.start / 1_000_000 + calls / 20 }
        print("figures: until half: \(try ContinuousClock().measure { _ = try reader.search(day, limit: 50) })")
        print("figures: counts: \(try ContinuousClock().measure { _ = try reader.counts(matching: .init()) })")
        print("figures: commits of 100 calls alone: \(try Self.commits(ledger, from: 1))")
        let end = End()
        let reading = Thread {
            while !end.isReached.withLock({ $0 }) { _ = try? reader.counts(matching: .init()) }
        }
        reading.start()
        print("figures: commits of 100 calls beside searches: \(try Self.commits(ledger, from: 100_000))")
        end.isReached.withLock { $0 = true }
    }

    private final class End: Sendable {
        let isReached = Mutex(false)
    }

    /// The mean and the longest time of fifty commits.
    private static func commits(_ ledger: LedgerFixture, from first: UInt64) throws -> String {
        var times: [Duration] = []
        for round in 0..<50 as Range<UInt64> {
            for call in 0..<100 as Range<UInt64> { ScriptedCall(ledger.ring, first + round * 100 + call).missed() }
            times.append(try ContinuousClock().measure { try ledger.recorder.drain() })
        }
        return "mean \(times.reduce(.zero, +) / times.count), longest \(times.max() ?? .zero)"
    }
}
