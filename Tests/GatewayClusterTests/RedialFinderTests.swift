// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import GatewayCluster
import PostgreSQL
import Synchronization
import Testing

@testable import GatewayStore

/// Requirements: a carrier's attempts are one call and one set of events, whichever gateways they take.
///
/// A carrier that gets 503 from one gateway sends a new INVITE to the next one (RFC 3263 §4.3), often within milliseconds
/// and with another Call-ID.
@Suite("Attempts through several gateways")
struct RedialFinderTests {
    private let shared: SharedDatabase

    init() throws { shared = try SharedDatabase() }

    private func gateway(_ name: String, clock: Int64 = 0) throws -> LocalGateway {
        let gateway = try LocalGateway(name, in: shared, clock: clock) { settings in
            settings.limits.redial = 5_000_000
            settings.limits.sharedRedial = 60_000_000
        }
        try gateway.pass()
        try endPatience(gateway)
        return gateway
    }

    /// The time after a start or an outage in which a gateway waits for all others.
    private func endPatience(_ gateway: LocalGateway) throws {
        for _ in 0..<4 {
            gateway.clock.wait(5)
            try gateway.sharing.redials.look()
        }
    }

    /// Makes a gateway look as after 16 seconds without PostgreSQL.
    private func silence(_ gateway: LocalGateway) throws {
        try shared.look.script(
            """
            UPDATE ledger.node SET seen_at = now() - interval '16 seconds', known_at = now() - interval '16 seconds'
            WHERE name = '\(gateway.name)'
            """)
    }

    /// An attempt that fails before any phone rings.
    private func fails(
        _ number: UInt64, _ gateway: LocalGateway, ago: Double, after seconds: Double = 0.02,
        _ change: (inout PlayedCall) -> Void = { _ in }
    ) {
        var call = PlayedCall(number)
        call.sipCallID = "c\(number)@carrier"
        change(&call)
        let ago = ago - gateway.clock.sinceStart
        call.invite(gateway, ago: ago)
        call.send(.failed, at: gateway, ago: ago - seconds, 503)
    }

    /// An attempt that is answered and still open.
    private func isAnswered(_ number: UInt64, _ gateway: LocalGateway, ago: Double) {
        var call = PlayedCall(number)
        call.sipCallID = "c\(number)@carrier"
        let ago = ago - gateway.clock.sinceStart
        call.invite(gateway, ago: ago)
        call.send(.provisional, at: gateway, ago: ago - 0.5, 180)
        call.send(.answered, at: gateway, ago: ago - 1, 200)
    }

    private func hangsUp(_ number: UInt64, _ gateway: LocalGateway) {
        PlayedCall(number).send(.bye, at: gateway, ago: -gateway.clock.sinceStart)
    }

    /// Some seconds in which all gateways ship, and then look.
    private func pass(_ count: Int, _ gateways: LocalGateway...) throws {
        for gateway in gateways {
            try gateway.recorder.drain()
            _ = try gateway.sharing.shipper.ship()
        }
        for _ in 0..<count { for gateway in gateways { try gateway.pass() } }
    }

    /// Passes until an event is made: by then it is known that no further attempt came.
    private func passUntilAnEvent(_ gateways: LocalGateway...) throws {
        for _ in 0..<2_000 where try gateways.allSatisfy({ try $0.keys().isEmpty }) {
            for gateway in gateways { try gateway.pass() }
        }
        for gateway in gateways { try gateway.pass() }
    }

    /// The calls that the shared ledger shows: gateway, outcome, number of INVITEs.
    private func shown() throws -> [String] {
        try shared.calls { _ in }.map { "\($0.node ?? "") \($0.outcome ?? "OPEN") \($0.attempts)" }.sorted()
    }

    @Test(arguments: [Int64(-60), 0, 60])
    func `a call that failed at one gateway goes on at another, with any clock`(clock: Int64) throws {
        let (a, b) = (try gateway("a"), try gateway("b", clock: clock))
        fails(1, a, ago: 3)
        isAnswered(2, b, ago: 2.9)
        try pass(3, a, b)
        hangsUp(2, b)
        try pass(2, a, b)
        let (one, two) = (PlayedCall(1).id, PlayedCall(2).id)
        #expect(try shown() == ["b ANSWERED 2"])
        #expect(try a.keys() == [], "no event of the attempt that failed")
        #expect(try b.keys() == ["displayed:\(two)", "call_seen:\(two)"])
        let end = try #require(try b.calls().first?.events.last)
        #expect(end.meta.contains("\"attempts\":2"))
        #expect(try a.calls().isEmpty, "gateway a lists no call of its own")
        let view = try shared.look.execute("SELECT call_id FROM ledger.calls").map { try $0.text(0) }
        #expect(view == [two.description])
        // Who looks for the first INVITE's Call-ID finds what became of it.
        let first = try shared.calls { $0.callID = "c1@carrier" }.first
        #expect(first?.callID == one.description && first?.continuedAs == two.description)
    }

    @Test func `a carrier that tries three gateways in 50 ms makes one call`() throws {
        let (a, b, c) = (try gateway("a"), try gateway("b"), try gateway("c"))
        fails(1, a, ago: 4)
        fails(2, b, ago: 3.97)
        isAnswered(3, c, ago: 3.94)
        try pass(4, a, b, c)
        hangsUp(3, c)
        try pass(1, a, b, c)
        #expect(try shown() == ["c ANSWERED 3"])
        #expect(try a.keys() + b.keys() == [])
    }

    @Test func `attempts that all fail are one failed call, once it is known that none follows`() throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        fails(1, a, ago: 5.6)
        fails(2, b, ago: 5.5)
        try passUntilAnEvent(a, b)
        #expect(try shown() == ["b FAILED 2"])
        #expect(try a.keys() + b.keys() == ["error:\(PlayedCall(2).id)"])
    }

    @Test func `attempts at two gateways in turn are one call`() throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        fails(1, a, ago: 4)
        fails(2, b, ago: 3.9)
        fails(3, a, ago: 3.8)
        isAnswered(4, b, ago: 3.7)
        try pass(5, a, b)
        hangsUp(4, b)
        try pass(2, a, b)
        #expect(try shown() == ["b ANSWERED 4"])
        #expect(try (a.keys() + b.keys()).count == 2, "one displayed, one call_seen")
    }

    @Test func `a failed call waits for gateways that have not shipped yet, and not for dead ones`() throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        fails(1, a, ago: 10)
        try shared.look.script(
            """
            UPDATE ledger.node SET seen_at = now() - interval '8 seconds', known_at = now() - interval '8 seconds'
            WHERE name = 'b'
            """)
        try pass(2, a)
        #expect(try a.keys() == [], "b may have the next attempt, and has been silent for 8 s")
        isAnswered(2, b, ago: 9.9)
        try pass(4, a, b)
        #expect(try shown() == ["b OPEN 2"])

        fails(3, a, ago: 10) { $0.caller += 1 }
        try shared.silence("b")
        try pass(2, a)
        #expect(try a.keys() == ["error:\(PlayedCall(3).id)"])
    }

    @Test func `a failed call waits for a gateway that writes and cannot store what it sees`() throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        try b.files.ledger.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
        fails(1, a, ago: 12)
        isAnswered(2, b, ago: 11.9)
        do { try b.recorder.drain() } catch { b.recorder.record(failure: error) }
        // The disk refuses since 13 s.
        try shared.look.script("UPDATE ledger.node SET known_at = now() - interval '13 seconds' WHERE name = 'b'")
        _ = try b.sharing.shipper.ship()
        try pass(2, a)
        #expect(try a.keys() == [], "b has the next attempt in its ring")
        try b.files.ledger.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 0") }
        try b.recorder.drain()
        b.recorder.shared.withLock { $0.problem = nil }
        try pass(4, b, a)
        #expect(try shown() == ["b OPEN 2"])
    }

    @Test func `a failed call waits for a gateway that only siblings see`() throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        fails(1, a, ago: 12)
        isAnswered(2, b, ago: 11.9)
        try b.recorder.drain()
        try shared.look.script(
            """
            UPDATE ledger.node SET seen_at = now() - interval '16 seconds', known_at = now() - interval '16 seconds'
            WHERE name = 'b'
            """)
        a.siblings.responds("b")
        try pass(2, a)
        #expect(try a.keys() == [], "b has lost PostgreSQL and takes calls")
        try pass(4, b, a)
        #expect(try shown() == ["b OPEN 2"])
    }

    /// After an outage of more than 15 s each gateway finds the signs of life of all others too old.
    @Test(arguments: ["failures", "a frozen server", "a start"])
    func `the first gateway after an outage waits for the others`(outage: String) throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        fails(1, a, ago: 10)
        try a.recorder.drain()
        try silence(b)
        switch outage {
        case "failures": a.sharing.redials.interrupted()
        case "a frozen server": a.clock.wait(18)
        default: try a.restart()
        }
        for _ in 0..<4 {
            try pass(1, a)
            a.clock.wait(2)
        }
        #expect(try a.keys() == [], "b may come back")
        isAnswered(2, b, ago: 9.9)
        try pass(4, a, b)
        #expect(try shown() == ["b OPEN 2"])
    }

    @Test func `a gateway that stays away after an outage is waited for no longer than it takes to adopt one`() throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        fails(1, a, ago: 10)
        try silence(b)
        a.sharing.redials.interrupted()
        try pass(1, a)
        #expect(try a.keys() == [])
        try endPatience(a)
        try pass(2, a)
        #expect(try a.keys() == ["error:\(PlayedCall(1).id)"])
    }

    @Test func `without PostgreSQL a failed call ends by itself`() throws {
        let a = try gateway("a")
        fails(1, a, ago: 66)
        try a.recorder.drain()
        try a.recorder.drain()
        #expect(try a.keys() == ["error:\(PlayedCall(1).id)"])
    }

    @Test(arguments: ["another caller", "another called", "another decision", "another customer", "too late"])
    func `anything else is a call of its own`(what: String) throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        fails(1, a, ago: 20)
        let ago = what == "too late" ? 14.5 : 19.9
        fails(2, b, ago: ago) { call in
            switch what {
            case "another caller": call.caller += 1
            case "another called": call.destination += 1
            case "another decision": call.reason = .noMatch
            case "another customer": call.customer = 7
            default: break
            }
        }
        try pass(4, a, b)
        #expect(try shown() == ["a FAILED 1", "b FAILED 1"])
        #expect(try (a.keys() + b.keys()).count == (what == "another decision" ? 1 : 2))
    }

    @Test func `a withheld caller may be two people`() throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        for (number, gateway) in [(UInt64(1), a), (2, b)] {
            fails(number, gateway, ago: 20 - Double(number) / 10) { ($0.reason, $0.caller) = (.privacy, 0) }
        }
        try pass(4, a, b)
        #expect(try shown() == ["a FAILED 1", "b FAILED 1"])
    }

    @Test(arguments: ["before the answer is stored", "after it", "the other gateway"])
    func `a kill loses and doubles nothing`(when: String) throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        fails(1, a, ago: 3)
        isAnswered(2, b, ago: 2.9)
        try pass(1, b, a)
        try b.recorder.drain()
        if when == "before the answer is stored" { try a.restart() }
        try pass(1, a)
        if when == "after it" { try a.restart() }
        try pass(1, a)
        if when == "the other gateway" {
            // It reads the report of the earlier attempt, and dies before it has stored how far it has read.
            try pass(1, b)
            try b.restart()
        }
        try pass(3, a, b)
        hangsUp(2, b)
        try pass(2, a, b)
        #expect(try shown() == ["b ANSWERED 2"])
        #expect(try a.keys() == [])
        #expect(try b.keys().count == 2)
    }

    @Test func `a missed call is one original for call backs`() throws {
        let (a, b) = (try gateway("a"), try gateway("b"))
        fails(1, a, ago: 20)
        isAnswered(2, b, ago: 19.9)
        PlayedCall(2).send(.bye, at: b, ago: 10 - b.clock.sinceStart)
        try pass(3, b, a)
        #expect(try shown() == ["b ANSWERED 1"], "it ended before the report of its earlier attempt came")
        var back = PlayedCall.outbound(9)
        back.sipCallID = "back@pbx"
        let ago = 5 - b.clock.sinceStart
        back.invite(b, ago: ago)
        back.send(.provisional, at: b, ago: ago - 1, 180)
        try pass(3, b, a)
        #expect(
            try (a.keys() + b.keys()).filter { $0.hasPrefix("returned") } == [],
            "the failed attempt of an answered call is no missed call")
    }
}
