// SPDX-License-Identifier: Apache-2.0

import CallPath
import SIPCore
import Testing

@Suite("What is logged of a target")
struct TargetLineTests {
    private let targetState = TargetState(
        name: "pbx office 192.0.2.20:5060", group: "pbx office", rules: TargetHealthRules())

    private func line(_ state: TargetHealth.State, _ event: TargetHealth.Event, hasOther: Bool) -> TargetLine {
        TargetLine(of: targetState, state, event, hasOther: hasOther)
    }

    @Test func `the calls of a target that is down go to others only where there are others`() {
        #expect(
            line(.down, .probeFailed, hasOther: true).text
                == "target 192.0.2.20:5060 of pbx office is down: OPTIONS had no response; "
                + "its calls go to the other targets of pbx office")
        #expect(
            line(.down, .unreachable, hasOther: false).text
                == "target 192.0.2.20:5060 of pbx office is down: calls could not be delivered (no route, or nothing "
                + "listens there); no other target of pbx office is up: calls are rejected with 503 until one responds")
        #expect(line(.down, .silent, hasOther: false).isWarning)
    }

    @Test func `a failed probe has its cause`() {
        func cause(_ event: TargetHealth.Event) -> String? {
            var health = TargetHealth(rules: TargetHealthRules())
            health.show(event, at: 0)
            return health.failure.map(TargetLine.cause)
        }
        #expect(cause(.probeFailed) == "OPTIONS had no response")
        #expect(cause(.probeRefused(status: 503)) == "OPTIONS got 503")
        #expect(cause(.probeRefused(status: 408)) == "OPTIONS got 408")
        #expect(
            cause(.probeUndelivered) == "OPTIONS could not be delivered (no route, or nothing listens there)")
    }

    @Test func `a disabled target that goes down has no calls to lose`() {
        targetState.disable(true)
        #expect(line(.down, .silent, hasOther: false).text.hasSuffix("; it is disabled and has no new calls"))
        targetState.disable(false)
    }

    @Test func `a target that ignores OPTIONS is left up, with the key that stops asking it`() {
        #expect(
            line(.up, .probeFailed, hasOther: false).text
                == "target 192.0.2.20:5060 of pbx office has not responded to OPTIONS since the start; calls go there all "
                + "the same. If it never responds to OPTIONS, write probe: false")
        #expect(!line(.up, .probeSucceeded, hasOther: false).isWarning)
    }

    @Test func `the board knows whether another target of the group takes calls`() {
        let board = TargetRegistry()
        let one = board.targetState("pbx office 192.0.2.20:5060", group: "pbx office", rules: .init())
        #expect(!board.hasOther(than: one, at: 5))
        _ = board.targetState("pbx branch 192.0.2.30:5060", group: "pbx branch", rules: .init())
        #expect(!board.hasOther(than: one, at: 5))
        let two = board.targetState("pbx office 192.0.2.21:5060", group: "pbx office", rules: .init())
        #expect(board.hasOther(than: one, at: 5))
        for _ in 0..<3 { two.record(.probeFailed, at: 5) }
        #expect(!board.hasOther(than: one, at: 5))
        #expect(one.address == "192.0.2.20:5060")
    }
}
