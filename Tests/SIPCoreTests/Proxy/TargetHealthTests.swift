// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

@Suite("Health of a target")
struct TargetHealthTests {
    typealias Event = TargetHealth.Event

    /// A target after events one second apart, and the time of the last.
    private func after(
        _ events: [Event], _ change: (inout TargetHealthRules) -> Void = { _ in }
    ) -> (health: TargetHealth, now: UInt64) {
        var rules = TargetHealthRules()
        change(&rules)
        var health = TargetHealth(rules: rules)
        var now: UInt64 = 1_000_000
        for event in events {
            now += 1000
            _ = health.receive(event, at: now)
        }
        return (health, now)
    }

    static let rows: [(why: String, events: [Event], isUp: Bool)] = [
        ("a target is up until something says otherwise", [], true),
        ("one lost probe is nothing", [.probeFailed], true),
        ("two lost probes are not three", [.probeFailed, .probeFailed], true),
        ("three in a row are", [.probeFailed, .probeFailed, .probeFailed], false),
        (
            "a response in between begins the count anew", [.probeFailed, .probeFailed, .probeSucceeded, .probeFailed],
            true
        ),
        ("a response to a call counts as well", [.probeFailed, .probeFailed, .responded, .probeFailed], true),
        ("one silent call may be a lost datagram", [.silent], true),
        ("two silent calls are not", [.silent, .silent], false),
        ("a response between them forgives", [.silent, .responded, .silent], true),
        ("one successful probe does not lift it", [.silent, .silent, .probeSucceeded], false),
        ("two do", [.silent, .silent, .probeSucceeded, .probeSucceeded], true),
        ("they must follow each other", [.silent, .silent, .probeSucceeded, .probeFailed, .probeSucceeded], false),
        ("a late response to an old call does not lift it", [.silent, .silent, .responded], false),
        ("a 503 without Retry-After is not the target's end, RFC 3261 §21.5.4", [.refused(retryAfter: nil)], true),
        ("a 503 with Retry-After is a rest", [.refused(retryAfter: 60)], false),
        ("a probe does not end the rest", [.refused(retryAfter: 60), .probeSucceeded, .probeSucceeded], false),
        ("nor does a response to an earlier call", [.refused(retryAfter: 60), .responded], false),
        ("Retry-After of zero is none", [.refused(retryAfter: 0)], true),
        ("a target that is down does not rest", [.silent, .silent, .refused(retryAfter: 1)], false),
    ]

    @Test(arguments: rows)
    func `it is up or down`(row: (why: String, events: [Event], isUp: Bool)) {
        let (health, now) = after(row.events)
        #expect(health.isUp(at: now) == row.isUp, "\(row.why)")
    }

    static let failures: [(why: String, events: [Event], cause: Event?)] = [
        ("nothing has failed", [], nil),
        ("one silent call shows at once", [.silent], .silent),
        ("a call that could not be delivered too", [.unreachable], .unreachable),
        ("a 503 without Retry-After too", [.refused(retryAfter: nil)], .refused(retryAfter: nil)),
        ("a lost probe too", [.probeFailed], .probeFailed),
        ("the last failure is shown", [.silent, .unreachable], .unreachable),
        ("a response to a call ends it", [.silent, .responded], nil),
        ("a response to a probe ends it", [.unreachable, .probeSucceeded], nil),
    ]

    @Test(arguments: failures)
    func `a failure shows until the next response, and the target stays up`(
        row: (why: String, events: [Event], cause: Event?)
    ) {
        let (health, now) = after(row.events) { $0.silencesAllowed = 9 }
        #expect(health.failure?.event == row.cause, "\(row.why)")
        #expect(health.failure == nil || health.failure?.since == 1_001_000, "\(row.why)")
        #expect(health.isUp(at: now) && health.state == .up, "\(row.why)")
    }

    @Test func `a silent call within the time that counts shows, and the choice of targets stays`() {
        let target = TargetState(name: "office", rules: TargetHealthRules())
        target.record(.probeSucceeded, at: 10_000)
        for _ in 0..<5 { target.recordSilence(of: 32_000, patience: 4_000, at: 16_000) }
        #expect(target.state.failure?.event == .silent && target.isUp(at: 16_000))
        target.record(.responded, at: 17_000)
        #expect(target.state.failure == nil)
        target.recordSilence(of: 32_000, patience: 4_000, at: 18_000)
        #expect(target.state.failure == nil, "another call had its response while this one waited")
    }

    @Test func `a rest ends by itself, after two minutes at the most`() {
        let (health, now) = after([.refused(retryAfter: 86_400)])
        #expect(!health.isUp(at: now + 119_999))
        #expect(health.isUp(at: now + 120_000))
    }

    @Test func `silent calls far apart do not count together`() {
        var (health, now) = after([.silent])
        now += 60_000
        #expect(health.receive(.silent, at: now) == nil)
        #expect(health.isUp(at: now))
    }

    @Test func `where nothing probes it, a target that calls marked down is tried again after a while`() {
        var (health, now) = after([.silent, .silent]) { $0.probes = false }
        #expect(!health.isUp(at: now + 29_999))
        now += 30_000
        #expect(health.isUp(at: now))
        _ = health.receive(.silent, at: now)
        #expect(!health.isUp(at: now + 1), "a trial that failed begins the waiting anew")
        now += 30_000
        #expect(health.receive(.responded, at: now) == .up)
    }

    @Test func `where calls could not reach it, which costs them nothing, it is tried again soon, then ever later`() {
        var (health, now) = after([.unreachable, .unreachable]) { $0.probes = false }
        for wait in [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000] as [UInt64] {
            #expect(!health.isUp(at: now + wait - 1) && health.isUp(at: now + wait))
            now += wait
            // Of several calls at once the first decides.
            for _ in 0..<3 { _ = health.receive(.unreachable, at: now) }
        }
        now += 30_000
        _ = health.receive(.silent, at: now)
        #expect(!health.isUp(at: now + 29_999) && health.isUp(at: now + 30_000), "a silent trial costs a call 32 s")
        #expect(health.receive(.responded, at: now + 30_000) == .up)
    }

    @Test func `a target that keeps falling has to prove itself longer, but never for ever`() {
        var (health, now) = after([])
        var needed: [Int] = []
        for _ in 0..<6 {
            for _ in 0..<3 {
                now += 1000
                _ = health.receive(.probeFailed, at: now)
            }
            needed.append(health.probesToRise)
            var succeeded = 0
            while !health.isUp(at: now) {
                now += 1000
                succeeded += 1
                _ = health.receive(.probeSucceeded, at: now)
            }
            #expect(succeeded == needed.last)
        }
        #expect(needed == [2, 4, 8, 16, 16, 16])
    }

    @Test func `a good time is remembered: after it the plain threshold holds again`() {
        var (health, now) = after([.silent, .silent, .probeSucceeded, .probeSucceeded])
        now += 600_000
        for _ in 0..<2 { _ = health.receive(.silent, at: now) }
        #expect(health.probesToRise == 2)
    }

    @Test func `each change is reported once`() {
        var (health, now) = after([.probeFailed, .probeFailed])
        now += 1000
        #expect(health.receive(.probeFailed, at: now) == .down)
        #expect(health.receive(.probeFailed, at: now) == nil)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `whatever happens, successful probes always bring it back`(seed: UInt64) {
        var random = RepeatableRandom(seed: seed)
        var (health, now) = after([])
        let events: [Event] = [
            .probeSucceeded, .probeFailed, .responded, .refused(retryAfter: 5), .refused(retryAfter: nil), .silent,
        ]
        for _ in 0..<300 {
            now += random.next() % 5000
            _ = health.receive(events[Int(random.next() % UInt64(events.count))], at: now)
        }
        now += 120_000
        for _ in 0..<16 {
            now += 10_000
            _ = health.receive(.probeSucceeded, at: now)
        }
        #expect(health.isUp(at: now))
    }

    @Test func `after a reload a target goes by the new rules, and waits for no probe that nobody sends`() {
        let board = TargetRegistry()
        let targetState = board.targetState("office", rules: TargetHealthRules())
        for _ in 0..<2 { targetState.record(.silent, at: 1000) }
        #expect(!targetState.isUp(at: .max - 1))
        var rules = TargetHealthRules()
        (rules.probes, rules.retrial) = (false, 500)
        _ = board.targetState("office", rules: rules)
        #expect(!targetState.isUp(at: 1499) && targetState.isUp(at: 1500))
        targetState.record(.responded, at: 1500)
        #expect(targetState.state.state == .up)
    }

    @Test func `a target state is the same for all readers, and its owner gets each change`() {
        let board = TargetRegistry()
        let targetState = board.targetState("office 192.0.2.20:5060", rules: TargetHealthRules())
        #expect(targetState === board.targetState("office 192.0.2.20:5060", rules: TargetHealthRules()))
        for _ in 0..<3 { targetState.record(.probeFailed, at: 5) }
        #expect(!targetState.isUp(at: .max - 1))
        #expect(targetState.state.state == .down)
        board.keep([])
        #expect(board.all.isEmpty)
    }
}
