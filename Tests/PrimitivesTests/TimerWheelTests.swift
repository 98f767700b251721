// SPDX-License-Identifier: Apache-2.0

import Primitives
import SeededRandom
import Testing

@Suite("Timer wheel")
struct TimerWheelTests {
    func drain(_ wheel: inout TimerWheel, to now: UInt64) -> [UInt64] {
        var fired: [UInt64] = []
        advance(&wheel, to: now) { timer, _ in fired.append(timer.id) }
        return fired
    }

    /// Fires every timer due by a time, step by step as the worker does.
    private func advance(
        _ wheel: inout TimerWheel, to now: UInt64, fire: (TimerWheel.Timer, inout TimerWheel) -> Void
    ) {
        while let deadline = wheel.nextDeadline, deadline <= now {
            while let timer = wheel.popDue(by: now) { fire(timer, &wheel) }
        }
    }

    @Test func `timers fire by deadline and not before`() {
        var wheel = TimerWheel(now: 1000)
        _ = wheel.schedule(at: 1500, id: 1, kind: 0)
        _ = wheel.schedule(at: 33_000, id: 2, kind: 0)
        _ = wheel.schedule(at: 1001, id: 3, kind: 0)
        #expect(drain(&wheel, to: 1000).isEmpty)
        #expect(drain(&wheel, to: 1499) == [3])
        #expect(drain(&wheel, to: 1500) == [1])
        #expect(drain(&wheel, to: 32_999).isEmpty)
        #expect(drain(&wheel, to: 40_000) == [2])
        #expect(wheel.count == 0)
    }

    @Test func `a timer carries what it was given`() throws {
        var wheel = TimerWheel(now: 0)
        _ = wheel.schedule(at: 7, id: .max, kind: 3)
        let due = wheel.popDue(by: 10)
        let timer = try #require(due)
        #expect(timer.id == .max)
        #expect(timer.kind == 3)
        #expect(timer.deadline == 7)
    }

    @Test func `timers of one deadline fire in the order they were scheduled`() {
        var wheel = TimerWheel(now: 0)
        _ = wheel.schedule(at: 5000, id: 1, kind: 0)
        #expect(drain(&wheel, to: 4990).isEmpty)
        _ = wheel.schedule(at: 5000, id: 2, kind: 0)
        #expect(drain(&wheel, to: 4999).isEmpty)
        _ = wheel.schedule(at: 5000, id: 3, kind: 0)
        #expect(drain(&wheel, to: 5000) == [1, 2, 3])
    }

    @Test func `a cancelled timer does not fire and cannot be cancelled twice`() {
        var wheel = TimerWheel(now: 0)
        let handle = wheel.schedule(at: 10, id: 1, kind: 0)
        #expect(wheel.cancel(handle) == true)
        #expect(wheel.cancel(handle) == false)
        #expect(wheel.count == 0)
        #expect(wheel.nextDeadline == nil)
        #expect(drain(&wheel, to: 100).isEmpty)
    }

    @Test func `an old handle does not cancel the timer that took its place`() {
        var wheel = TimerWheel(now: 0)
        let old = wheel.schedule(at: 10, id: 1, kind: 0)
        #expect(drain(&wheel, to: 10) == [1])
        _ = wheel.schedule(at: 20, id: 2, kind: 0)
        #expect(wheel.cancel(old) == false)
        #expect(drain(&wheel, to: 20) == [2])
    }

    @Test func `the handle for none cancels nothing`() {
        var wheel = TimerWheel(now: 0)
        #expect(wheel.cancel(.none) == false)
        _ = wheel.schedule(at: 1, id: 1, kind: 0)
        #expect(wheel.cancel(.none) == false)
        #expect(wheel.count == 1)
    }

    @Test func `a deadline in the past is due at once`() {
        var wheel = TimerWheel(now: 1000)
        _ = wheel.schedule(at: 3, id: 1, kind: 0)
        #expect(wheel.nextDeadline == 1000)
        #expect(drain(&wheel, to: 1000) == [1])
    }

    @Test func `a timer that restarts itself goes on`() {
        var wheel = TimerWheel(now: 0)
        _ = wheel.schedule(at: 500, id: 1, kind: 0)
        var fired: [UInt64] = []
        advance(&wheel, to: 4000) { timer, wheel in
            fired.append(timer.deadline)
            _ = wheel.schedule(at: timer.deadline * 2, id: timer.id, kind: timer.kind)
        }
        #expect(fired == [500, 1000, 2000, 4000])
        #expect(wheel.count == 1)
    }

    @Test func `a clock that runs backwards changes nothing`() {
        var wheel = TimerWheel(now: 1000)
        _ = wheel.schedule(at: 1100, id: 1, kind: 0)
        #expect(drain(&wheel, to: 10).isEmpty)
        #expect(drain(&wheel, to: 1100) == [1])
    }

    @Test(arguments: [UInt64.max, UInt64.max - 1, 1 << 63, 1 << 42])
    func `no deadline is too far away`(deadline: UInt64) {
        var wheel = TimerWheel(now: 12_345)
        _ = wheel.schedule(at: deadline, id: 1, kind: 0)
        #expect(drain(&wheel, to: deadline - 1).isEmpty)
        #expect(drain(&wheel, to: deadline) == [1])
    }

    @Test func `many timers of one time move down in steps, between which others are scheduled and cancelled`() {
        var wheel = TimerWheel(now: 0)
        var handles: [TimerHandle] = []
        for id in 0..<2_000 as Range<UInt64> { handles.append(wheel.schedule(at: 5_000 + id % 7, id: id, kind: 0)) }
        var (steps, fired) = (0, [UInt64]())
        while let deadline = wheel.nextDeadline, deadline <= 4_500 {
            let due = wheel.popDue(by: 4_500)
            #expect(due == nil)
            steps += 1
            if steps == 3 {
                for id in stride(from: 0, to: 2_000, by: 3) { wheel.cancel(handles[id]) }
                _ = wheel.schedule(at: 5_003, id: 9_000, kind: 0)
                _ = wheel.schedule(at: 4_400, id: 9_001, kind: 0)
            }
            if steps > 3 { fired += drain(&wheel, to: 4_500) }
        }
        #expect(steps > 3)
        #expect(fired == [9_001])
        let rest = drain(&wheel, to: 6_000)
        #expect(Set(rest) == Set((0..<2_000).filter { $0 % 3 != 0 } + [9_000]))
        #expect(rest.count == Set(rest).count)
        #expect(wheel.count == 0)
    }

    /// Compares the wheel with a plain sorted list under random scheduling, cancelling and waiting.
    @Test(arguments: 1...40)
    func `the wheel agrees with a sorted list`(seed: UInt64) {
        var random = RepeatableRandom(seed: seed)
        var now = random.next() >> (seed % 3 == 0 ? 2 : 30)
        var wheel = TimerWheel(now: now, capacity: seed % 2 == 0 ? 64 : 0)
        var reference: [(deadline: UInt64, id: UInt64, handle: TimerHandle)] = []
        for id in 0..<UInt64(600) {
            switch random.next() % 8 {
            case 0..<4:
                let delay = random.next() >> (64 - random.next() % 24)
                let handle = wheel.schedule(at: now + delay, id: id, kind: 0)
                let place = reference.firstIndex { $0.deadline > now + delay } ?? reference.endIndex
                reference.insert((now + delay, id, handle), at: place)
            case 4, 5:
                guard let chosen = reference.indices.randomElement(using: &random) else { continue }
                #expect(wheel.cancel(reference.remove(at: chosen).handle) == true)
            default:
                now += random.next() >> (64 - random.next() % 22)
                let due = reference.prefix { $0.deadline <= now }
                reference.removeFirst(due.count)
                #expect(drain(&wheel, to: now) == due.map(\.id))
            }
            #expect(wheel.count == reference.count)
            #expect((wheel.nextDeadline == nil) == reference.isEmpty)
            #expect(wheel.nextDeadline ?? 0 <= reference.first?.deadline ?? 0)
        }
    }

    @Test func `sleeping until the next deadline over and over reaches every timer`() {
        var wheel = TimerWheel(now: 0)
        for id in 1...50 as ClosedRange<UInt64> { _ = wheel.schedule(at: id * id * id * 37, id: id, kind: 0) }
        var wakings = 0
        var fired: [UInt64] = []
        while let next = wheel.nextDeadline {
            wakings += 1
            fired += drain(&wheel, to: next)
        }
        #expect(fired == Array(1...50))
        #expect(wakings <= 50 * 5)
    }
}
