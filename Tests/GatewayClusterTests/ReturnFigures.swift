// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GatewayStore
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import GatewayCluster

/// Figures of `docs/shared-ledger.md`; only with `HERALD_SHARED_RETURNS`, the number of originals and of call backs.
@Suite("Figures of returns")
struct ReturnFigures {
    private static let facts = ProcessInfo.processInfo.environment["HERALD_SHARED_RETURNS"].flatMap { Int64($0) }

    @Test(.enabled(if: facts != nil, "set HERALD_SHARED_RETURNS"))
    func `time of a look-up that finds an original, and of one that finds none`() throws {
        let facts = try #require(Self.facts)
        let shared = try SharedDatabase()
        let b = try LocalGateway("b", in: shared)
        try b.pass()
        // One number in ten is called back; a subscriber has many calls.
        for direction in 1...2 {
            try shared.look.script(
                """
                INSERT INTO ledger.return_candidate (node, ledger, id, at, direction, call, number, call_id, subscriber_key)
                SELECT 1000 + \(direction), 1, i, (extract(epoch FROM now()) * 1000000)::bigint - i::bigint * 2000000 % 259200000000,
                    \(direction), i, 493000000000 + i * \(direction == 1 ? 1 : 10), '\(direction)-' || i, '+6129' || i % 500
                FROM generate_series(1, \(facts)) AS i
                """)
        }
        try shared.look.script("ANALYZE ledger.return_candidate")
        for (name, isKnown) in [("finds none", false), ("finds an original", true)] {
            let count = 1_000
            for number in 1...UInt64(count) {
                let place = number * 97
                var back = PlayedCall.outbound((isKnown ? 1 << 40 : 2 << 40) + number)
                back.destination = 493_000_000_000 + place + (isKnown ? 0 : 5_000_000_000)
                (back.caller, back.subscriber) = (0, "+6129\(place % 500)")
                back.invite(b, ago: 1)
                back.send(.provisional, at: b, ago: 0, 180)
                if number % 300 == 0 { try b.recorder.drain() }
            }
            try b.recorder.drain()
            _ = try b.sharing.shipper.ship()
            let before = try shared.integer("SELECT count(*) FROM ledger.returned") ?? 0
            let took = try ContinuousClock().measure { _ = try b.sharing.returns.look() }
            let found = (try shared.integer("SELECT count(*) FROM ledger.returned") ?? 0) - before
            print(
                "figures: \(facts) facts each, \(count) call backs, each \(name): \(found) settled, \(took / count) each"
            )
        }
        let size = try shared.integer("SELECT pg_total_relation_size('ledger.return_candidate') / (2 * \(facts))")
        print("figures: \(size ?? 0) bytes for each fact with its indexes")
    }
}
