// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import Synchronization
import Testing

@testable import GatewayCluster

/// Requirements: a gateway that was adopted and comes back loses nothing and doubles nothing.
@Suite("The return of an adopted gateway")
struct ReturnOfGatewayTests {
    let shared: SharedDatabase
    let a: ClusterGateway
    let b: ClusterGateway

    init() throws {
        shared = try SharedDatabase()
        a = try ClusterGateway("a", shared.address, siblings: ["b"])
        b = try ClusterGateway("b", shared.address, siblings: ["a"])
        a.answered(1)
        for gateway in [a, b] { try gateway.rounds(2) }
    }

    private func adopt() throws {
        try shared.silence("a")
        b.sees("a", responds: false)
        try b.rounds(3)
        #expect(try shared.shown(1) == ["b OPEN"])
    }

    private var seen: String { "call_seen:\(ClusterGateway.call(1).description)" }

    @Test(arguments: [true, false])
    func `a call that is open at the adopter stays there, and its end closes the row of the gateway`(
        _ isKilled: Bool
    ) throws {
        try adopt()
        if isKilled { try a.restart() }
        try a.rounds(2)
        #expect(a.recorder.cluster.handovers.away == 1, "a knows that its call goes on at b")
        #expect(a.recorder.totals.openCalls == 0, "and does not go on with it")
        b.sees(.bye, 1, at: 65)
        try b.rounds(2)
        try a.rounds(4)
        #expect(try a.account(1) == "ANSWERED after 60 s", "a has taken over the end")
        #expect(a.recorder.cluster.handovers.away == 0)
        #expect(
            try a.keys().filter { $0 == seen }.isEmpty && b.keys().filter { $0 == seen }.count == 1, "one event, at b")
        #expect(try shared.shown(1) == ["b ANSWERED"])
        let open = try shared.integer("SELECT count(*) FROM ledger.call WHERE ended_at IS NULL")
        #expect(open == 0, "neither row stays open")
    }

    @Test func `a call that the adopter has ended is closed with that result, without another event`() throws {
        try adopt()
        b.sees(.bye, 1, at: 65)
        try b.rounds(2)
        try a.restart()
        try a.rounds(4)
        #expect(try a.account(1) == "ANSWERED after 60 s")
        #expect(try !a.keys().contains(seen))
        #expect(try shared.calls().map(\.node) == ["b"])
    }

    @Test func `an end that the gateway has seen and not shipped replaces an open call of the adopter`() throws {
        a.sees(.bye, 1, at: 45)
        try adopt()
        try a.restart()
        try a.rounds(2)
        try b.rounds(4)
        #expect(try shared.shown(1) == ["a ANSWERED"])
        #expect(try b.account(1) == "ANSWERED after 40 s")
        #expect(try a.keys().contains(seen))
        #expect(try !b.keys().contains(seen))
    }

    @Test func `a seen end replaces an assumed one, and not the other way round`() throws {
        try adopt()
        b.advance(20_000)
        try b.rounds(2)
        #expect(try b.account(1) == "ANSWERED", "its end was assumed at the deadline")
        a.sees(.bye, 1, at: 45)
        try a.restart()
        try a.rounds(2)
        #expect(try shared.shown(1) == ["a ANSWERED"], "a has seen the BYE")
        #expect(try shared.calls().map(\.callSeconds) == [40])
        try b.rounds(3)
        #expect(try shared.shown(1) == ["a ANSWERED"], "later rounds of b change nothing")
    }

    @Test func `what the gateway knew and had not shipped reaches the adopter by its siblings`() throws {
        let reports = Reports()
        a.recorder.cluster.onUpdates { reports.add($0.map(\.update)) }
        a.invite(2)
        try a.rounds(2)
        reports.take()
        a.sees(.answered, 2, at: 9, status: 200)
        try a.recorder.drain()
        reports.take()
        try adopt()
        try a.rounds(2)
        #expect(b.recorder.cluster.take(reports.take().map(ForeignUpdate.init(seenHere:))) != nil)
        b.sees(.bye, 2, at: 69)
        try b.rounds(2)
        #expect(try b.account(2) == "ANSWERED after 60 s")
    }

    @Test func `an INVITE that is repeated at a gateway whose call is away begins no second one`() throws {
        try adopt()
        try a.rounds(2)
        a.invite(1)
        try a.rounds(1)
        #expect(try a.own().count == 1)
        #expect(try shared.calls().count == 1)
    }

    @Test func `a gateway that comes back after an hour ends no call by its deadline before it has looked`() throws {
        a.invite(2)
        try a.rounds(2)
        try adopt()
        b.sees(.answered, 2, at: 9, status: 200)
        b.sees(.bye, 2, at: 69)
        try b.rounds(2)
        a.advance(3_600)
        try a.restart()
        try a.recorder.drain()
        #expect(try a.account(2) == "OPEN")
        try a.rounds(4)
        #expect(try a.account(2) == "ANSWERED after 60 s")
        #expect(try a.keys().filter { $0.hasPrefix("missed") || $0.hasPrefix("error") }.isEmpty)
    }

    @Test func `calls come back when the adopter dies`() throws {
        try adopt()
        try a.rounds(2)
        #expect(a.recorder.cluster.handovers.away == 1)
        try shared.silence("b")
        a.sees("b", responds: false)
        try a.rounds(3)
        #expect(try shared.shown(1) == ["a OPEN"])
        a.sees(.bye, 1, at: 65)
        try a.rounds(2)
        #expect(try shared.shown(1) == ["a ANSWERED"])
        #expect(try a.account(1) == "ANSWERED after 60 s")
    }

    @Test func `rows that waited on the disk follow`() throws {
        a.answered(7)
        a.sees(.bye, 7, at: 20)
        try a.recorder.drain()
        try adopt()
        try a.restart()
        try a.rounds(2)
        #expect(try shared.shown(7) == ["a ANSWERED"])
    }
}

/// Updates that a recorder reports to its siblings.
final class Reports: Sendable {
    private let updates = Mutex<[CallUpdate]>([])
    func add(_ more: [CallUpdate]) { updates.withLock { $0 += more } }
    @discardableResult
    func take() -> [CallUpdate] {
        updates.withLock { updates in
            defer { updates = [] }
            return updates
        }
    }
}
