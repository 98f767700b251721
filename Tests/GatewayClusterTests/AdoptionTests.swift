// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import GatewayCluster

/// Requirements: another gateway goes on with the calls of one that has died, exactly one, and each call ends once.
@Suite("Adoption of a dead gateway's calls")
struct AdoptionTests: ThreeGateways {
    let gateways: Trio

    init() throws { gateways = try Trio() }

    /// All gateways have registered, and `a` has an answered call in the shared ledger.
    private func begin(calls: ClosedRange<UInt64> = 1...1) throws {
        for number in calls { a.answered(number) }
        for gateway in all { try gateway.rounds(2) }
    }

    @Test func `an answered call ends by its BYE at the adopter, with its duration and one event of each kind`() throws
    {
        try begin()
        try kill()
        try b.rounds(3)
        #expect(try shared.shown(1) == ["b OPEN"])
        #expect(try b.account(1) == "OPEN", "it is never ended by assumption before its deadline")
        b.sees(.bye, 1, at: 65)
        try b.rounds(2)
        #expect(try shared.shown(1) == ["b ANSWERED"])
        #expect(try b.account(1) == "ANSWERED after 60 s")
        let id = ClusterGateway.call(1).description
        #expect(try b.keys().sorted() == ["call_seen:\(id)", "displayed:\(id)"], "the keys of the gateway that died")
        #expect(try shared.calls().count == 1)
    }

    @Test func `what a sibling saw before the adopter restarted counts`() throws {
        try begin()
        for gateway in [b, c] { gateway.advance(70) }
        c.sees(.bye, 1, at: 65)
        try c.rounds(2)
        try b.rounds(2)
        try b.inbox.keep(isLast: true)
        try b.restart()
        try kill()
        try b.rounds(4)
        #expect(try shared.shown(1) == ["b ANSWERED"])
        let seconds = try #require(try b.own(1)?.callSeconds)
        #expect((55...60).contains(seconds), "the clock of the server, which measures its age, has gone on meanwhile")
    }

    @Test func `exactly one of two gateways that see the lease end at once adopts`() throws {
        try begin(calls: 1...20)
        try kill()
        for _ in 0..<4 {
            try b.round()
            try c.round()
        }
        let adopted = [b, c].map(\.recorder.cluster.handovers.calls).sorted()
        #expect(adopted == [0, 20], "one has all calls, the other none")
        #expect(try shared.epoch("a") == 2, "a was fenced once")
    }

    @Test func `two gateways that fence in the same moment are ordered by the epoch`() async throws {
        try begin()
        try kill()
        let address = shared.address
        let ids = try ["b", "c"].map(shared.node)
        let dead = try shared.node("a")
        let fenced = try await withThrowingTaskGroup(of: Int.self) { group in
            for id in ids {
                group.addTask {
                    let membership = ShippingStatements.Membership(node: id, epoch: 1, ledger: 1)
                    return try PostgreSQLSession(address).atomically(
                        AdoptionStatements.fence(dead, epoch: 1, membership))[1].affected
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(fenced.sorted() == [0, 1], "one fence holds, the other changes nothing")
    }

    @Test func `a gateway that still responds as a sibling, or is no sibling, is not adopted`() throws {
        let stranger = try ClusterGateway("d", shared.address, siblings: ["c"])
        try begin()
        try stranger.rounds(2)
        try shared.silence("a")
        try b.rounds(3)
        try stranger.rounds(3)
        #expect(try shared.shown(1) == ["a OPEN"])
        #expect(try shared.epoch("a") == 1, "a was not fenced")
    }

    @Test func `a gateway that has just reached PostgreSQL adopts nobody, because all look silent after an outage`()
        throws
    {
        try begin()
        try kill()
        b.adoption.interrupted()
        try b.round()
        #expect(try shared.shown(1) == ["a OPEN"])
        try b.rounds(2)
        #expect(try shared.shown(1) == ["b OPEN"])
    }

    @Test func `what the adopter saw before the lease ended counts`() throws {
        try begin()
        b.sees(.bye, 1, at: 35)
        try b.round()
        try kill()
        try b.rounds(3)
        #expect(try shared.shown(1) == ["b ANSWERED"])
        #expect(try b.account(1) == "ANSWERED after 30 s")
    }

    @Test func `an answer that the dead gateway had reported and not shipped counts, and so does a sibling's BYE`()
        throws
    {
        a.invite(1)
        for gateway in all { try gateway.rounds(2) }
        let updates = [
            ClusterGateway.update(.bye, 1, at: 65), ClusterGateway.update(.answered, 1, at: 5, status: 200),
        ]
        _ = b.recorder.cluster.take(updates.map(ForeignUpdate.init(seenHere:)))
        try b.round()
        try kill()
        try b.rounds(3)
        #expect(try b.account(1) == "ANSWERED after 60 s")
    }

    @Test func `deadlines stay those of the call`() throws {
        try begin()
        try kill()
        try b.rounds(3)
        b.advance(14_404)
        try b.round()
        #expect(try b.account(1) == "OPEN")
        b.advance(2)
        try b.round()
        #expect(try b.account(1) == "ANSWERED", "its end was assumed")
    }

    @Test func `a call that rang at a dead gateway and gets nothing more ends as it would have there`() throws {
        a.invite(1)
        a.sees(.provisional, 1, at: 1, status: 180)
        for gateway in all { try gateway.rounds(2) }
        try kill()
        try b.rounds(3)
        b.advance(900)
        try b.round()
        #expect(try b.account(1) == "OPEN")
        b.advance(2)
        try b.round()
        #expect(try b.account(1) == "MISSED")
    }

    @Test func `a BYE of a call whose 2xx died with its gateway ends an answered call`() throws {
        a.invite(1)
        a.sees(.provisional, 1, at: 1, status: 180)
        for gateway in all { try gateway.rounds(2) }
        try kill()
        try b.rounds(3)
        b.sees(.bye, 1, at: 9)
        try b.rounds(2)
        #expect(try b.account(1) == "OPEN", "the 2xx may still come")
        b.advance(120)
        try b.round()
        #expect(try b.account(1) == "ANSWERED after 0 s")
    }

    @Test func `calls of a gateway whose clock is a minute ahead keep their durations`() throws {
        let a = try ClusterGateway("ahead", shared.address, siblings: ["e"], clockAhead: 60)
        let e = try ClusterGateway("e", shared.address, siblings: ["ahead"])
        a.invite(1, at: 60)
        a.sees(.answered, 1, at: 65, status: 200)
        for gateway in [a, e] { try gateway.rounds(2) }
        try shared.silence("ahead")
        e.sees("ahead", responds: false, clockOffset: 60_000_000)
        try e.rounds(3)
        e.sees(.bye, 1, at: 35)
        try e.round()
        #expect(try e.account(1) == "ANSWERED after 30 s")
    }

    @Test func `thousands of calls are taken over in bounded steps`() throws {
        try begin()
        let many = 2_500
        let node = try shared.node("a")
        try shared.look.script(
            """
            INSERT INTO ledger.call (node, ledger, id, call_id, direction, invite_at, answered_at, decision, attempts)
            SELECT \(node), ledger, 10 + i, '00000000-0000-0000-0000-' || lpad(i::text, 12, '0'), 1,
                \(ClusterGateway.start), \(ClusterGateway.start), 'matched', 1
            FROM generate_series(1, \(many)) AS i, ledger.node WHERE node.id = \(node)
            """)
        try kill()
        var (most, before) = (0, 0)
        for _ in 0..<12 {
            try b.round()
            most = max(most, b.recorder.cluster.handovers.calls - before)
            before = b.recorder.cluster.handovers.calls
        }
        #expect(before == many + 1, "all calls are taken over")
        #expect(most <= AdoptionStatements.mostAtOnce, "in bounded steps")
        let isFinished = "SELECT count(*) FROM ledger.node WHERE name = 'a' AND adopted_at IS NOT NULL"
        #expect(try shared.integer(isFinished) == 1, "the adoption is marked as finished")
        let shown = try shared.integer("SELECT count(*) FROM ledger.calls WHERE gateway = 'b'")
        #expect(shown == Int64(many + 1), "the list shows all of them at b")
    }

    @Test func `an adopter that dies between claim and store goes on after its restart`() throws {
        try begin()
        try kill()
        try b.claim()
        #expect(try b.own().isEmpty, "claimed, not stored")
        try b.restart()
        try b.rounds(3)
        #expect(b.recorder.cluster.handovers.here == 1)
        #expect(try shared.shown(1) == ["b OPEN"])
    }

    @Test func `an adopted call goes on after a restart of the adopter, and its row is there once`() throws {
        try begin()
        try kill()
        try b.rounds(3)
        try b.restart()
        try b.rounds(2)
        b.sees(.bye, 1, at: 65)
        try b.rounds(2)
        #expect(try shared.shown(1) == ["b ANSWERED"])
        #expect(try b.own().count == 1)
    }

    @Test func `the adopter deletes old rows of a gateway that never comes back`() throws {
        try begin(calls: 1...3)
        try kill()
        try b.rounds(3)
        let after = ClusterGateway.start / 1_000_000 + 100
        try b.shipper.prune(before: after, returnsAfter: 259_200)
        #expect(try shared.rows("call", of: "a") == 0)
        #expect(try shared.rows("event", of: "a") == 0)
        #expect(try shared.calls().map(\.node) == ["b", "b", "b"], "the rows of the adopter stay")
    }

    @Test func `an adopter that dies in the middle is adopted with all that it had claimed`() throws {
        try begin(calls: 1...5)
        try kill()
        try b.claim()
        #expect(try b.own().isEmpty, "claimed, not stored")
        try shared.silence("b")
        c.sees("b", responds: false)
        try c.rounds(4)
        for number in UInt64(1)...5 { #expect(try shared.shown(number) == ["c OPEN"]) }
        #expect(try shared.calls().count == 5)
    }

    @Test func `an adopter that dies after it has adopted is adopted with these calls too`() throws {
        try begin()
        try kill()
        try b.rounds(3)
        try shared.silence("b")
        c.sees("b", responds: false)
        c.sees(.bye, 1, at: 65)
        try c.rounds(4)
        #expect(try shared.shown(1) == ["c ANSWERED"])
        #expect(try shared.calls().count == 1)
    }

    @Test func `a gateway with a new disk goes on with the open calls of the lost one`() throws {
        try begin()
        try shared.silence("a")
        try a.restart(losingDisk: true)
        a.sees(.bye, 1, at: 65)
        try a.rounds(3)
        #expect(try shared.shown(1) == ["a ANSWERED"])
        #expect(try a.account(1) == "ANSWERED after 60 s")
    }

    @Test func `a gateway that is alone adopts nothing`() throws {
        let alone = try ClusterGateway("alone", shared.address, siblings: [])
        try begin()
        try kill()
        try alone.rounds(4)
        #expect(try alone.own().isEmpty)
        #expect(try shared.shown(1) == ["a OPEN"])
    }

    @Test func `adoption goes on after PostgreSQL was away`() throws {
        let server = try ThrowawayServer(["--durable"])
        let address = try server.address()
        let one = try ClusterGateway("one", address, siblings: ["two"])
        let two = try ClusterGateway("two", address, siblings: ["one"])
        for number in UInt64(1)...10 { one.answered(number) }
        for gateway in [one, two] { try gateway.rounds(2) }
        try PostgreSQLSession(address).script(
            "UPDATE ledger.node SET seen_at = now() - interval '16 s' WHERE name = 'one'")
        two.sees("one", responds: false)
        try server.perform(.kill)
        #expect(throws: PostgreSQLError.self) { () throws in try two.round() }
        try server.perform(.start)
        try two.rounds(4)
        #expect(two.recorder.cluster.handovers.calls == 10)
    }
}
