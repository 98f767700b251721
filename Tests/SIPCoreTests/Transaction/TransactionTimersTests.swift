// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

@Suite("Transaction timers, RFC 3261 Table 4")
struct TransactionTimersTests {
    @Test func `the standard values are those of the table`() {
        let timers = TransactionTimers.standard
        #expect(timers.doubledInterval(afterResends: 0) == .milliseconds(500))
        #expect(timers.t2 == .seconds(4))
        #expect(timers.t4 == .seconds(5))
        #expect(timers.transactionTimeout == .seconds(32))
        #expect(timers.d == .seconds(32))
        #expect(timers.c > .seconds(180))
        #expect(timers.tryingDelay == .milliseconds(3500))
    }

    @Test func `everything follows T1`() {
        let timers = TransactionTimers(t1: .milliseconds(10), t2: .milliseconds(80))
        #expect(timers.transactionTimeout == .milliseconds(640))
        #expect(timers.tryingDelay == .milliseconds(70))
        #expect(
            (0..<5).map { timers.cappedInterval(afterResends: $0) } == [10, 20, 40, 80, 80].map { .milliseconds($0) })
    }

    @Test(arguments: [
        (Duration.zero, TimerDelay.milliseconds(1)),
        (.seconds(-3), .milliseconds(1)),
        (.microseconds(1999), .milliseconds(1)),
        (.seconds(1_000_000_000), .milliseconds(4_294_966_000)),
    ])
    func `a duration is cut to whole milliseconds within bounds`(given: Duration, kept: TimerDelay) {
        #expect(TransactionTimers(t4: given).t4 == kept)
    }

    @Test func `a T1 above T2 sends the 100 at once`() {
        #expect(TransactionTimers(t1: .seconds(5)).tryingDelay == .zero)
    }

    @Test func `no events ever run two timers of one transaction in one slot`() {
        var random = RepeatableRandom(seed: 1)
        for _ in 0..<2000 {
            let isReliable = random.next() % 2 == 0
            expectSlotsHold(
                InviteServerTransaction(timers: .standard, isReliable: isReliable), allServerEvents, &random)
            expectSlotsHold(
                InviteClientTransaction(timers: .standard, isReliable: isReliable), allClientEvents, &random)
            expectSlotsHold(
                NonInviteServerTransaction(timers: .standard, isReliable: isReliable), allServerEvents, &random)
            expectSlotsHold(
                NonInviteClientTransaction(timers: .standard, isReliable: isReliable), allClientEvents, &random)
        }
    }

    /// Drives a machine with random events, of which only running timers fire, and watches its timers.
    private func expectSlotsHold<Machine: TransactionMachine>(
        _ fresh: Machine, _ events: [Machine.Event], _ random: inout RepeatableRandom
    ) {
        var machine = fresh
        var running: Set<TransactionTimer> = []
        perform(machine.start(), on: &running)
        for _ in 0..<12 {
            let event = events[Int(random.next() % UInt64(events.count))]
            if let timer = firedTimer(event), running.remove(timer) == nil { continue }
            perform(machine.receive(event), on: &running)
            #expect(Set(running.map(\.slot)).count == running.count, "\(running) after \(event)")
        }
    }

    private func firedTimer<Event>(_ event: Event) -> TransactionTimer? {
        if case .fired(let timer) = event as? ServerTransactionEvent { return timer }
        if case .fired(let timer) = event as? ClientTransactionEvent { return timer }
        return nil
    }

    private func perform(_ effects: TransactionEffects, on running: inout Set<TransactionTimer>) {
        for effect in effects {
            switch effect {
            case .start(let timer, _): running.insert(timer)
            case .stop(let timers): running = running.filter { !timers.contains($0) }
            case .terminate: running = []
            default: break
            }
        }
    }
}
