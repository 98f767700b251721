// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("A target while the gateway lacks the address that it is reached from")
struct StandbyTargetTests {
    private static let failures: [TargetHealth.Event] = [
        .probeFailed, .probeRefused(status: 503), .probeUndelivered, .silent, .unreachable, .refused(retryAfter: 60),
    ]

    @Test(arguments: failures)
    func `it stays up, whatever fails meanwhile`(event: TargetHealth.Event) {
        let state = TargetState(name: "pbx office 192.0.2.50:5060", rules: TargetHealthRules())
        state.standBy(true)
        for time in 1...20 { state.record(event, at: UInt64(time) * 1000) }
        state.recordSilence(of: 10, patience: 1, at: 30_000)
        #expect(state.isUp(at: 30_000) && state.isFit(at: 30_000))
        #expect(state.state.failure == nil)
    }

    @Test func `one that was down is unknown once the address leaves, and counts anew when it arrives`() {
        let state = TargetState(name: "a", rules: TargetHealthRules())
        for time in 1...3 { state.record(.probeFailed, at: UInt64(time)) }
        #expect(!state.isUp(at: 4))
        state.standBy(true)
        #expect(state.isStandingBy && state.isUp(at: 4) && state.state.since == nil)
        state.standBy(false)
        #expect(!state.isStandingBy && state.isUp(at: 4))
        for time in 5...7 { state.record(.probeFailed, at: UInt64(time)) }
        #expect(!state.isUp(at: 8))
    }

    @Test func `the same state again changes nothing`() {
        let state = TargetState(name: "a", rules: TargetHealthRules())
        for time in 1...3 { state.record(.probeFailed, at: UInt64(time)) }
        state.standBy(false)
        #expect(!state.isUp(at: 4))
    }

    @Test func `a disabled one stays out of service`() {
        let state = TargetState(name: "a", rules: TargetHealthRules())
        state.disable(true)
        state.standBy(true)
        #expect(!state.isUp(at: 1))
        state.standBy(false)
        #expect(!state.isUp(at: 2))
    }
}
