// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import Synchronization
import Testing

/// What a sibling gateway has seen of a call that is open here, and what it is sent of others.
@Suite("Updates of sibling gateways")
struct ForeignUpdateTests {
    private static let call = CallIdentifier(high: 7, low: 9)

    private func update(_ kind: CallUpdate.Kind, _ seconds: Int64, status: UInt16 = 0) -> CallUpdate {
        CallUpdate(
            kind: kind, direction: .inbound, call: Self.call,
            wallMicroseconds: LedgerFixture.Clock.start + seconds * 1_000_000, status: status, caller: 61_491_570_156)
    }

    /// The outcome of the only call, with the seconds of its 2xx and of its end after the INVITE.
    private struct Account: Equatable {
        var outcome: String?
        var answered: Int64?
        var ended: Int64?
    }

    private func account(_ fixture: LedgerFixture) throws -> Account {
        let calls = try fixture.calls()
        let call = try #require(calls.count == 1 ? calls.first : nil)
        func seconds(_ time: Int64?) -> Int64? { time.map { ($0 - LedgerFixture.Clock.start) / 1_000_000 } }
        return Account(outcome: call.outcome, answered: seconds(call.answeredAt), ended: seconds(call.endedAt))
    }

    private func fixture() throws -> LedgerFixture {
        let fixture = try LedgerFixture()
        fixture.ring.append(update(.invite, 0), texts: CallTexts(sipCallID: Array("c".utf8)))
        return fixture
    }

    @Test func `a call that ends at a sibling has its outcome and its duration`() throws {
        let fixture = try fixture()
        fixture.ring.append(update(.provisional, 1, status: 180))
        fixture.ring.append(update(.answered, 5, status: 200))
        try fixture.recorder.drain()
        #expect(fixture.recorder.cluster.take([update(.bye, 65)]) != nil)
        try fixture.recorder.drain()
        #expect(try account(fixture) == Account(outcome: "ANSWERED", answered: 5, ended: 65))
        #expect(fixture.recorder.totals.openCalls == 0)
        #expect(fixture.recorder.cluster.appliedForeign == 1)
    }

    @Test func `an update that comes before the INVITE was read waits for it`() throws {
        let fixture = try fixture()
        _ = fixture.recorder.cluster.take([update(.answered, 5, status: 200), update(.bye, 9)])
        try fixture.recorder.drain()
        #expect(try account(fixture) == Account(outcome: "ANSWERED", answered: 5, ended: 9))
    }

    @Test func `an INVITE that waited while a sibling carried the call has the times of the sibling`() throws {
        let fixture = try LedgerFixture()
        fixture.ring.append(update(.invite, 40), texts: CallTexts(sipCallID: Array("c".utf8)))
        fixture.ring.append(update(.answered, 40, status: 200))
        fixture.ring.append(update(.bye, 41))
        _ = fixture.recorder.cluster.take([
            update(.invite, 0), update(.provisional, 1, status: 180), update(.answered, 5, status: 200),
            update(.bye, 9),
        ])
        try fixture.recorder.drain()
        #expect(try account(fixture) == Account(outcome: "ANSWERED", answered: 5, ended: 9))
        let row = try #require(try fixture.calls().first)
        #expect(row.inviteAt == LedgerFixture.Clock.start && row.ringSeconds == 4)
    }

    @Test func `a repeated update changes nothing, and begins no call`() throws {
        let fixture = try fixture()
        fixture.ring.append(update(.answered, 5, status: 200))
        for _ in 0..<3 { _ = fixture.recorder.cluster.take([update(.bye, 9), update(.invite, 0)]) }
        try fixture.recorder.drain()
        let rows = try fixture.rows()
        _ = fixture.recorder.cluster.take([update(.bye, 11), update(.invite, 0), update(.answered, 5)])
        try fixture.recorder.drain()
        #expect(try fixture.rows() == rows)
        #expect(try fixture.calls().count == 1)
    }

    @Test func `the second copy of an update changes nothing, though the call has gone on`() throws {
        let fixture = try fixture()
        let (challenge, now) = (update(.failed, 1, status: 401), LedgerFixture.Clock.start)
        // By datagram.
        _ = fixture.recorder.cluster.take([ForeignUpdate(challenge, age: 0, now: now + 1_000_000)])
        try fixture.recorder.drain()
        fixture.ring.append(update(.invite, 1), texts: CallTexts(sipCallID: Array("c".utf8)))
        fixture.ring.append(update(.provisional, 2, status: 180))
        try fixture.recorder.drain()
        // Through the shared ledger, whose time is a little later.
        _ = fixture.recorder.cluster.take([ForeignUpdate(challenge, age: 0, now: now + 2_500_000)])
        try fixture.recorder.drain()
        #expect(try fixture.calls().first?.refusedAt == nil)
        #expect(try fixture.calls().first?.attempts == 2)
    }

    @Test func `a batch counts as stored after its transaction`() throws {
        let fixture = try fixture()
        let batch = try #require(fixture.recorder.cluster.take([update(.answered, 5, status: 200)]))
        #expect(fixture.recorder.cluster.storedBatch < batch)
        try fixture.recorder.drain()
        #expect(fixture.recorder.cluster.storedBatch == batch)
    }

    @Test func `a batch for another gateway's call counts as stored, because nothing is to be stored of it`() throws {
        let fixture = try fixture()
        var other = update(.bye, 5)
        other.call = CallIdentifier(high: 1, low: 1)
        let batch = try #require(fixture.recorder.cluster.take([other]))
        try fixture.recorder.drain()
        #expect(fixture.recorder.cluster.storedBatch == batch)
    }

    @Test func `siblings get every update of the ring, and which calls are not this gateway's`() throws {
        let fixture = try fixture()
        let reported = Mutex<[ReportedUpdate]>([])
        fixture.recorder.cluster.onUpdates { updates in reported.withLock { $0 += updates } }
        fixture.ring.append(update(.answered, 5, status: 200))
        var other = update(.bye, 6)
        other.call = CallIdentifier(high: 1, low: 2)
        fixture.ring.append(other)
        _ = fixture.recorder.cluster.take([update(.bye, 9)])
        try fixture.recorder.drain()
        let all = reported.withLock { $0 }
        #expect(all.map(\.update.kind) == [.invite, .answered, .bye])
        #expect(all.map(\.isOwn) == [true, true, false])
    }

    @Test(arguments: [true, false])
    func `updates of one call keep their order, whichever gateway saw them`(isAnsweredElsewhere: Bool) throws {
        let fixture = try fixture()
        let (answered, bye) = (update(.answered, 5, status: 200), update(.bye, 6))
        fixture.ring.append(isAnsweredElsewhere ? bye : answered)
        _ = fixture.recorder.cluster.take([isAnsweredElsewhere ? answered : bye])
        try fixture.recorder.drain()
        #expect(try account(fixture) == Account(outcome: "ANSWERED", answered: 5, ended: 6))
    }

    @Test func `updates of one time keep the order of their arrival`() throws {
        let fixture = try fixture()
        _ = fixture.recorder.cluster.take([update(.provisional, 5, status: 180), update(.answered, 5, status: 200)])
        _ = fixture.recorder.cluster.take([update(.bye, 5)])
        try fixture.recorder.drain()
        #expect(try account(fixture) == Account(outcome: "ANSWERED", answered: 5, ended: 5))
        #expect(try fixture.calls().first?.ringingAt != nil)
    }

    @Test func `a 2xx of a sibling that comes after the BYE ends the call at the BYE`() throws {
        let fixture = try fixture()
        fixture.ring.append(update(.bye, 6))
        try fixture.recorder.drain()
        _ = fixture.recorder.cluster.take([update(.answered, 5, status: 200)])
        try fixture.recorder.drain()
        #expect(try account(fixture) == Account(outcome: "ANSWERED", answered: 5, ended: 6))
    }

    @Test func `the INVITE of a stored call that a sibling had earlier changes its row too`() throws {
        let fixture = try LedgerFixture()
        fixture.ring.append(update(.invite, 4), texts: CallTexts(sipCallID: Array("c".utf8)))
        try fixture.recorder.drain()
        _ = fixture.recorder.cluster.take([update(.invite, 1)])
        try fixture.recorder.drain()
        #expect(try fixture.calls().first?.inviteAt == LedgerFixture.Clock.start + 1_000_000)
    }

    @Test func `a 2xx repeated after the BYE of a sibling leaves no call open`() throws {
        let fixture = try fixture()
        fixture.ring.append(update(.provisional, 1, status: 180))
        fixture.ring.append(update(.answered, 7, status: 200))
        _ = fixture.recorder.cluster.take([update(.bye, 6)])
        try fixture.recorder.drain()
        _ = fixture.recorder.cluster.take([update(.answered, 5, status: 200)])
        try fixture.recorder.drain()
        #expect(try account(fixture) == Account(outcome: "ANSWERED", answered: 5, ended: 6))
        #expect(try fixture.keys().count == 2)
    }

    @Test func `both gateways with an INVITE account for its call alike`() throws {
        let (a, b) = (try fixture(), try fixture())
        let answered = update(.answered, 5, status: 200)
        b.ring.append(answered)
        try a.recorder.drain()
        _ = a.recorder.cluster.take([answered])
        a.ring.append(update(.bye, 30))
        try a.recorder.drain()
        try b.recorder.drain()
        _ = b.recorder.cluster.take([update(.bye, 30)])
        try b.recorder.drain()
        #expect(try a.keys() == b.keys())
        #expect(try a.calls().first == b.calls().first)
    }
}

extension SiblingLedger {
    /// Takes updates with times of this gateway's clock.
    func take(_ updates: [CallUpdate]) -> UInt64? {
        take(updates.map { ForeignUpdate($0, age: 0, now: $0.wallMicroseconds) })
    }
}
