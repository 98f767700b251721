// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SeededRandom
import Testing

@testable import GatewayStore

@Suite("Ledger: calls whose end nobody tells")
struct CallDeadlinesTests {
    private static let limits: CallStateMachine.Limits = {
        var limits = CallStateMachine.Limits(answered: 600)
        limits.redial = 5_000_000
        return limits
    }()

    private static func call(_ row: Int64, at time: Int64) -> LedgerCall {
        let name = CallIdentifier(high: 1, low: UInt64(row))
        let record = CallRecord(call: name, direction: .outbound, reason: .outbound, inviteAt: time)
        return LedgerCall(row: row, callID: name.description, record: record, isStored: false)
    }

    private static func update(
        _ kind: CallUpdate.Kind, of call: LedgerCall, at time: Int64, _ status: UInt16 = 0
    ) -> CallUpdate {
        CallUpdate(
            kind: kind, direction: .outbound, call: call.name, wallMicroseconds: time, status: status,
            reason: .outbound)
    }

    private static func rows(_ deadlines: inout CallDeadlines, dueBy now: Int64) -> Set<Int64> {
        var rows: Set<Int64> = []
        while let call = deadlines.popDue(by: now) { rows.insert(call.row) }
        return rows
    }

    @Test(
        arguments: [
            // Fifteen minutes without a final response.
            (word: nil, status: 0, after: 900),
            // RFC 3261 §17.1.1.2: the INVITE after a challenge is awaited for 64 × T1.
            (word: .failed, status: 407, after: 1 + 32),
            // RFC 3261 §9.1: after a CANCEL the final response, for twice that.
            (word: .cancelled, status: 0, after: 1 + 64),
            (word: .answered, status: 200, after: 1 + 600),
        ] as [(word: CallUpdate.Kind?, status: UInt16, after: Int64)])
    func `a call is due when what it waits for has not come, and not a moment before`(
        word: CallUpdate.Kind?, status: UInt16, after: Int64
    ) {
        var deadlines = CallDeadlines()
        let start = LedgerFixture.Clock.start + 7
        let call = Self.call(1, at: start)
        deadlines.follow(call, limits: Self.limits)
        if let word {
            _ = call.machine.receive(Self.update(word, of: call, at: start + 1_000_000, status))
            deadlines.follow(call, limits: Self.limits)
        }
        let due = start + after * 1_000_000
        #expect(call.machine.deadline(Self.limits) == due)
        #expect(Self.rows(&deadlines, dueBy: due - 1) == [])
        // Whole milliseconds.
        #expect(Self.rows(&deadlines, dueBy: due + 1_000) == [1])
        #expect(Self.rows(&deadlines, dueBy: .max) == [])
    }

    @Test func `a call that has ended is followed no more`() {
        var deadlines = CallDeadlines()
        let call = Self.call(1, at: 0)
        deadlines.follow(call, limits: Self.limits)
        _ = call.machine.receive(Self.update(.failed, of: call, at: 5, 486))
        deadlines.follow(call, limits: Self.limits)
        #expect(Self.rows(&deadlines, dueBy: .max) == [])
    }

    @Test func `a call in time's last moment waits for it`() {
        var deadlines = CallDeadlines()
        deadlines.follow(Self.call(1, at: .max - 1), limits: Self.limits)
        #expect(Self.rows(&deadlines, dueBy: .max - 1_000_000) == [])
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `what is due is what a look at every call would find, however the clock goes`(seed: UInt64) {
        var chance = RepeatableRandom(seed: seed)
        var deadlines = CallDeadlines()
        var open: [LedgerCall] = []
        var now = LedgerFixture.Clock.start
        for row in 1...2_000 as ClosedRange<Int64> {
            let new = Self.call(row, at: now + Int64.random(in: -2_000_000...0, using: &chance))
            open.append(new)
            deadlines.follow(new, limits: Self.limits)
            if let call = open.randomElement(using: &chance) {
                let words: [(CallUpdate.Kind, UInt16)] = [
                    (.answered, 200), (.cancelled, 0), (.failed, 407), (.failed, 486), (.bye, 0), (.invite, 0),
                ]
                if let (kind, status) = words.randomElement(using: &chance) {
                    _ = call.machine.receive(Self.update(kind, of: call, at: now, status))
                    deadlines.follow(call, limits: Self.limits)
                }
            }
            // Seconds, now and then a quarter of an hour, and back.
            let step: ClosedRange<Int64> = row % 97 == 0 ? -1_000_000_000...900_000_000 : 0...3_000_000
            now += Int64.random(in: step, using: &chance)
            let due = Set(open.filter { isDue($0, at: now) }.map(\.row))
            #expect(Self.rows(&deadlines, dueBy: now) == due)
            open.removeAll { due.contains($0.row) || $0.machine.record.endedAt != nil }
        }
    }

    private func isDue(_ call: LedgerCall, at now: Int64) -> Bool {
        guard let deadline = call.machine.deadline(Self.limits) else { return false }
        return (deadline + 999) / 1_000 <= now / 1_000
    }
}
