// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Synchronization
import Testing

/// The only target of its group: while it is down calls try it now and then, since no other could take them.
@Suite("Health of a target without others")
struct LoneTargetTests {
    private func health(
        trustsSilence: Bool = false, _ events: [(TargetHealth.Event, at: UInt64)] = []
    ) -> TargetHealth {
        var rules = TargetHealthRules()
        (rules.probes, rules.trustsSilence) = (false, trustsSilence)
        var health = TargetHealth(rules: rules)
        for (event, time) in events { _ = health.receive(event, at: time) }
        return health
    }

    private func probes(_ event: TargetHealth.Event, _ times: [UInt64]) -> [(TargetHealth.Event, at: UInt64)] {
        times.map { (event, at: $0) }
    }

    @Test func `a target that never responded to a probe is not down for its silence, with one notice`() {
        var health = health()
        var told: [TargetHealth.State] = []
        for round in 1...50 as ClosedRange<UInt64> {
            if let state = health.receive(.probeFailed, at: round * 10_000) { told.append(state) }
        }
        #expect(health.state == .up && health.isUp(at: 500_000) && health.fitFrom == 0)
        #expect(told == [.up])
    }

    @Test func `a target that responded to a probe once is down when it falls silent`() {
        let health = health(probes(.probeSucceeded, [1]) + probes(.probeFailed, [10_000, 20_000, 30_000]))
        #expect(health.state == .down && !health.isUp(at: 30_001))
    }

    @Test func `where the operator asked for probes silence counts from the start`() {
        let health = health(trustsSilence: true, probes(.probeFailed, [10_000, 20_000, 30_000]))
        #expect(health.state == .down)
    }

    @Test func `where nothing listens it is down whatever it did before`() {
        let health = health(probes(.probeRefused(status: 503), [0, 10_000, 20_000]))
        #expect(health.state == .down)
        #expect(health.fitFrom == .max, "it stays down until a probe succeeds")
        #expect(health.isUp(at: 21_000), "a call may try")
    }

    @Test func `each probe that fails keeps calls away longer`() {
        var health = health(probes(.probeSucceeded, [1]) + probes(.probeFailed, [10_000, 20_000, 30_000]))
        for round in 4...20 as ClosedRange<UInt64> {
            _ = health.receive(.probeFailed, at: round * 10_000)
            #expect(!health.isUp(at: round * 10_000 + 29_999))
        }
    }

    @Test func `the first successful probe lets calls try, and a call with a response lifts it`() {
        var health = health(probes(.probeSucceeded, [1]) + probes(.probeFailed, [10_000, 20_000, 30_000, 40_000]))
        #expect(health.receive(.probeSucceeded, at: 50_000) == nil)
        #expect(health.isUp(at: 50_000) && health.fitFrom == 0)
        #expect(health.receive(.responded, at: 50_100) == .up)
    }

    @Test func `down by calls alone it is there again for who asks as soon as calls may try it`() {
        let health = health([(.silent, at: 1_000), (.silent, at: 2_000)])
        #expect(health.state == .down && !health.isUp(at: 31_999) && health.isUp(at: 32_000))
        #expect(health.fitFrom == 32_000, "or a carrier that asks by OPTIONS would never send a call again")
    }

    @Test func `the time of its state is that of the change, whatever was tried since`() {
        var health = health([(.unreachable, at: 1_000), (.unreachable, at: 2_000)])
        _ = health.receive(.unreachable, at: 5_000)
        #expect(health.changedAt == 2_000)
    }

    @Test func `a target state has the time of the last message of its target`() {
        let targetState = TargetState(name: "office", rules: TargetHealthRules())
        #expect(targetState.lastReceivedAt == nil)
        targetState.record(.probeSucceeded, at: 7)
        #expect(targetState.lastReceivedAt == 7)
        targetState.record(.responded, at: 9)
        #expect(targetState.lastReceivedAt == 9)
    }

    @Test func `a silent target that responded to probes before differs from one that never did, in good health too`() {
        var rules = TargetHealthRules()
        (rules.probes, rules.trustsSilence) = (false, false)
        let targetState = TargetState(name: "office", rules: rules)
        targetState.record(.probeSucceeded, at: 1)
        for round in 1...3 as ClosedRange<UInt64> { targetState.record(.probeFailed, at: round * 10_000) }
        #expect(targetState.state.state == .down && !targetState.isFit(at: 90_000))
    }
}
