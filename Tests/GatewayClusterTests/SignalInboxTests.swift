// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import GatewayCluster
import GatewayStore
import PostgreSQL
import Testing

/// Requirements: what a gateway has read of another gateway's call reaches that gateway, whatever is killed between.
@Suite("Updates of other gateways through the shared ledger")
struct SignalInboxTests {
    private let shared: SharedDatabase

    init() throws { shared = try SharedDatabase() }

    private func answered(_ gateway: LocalGateway, _ number: UInt64 = 1) throws -> PlayedCall {
        let call = PlayedCall(number)
        call.invite(gateway, ago: 100)
        call.send(.provisional, at: gateway, ago: 95, 180)
        call.send(.answered, at: gateway, ago: 90, 200)
        try gateway.pass()
        return call
    }

    @Test(arguments: ["before the commit", "after the commit"])
    func `a BYE that a gateway has read before kill -9 ends the call of the other one`(killed: String) throws {
        let (a, b) = (try LocalGateway("a", in: shared), try LocalGateway("b", in: shared, clock: 60))
        try b.pass()
        let call = try answered(a)
        call.send(.bye, at: b, ago: 30)
        if killed == "after the commit" { try b.recorder.drain() }
        try b.restart()
        for _ in 0..<3 {
            try b.pass()
            try a.pass()
        }
        let ended = try #require(try a.calls().first)
        #expect(ended.outcome == "ANSWERED")
        #expect((59...61).contains(ended.callSeconds ?? 0), "though the clock of b is a minute ahead")
        #expect(try a.keys() == ["displayed:\(call.id)", "call_seen:\(call.id)"], "one event of each kind")
        #expect(a.recorder.cluster.appliedForeign == 1, "the BYE counts once")
        #expect(try b.calls().isEmpty, "the call is none of b's")
    }

    @Test func `a gateway that was down itself reads what the others have seen meanwhile`() throws {
        let (a, b) = (try LocalGateway("a", in: shared), try LocalGateway("b", in: shared))
        let call = try answered(a)
        call.send(.bye, at: b, ago: 1)
        try b.pass()
        try a.restart()
        try a.pass()
        #expect(try a.calls().map(\.outcome) == ["ANSWERED"])
    }

    @Test func `signals carry no numbers`() throws {
        let (a, b) = (try LocalGateway("a", in: shared), try LocalGateway("b", in: shared))
        let call = try answered(a)
        call.send(.bye, at: b, ago: 1)
        try b.pass()
        let row = try shared.look.execute("SELECT call_id, bytes FROM ledger.call_signal").first
        #expect(try row?.text(0) == call.id.description)
        let update = try row?.bytes(1).flatMap { CallUpdate(bytes: $0) }
        #expect(update?.kind == .bye)
        #expect(update?.caller == 0)
        #expect(update?.destination == 0)
    }

    @Test func `a position is stored only after the effect, and a second reading changes nothing`() throws {
        let (a, b) = (try LocalGateway("a", in: shared), try LocalGateway("b", in: shared))
        let call = try answered(a)
        call.send(.provisional, at: b, ago: 50, 183)
        try b.pass()
        try a.sharing.round()
        try a.sharing.inbox.keep(isLast: true)
        #expect(try a.count("signal_cursor") == 0, "the recorder has not stored it")
        try a.recorder.drain()
        try a.sharing.inbox.keep(isLast: true)
        #expect(try a.count("signal_cursor WHERE id = 1") == 1)
        let calls = try a.calls()
        try a.files.ledger.write { try $0.execute(sql: "DELETE FROM signal_cursor") }
        try a.restart()
        #expect(try a.sharing.inbox.look() == 1, "read again")
        try a.pass()
        #expect(try a.calls() == calls)
    }

    @Test func `each writer has an order of its own, also after its disk was lost`() throws {
        let (a, b, c) = (
            try LocalGateway("a", in: shared), try LocalGateway("b", in: shared), try LocalGateway("c", in: shared)
        )
        let calls = try (UInt64(1)...4).map { try answered(a, $0) }
        for call in calls[0...1] { call.send(.bye, at: b, ago: 10) }
        try b.pass()
        try a.pass()
        calls[2].send(.bye, at: c, ago: 10)
        try c.pass()
        try shared.look.script("UPDATE ledger.node SET seen_at = now() - interval '1 hour' WHERE name = 'b'")
        let renewed = try LocalGateway("b", in: shared)
        calls[3].send(.bye, at: renewed, ago: 10)
        try renewed.pass()
        try a.pass()
        #expect(try a.calls().map(\.outcome) == ["ANSWERED", "ANSWERED", "ANSWERED", "ANSWERED"])
    }

    @Test func `several thousand signals are read in order`() throws {
        let (a, b) = (try LocalGateway("a", in: shared), try LocalGateway("b", in: shared))
        let call = try answered(a)
        try b.pass()
        try b.files.ledger.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4500)
                    INSERT INTO call_signal (at, call_id, bytes) SELECT ?, 'another', x'00' FROM n
                    """, arguments: [b.clock.now])
        }
        call.send(.bye, at: b, ago: 0)
        try b.pass()
        #expect(try a.sharing.inbox.look() == 4_501)
        try a.recorder.drain()
        #expect(try a.calls().map(\.outcome) == ["ANSWERED"])
    }

    @Test func `the writer forgets what was shipped, and uses no number twice`() throws {
        let b = try LocalGateway("b", in: shared, keeps: .zero)
        for round in 0..<12 {
            PlayedCall(UInt64(round)).send(.bye, at: b, ago: 0)
            try b.pass()
        }
        #expect(try b.count("call_signal") ?? 12 < 12, "some are forgotten on the way")
        b.sharing.shipper.finish()
        #expect(try b.count("call_signal") == 0, "all are at the end")
        PlayedCall(99).send(.bye, at: b, ago: 0)
        try b.pass()
        let shipped = try shared.look.execute("SELECT count(*), max(id) FROM ledger.call_signal").first
        #expect(try [shipped?.integer(0), shipped?.integer(1)] == [13, 13], "13 signals have 13 numbers")
    }

    @Test func `a time in the future is the present`() throws {
        let (a, b) = (try LocalGateway("a", in: shared), try LocalGateway("b", in: shared))
        let call = try answered(a)
        call.send(.bye, at: b, ago: -3_600)
        try b.pass()
        try a.pass()
        #expect(try (90..<3_600).contains(a.calls()[0].callSeconds ?? 0))
    }

    @Test func `signals of a call are found by its identifiers`() throws {
        let (a, b) = (try LocalGateway("a", in: shared), try LocalGateway("b", in: shared))
        let call = PlayedCall(1)
        var bye = call.update(.bye, b, 10)
        bye.call = CallIdentifier(high: 9, low: 9)
        bye.counterpart = .callIfSentByCallee(call.id)
        b.ring.append(bye)
        try b.pass()
        // The signal is read before the call is here.
        try a.pass()
        _ = try answered(a)
        #expect(try a.calls().map(\.outcome) == [nil])
        #expect(try a.sharing.inbox.recall([call.id]))
        try a.recorder.drain()
        #expect(try (79...81).contains(a.calls()[0].callSeconds ?? 0))
    }

    @Test func `signals expire after hours, at the server and while it is away`() throws {
        let b = try LocalGateway("b", in: shared)
        for number in UInt64(1)...3 { PlayedCall(number).send(.bye, at: b, ago: number == 3 ? 10 : 50_000) }
        try b.recorder.drain()
        try b.recorder.prune()
        #expect(try b.count("call_signal") == 1)
        try b.pass()
        try shared.look.script("UPDATE ledger.call_signal SET at = at - 50000000000")
        try b.sharing.shipper.prune(before: 0, returnsAfter: 0)
        #expect(try shared.integer("SELECT count(*) FROM ledger.call_signal") == 0)
    }

    @Test func `a gateway that shares no ledger keeps no signals`() throws {
        let b = try LocalGateway("b", in: shared) { $0.isShared = false }
        PlayedCall(1).send(.bye, at: b, ago: 0)
        try b.recorder.drain()
        #expect(try b.count("call_signal") == 0)
    }
}
