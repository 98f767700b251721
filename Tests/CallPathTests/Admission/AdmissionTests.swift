// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import Testing

@Suite("Limits of a trunk")
struct AdmissionTests {
    @Test func `a burst passes at once, then the rate holds over a long time`() {
        let limit = RateLimit(perSecond: 10, burst: 5)
        var granted = 0
        for millisecond in 0..<100_000 as Range<UInt64> where limit.take(at: 1000 + millisecond) == nil { granted += 1 }
        #expect(granted == 5 + 1000 - 1)
    }

    @Test func `a refused request gets the seconds to wait`() {
        let limit = RateLimit(perSecond: 0.25, burst: 1)
        #expect(limit.take(at: 1000) == nil)
        #expect(limit.take(at: 1000) == 4)
        #expect(limit.take(at: 3500) == 2)
        #expect(limit.take(at: 5000) == nil)
    }

    @Test func `several threads never get more than the limit allows`() async {
        let limit = RateLimit(perSecond: 100, burst: 50)
        let granted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask { (0..<2000 as Range<UInt64>).count { limit.take(at: 10_000 + $0) == nil } }
            }
            return await group.reduce(0, +)
        }
        #expect((200...250).contains(granted))
    }

    @Test func `settings made anew keep what a trunk has used up, until its limits are others`() {
        let register = TrunkRegister()
        let limits = TrunkAdmission.Limits(callsPerSecond: 1, burst: 2, mostCalls: 100)
        for _ in 0..<2 { #expect(register.admission(of: "carrier", limits).admit(at: 1000) == .admitted) }
        #expect(register.admission(of: "carrier", limits).admit(at: 1000) == .refused(.rate, retryAfter: 1))
        #expect(register.admission(of: "other", limits).admit(at: 1000) == .admitted)
        var wider = limits
        wider.burst = 3
        let changed = register.admission(of: "carrier", wider)
        #expect(changed.admit(at: 1000) == .admitted)
        #expect(changed.calls === register.admission(of: "carrier", limits).calls)
    }

    @Test func `a trunk without limits brings what it likes`() {
        let admission = TrunkAdmission()
        for _ in 0..<10_000 { #expect(admission.admit(at: 0) == .admitted) }
    }
}

@Suite("Calls in progress")
struct CallsInProgressTests {
    private func call(_ number: UInt64) -> CallIdentifier { CallIdentifier(high: number &* 7919, low: number) }

    @Test func `a call counts once from its beginning to its end`() {
        let calls = CallsInProgress()
        let trunk = TrunkCalls()
        for _ in 0..<3 { calls.begin(call(1), on: trunk, at: 0) }
        #expect(calls.count == 1 && trunk.count == 1)
        for _ in 0..<3 { calls.end(call(1)) }
        #expect(calls.count == 0 && trunk.count == 0)
    }

    @Test func `the end of an unknown call means nothing`() {
        let calls = CallsInProgress()
        let trunk = TrunkCalls()
        calls.begin(call(2), on: trunk, at: 0)
        calls.end(call(1))
        #expect(calls.count == 1 && trunk.count == 1)
    }

    @Test func `past the capacity calls go uncounted`() {
        let calls = CallsInProgress(capacity: 2)
        for number in 0..<5 as Range<UInt64> { calls.begin(call(number), on: TrunkCalls(), at: 0) }
        #expect(calls.count == 2)
    }

    @Test func `calls that never ended expire, and only those that are old enough`() {
        let calls = CallsInProgress()
        let trunk = TrunkCalls()
        for number in 0..<1000 as Range<UInt64> { calls.begin(call(number), on: trunk, at: number < 400 ? 0 : 50_000) }
        for round in 0..<64 { calls.expire(round: round, startedBefore: 10_000) }
        #expect(calls.count == 600 && trunk.count == 600)
    }

    @Test func `several threads count as one would`() async {
        let calls = CallsInProgress()
        let trunk = TrunkCalls()
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 as Range<UInt64> {
                group.addTask {
                    for number in 0..<20_000 as Range<UInt64> {
                        let name = CallIdentifier(high: 1, low: thread * 100_000 + number)
                        calls.begin(name, on: trunk, at: 0)
                        if number % 10 != 0 { calls.end(name) }
                    }
                }
            }
        }
        #expect(calls.count == 8000 && trunk.count == 8000)
    }
}
