// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import Testing

@testable import GatewayCluster

/// Requirements: each call is listed once, and each event is sent, whichever gateways had them.
@Suite("One row a call, one delivery an event")
struct SharedOutboxTests: ThreeGateways {
    let gateways: Trio

    init() throws { gateways = try Trio() }

    private func endedAtA() throws {
        a.answered(1)
        a.sees(.bye, 1, at: 65)
        for gateway in all { try gateway.rounds(2) }
    }

    private var keys: [String] { ["displayed", "call_seen"].map { "\($0):\(ClusterGateway.call(1).description)" } }

    @Test func `waiting events of a gateway that is lost are sent by one other, under the same keys`() throws {
        try endedAtA()
        try kill()
        for _ in 0..<3 {
            try b.round()
            try c.round()
        }
        let sent = try [b.sendEvents(), c.sendEvents()]
        #expect(sent.map(\.count).sorted() == [0, 2])
        #expect(sent.flatMap { $0 } == keys)
        try b.rounds(2)
        try c.rounds(2)
        #expect(try shared.integer("SELECT count(*) FROM ledger.taken_event WHERE is_stored") == 2)
    }

    @Test func `the event of an adopted call is shown once, delivered`() throws {
        a.answered(1)
        for gateway in all { try gateway.rounds(2) }
        try kill()
        b.sees(.bye, 1, at: 65)
        try b.rounds(3)
        #expect(try b.sendEvents().sorted() == keys.sorted())
        try b.rounds(2)
        let call = try #require(try shared.calls().first)
        #expect(call.node == "b")
        #expect(call.events.filter { $0.state == .delivered }.map(\.key).contains(keys[1]))
        #expect(Set(call.events.map(\.key)).count == call.events.count)
    }

    @Test(arguments: [false, true])
    func `an adopter that dies before or after its rows arrived leaves the events to the next one`(
        _ isShipped: Bool
    ) throws {
        try endedAtA()
        try kill()
        try isShipped ? b.round() : b.claim()
        if isShipped { _ = try b.shipper.ship() }
        try kill("b")
        try c.rounds(4)
        #expect(try c.sendEvents() == keys)
    }

    /// Rows of `ledger.event` that wait, whichever gateway wrote them.
    private func waiting() throws -> Int64? { try shared.integer("SELECT count(*) FROM ledger.event WHERE state = 0") }

    @Test func `an event that another gateway has sent no longer waits under its first row`() throws {
        try endedAtA()
        #expect(try waiting() == 2)
        try kill()
        try b.rounds(3)
        #expect(try waiting() == 4, "both gateways have a row of each")
        #expect(try b.sendEvents() == keys)
        try b.rounds(2)
        #expect(try waiting() == 0)
        let results = "SELECT count(*) FROM ledger.event WHERE state = 1 AND event_id = 'ev'"
        #expect(try shared.integer(results) == 4, "both rows have the result")
    }

    @Test func `so does one that a gateway with a new disk has sent`() throws {
        try endedAtA()
        try shared.silence("a")
        try a.restart(losingDisk: true)
        try a.rounds(3)
        #expect(try a.sendEvents() == keys)
        try a.rounds(2)
        #expect(try waiting() == 0)
    }

    @Test func `delivered events are not taken over`() throws {
        try endedAtA()
        #expect(try a.sendEvents() == keys)
        try a.round()
        try kill()
        try b.rounds(3)
        #expect(try b.keys().isEmpty)
    }

    @Test func `an INVITE that two gateways had is one call, with its end`() throws {
        a.answered(1)
        b.answered(1)
        for gateway in [a, b] { try gateway.rounds(2) }
        #expect(try shared.shown(1) == ["a OPEN"])
        b.sees(.bye, 1, at: 65)
        try b.round()
        #expect(try shared.shown(1) == ["b ANSWERED"])
        a.sees(.bye, 1, at: 65)
        try a.round()
        #expect(try shared.shown(1) == ["b ANSWERED"])
        #expect(try shared.calls().count == 1)
    }

    @Test func `of an INVITE that two gateways had, the living one's row goes on and none is adopted`() throws {
        a.answered(1)
        b.answered(1)
        for gateway in all { try gateway.rounds(2) }
        try kill()
        try c.rounds(3)
        #expect(try c.own().isEmpty)
        #expect(try shared.shown(1) == ["b OPEN"])
    }
}
