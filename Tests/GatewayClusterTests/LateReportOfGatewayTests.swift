// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import PostgreSQL
import Testing

@testable import GatewayCluster

/// Requirements: what a gateway saw in its last second counts once it is back, though the call has ended at another one.
@Suite("Late reports of a gateway that comes back")
struct LateReportOfGatewayTests: ThreeGateways {
    let gateways: Trio
    private let id = ClusterGateway.call(1).description

    init() throws {
        gateways = try Trio()
        a.invite(1)
        for gateway in all { try gateway.rounds(2) }
        for gateway in all { gateway.advance(70) }
    }

    /// Whether the row that reports read has these seconds; the age of a report is measured by the clock of the server,
    /// which goes on during the test.
    private func isShown(rang: Int64?, talked: Int64?) throws -> Bool {
        let row = try shared.look.execute(
            "SELECT ring_seconds, call_seconds FROM ledger.calls WHERE call_id = $1", [.text(id)]
        ).first
        func fits(_ value: Int64?, _ expected: Int64?) -> Bool {
            guard let value, let expected else { return value == nil && expected == nil }
            return abs(value - expected) <= 2
        }
        let (ring, talk) = (try row?.integer(0), try row?.integer(1))
        return fits(ring, rang) && fits(talk, talked)
    }

    @Test func `a 180 that only the dead gateway saw is displayed late, once`() throws {
        c.sees(.provisional, 1, at: 2, status: 180)
        a.sees(.cancelled, 1, at: 20)
        a.sees(.failed, 1, at: 21, status: 487)
        try a.rounds(2)
        #expect(try a.keys() == ["missed:\(id)"])
        #expect(try isShown(rang: nil, talked: nil))
        _ = try a.sendEvents()
        try c.restart()
        try c.rounds(2)
        try a.rounds(3)
        #expect(try a.sendEvents() == ["displayed:\(id)"])
        #expect(try isShown(rang: 18, talked: nil), "the shared ledger has the ring time too")
        try a.rounds(3)
        #expect(try a.sendEvents().isEmpty)
        #expect(try c.own().isEmpty)
    }

    @Test func `the first 2xx that only the dead gateway saw begins the duration`() throws {
        c.sees(.answered, 1, at: 5, status: 200)
        a.sees(.answered, 1, at: 19, status: 200)
        a.sees(.bye, 1, at: 65)
        try a.rounds(2)
        #expect(try isShown(rang: nil, talked: 46))
        try c.restart()
        try c.rounds(2)
        try a.rounds(3)
        #expect(try isShown(rang: nil, talked: 60))
    }

    @Test func `the adopter of a call has what its gateway saw before it died`() throws {
        a.sees(.provisional, 1, at: 2, status: 180)
        a.sees(.answered, 1, at: 5, status: 200)
        try kill()
        try b.rounds(3)
        b.sees(.bye, 1, at: 25)
        try b.rounds(2)
        for gateway in all { gateway.advance(120) }
        try b.rounds(2)
        #expect(try b.account(1) == "ANSWERED after 0 s")
        try a.restart()
        try a.rounds(4)
        try b.rounds(4)
        try a.rounds(2)
        #expect(try shared.shown(1) == ["b ANSWERED"])
        #expect(try isShown(rang: 3, talked: 20))
        #expect(try Set(b.keys()) == ["displayed:\(id)", "call_seen:\(id)"])
        #expect(try !a.keys().contains("call_seen:\(id)"))
    }
}
