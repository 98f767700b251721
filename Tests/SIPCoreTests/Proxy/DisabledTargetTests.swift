// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("A target out of service")
struct DisabledTargetTests {
    private func target(_ name: String, port: UInt16) -> Target {
        Target(
            targetState: TargetState(name: name, rules: TargetHealthRules()),
            address: PeerAddress(ipv4: 0xC000_0214, port: port), socket: 0)
    }

    @Test func `it gets no call while it is disabled, whatever its health`() {
        let state = TargetState(name: "pbx office 192.0.2.20:5060", rules: TargetHealthRules())
        state.disable(true)
        #expect(state.isDisabled && !state.isUp(at: .max - 1) && !state.isFit(at: .max - 1))
        state.record(.probeSucceeded, at: 1)
        state.record(.silent, at: 2)
        #expect(!state.isUp(at: 3))
        state.disable(false)
        #expect(state.isUp(at: 4) && state.isFit(at: 4))
    }

    @Test func `one that went down meanwhile comes back as down`() {
        let state = TargetState(name: "a", rules: TargetHealthRules())
        state.disable(true)
        for time in 1...3 { state.record(.probeFailed, at: UInt64(time)) }
        state.disable(false)
        #expect(!state.isUp(at: 4))
    }

    @Test func `calls go to the others of its group, and a protected call to it if there is no other`() {
        let (one, other) = (target("one", port: 5060), target("other", port: 5062))
        let group = TargetGroup(name: "pbx office", targets: [one, other])
        one.targetState.disable(true)
        for key in 0..<50 as Range<UInt64> {
            var order = group.order(for: key, at: 1)
            #expect(order.next()?.targetState.name == "other")
            #expect(order.isEmpty)
        }
        other.targetState.disable(true)
        #expect(group.order(for: 1, at: 1).isEmpty && !group.isFit(at: 1))
        #expect(!group.order(for: 1, at: 1, orDown: true).isEmpty)
    }

    @Test func `an address that leaves DNS and returns is still disabled`() {
        let registry = TargetRegistry()
        registry.disable(registry.targetState("pbx office 192.0.2.20:5060", rules: TargetHealthRules()), true)
        registry.keep([])
        #expect(registry.all.isEmpty && registry.disabled == ["pbx office 192.0.2.20:5060"])
        #expect(registry.targetState("pbx office 192.0.2.20:5060", rules: TargetHealthRules()).isDisabled)
        #expect(!registry.targetState("pbx office 192.0.2.21:5060", rules: TargetHealthRules()).isDisabled)
    }

    @Test func `an order of an earlier run holds until it is taken back or forgotten`() {
        let registry = TargetRegistry(disabled: ["a", "b", "c"])
        let (one, other) = (
            registry.targetState("a", rules: TargetHealthRules()), registry.targetState("b", rules: TargetHealthRules())
        )
        #expect(one.isDisabled && other.isDisabled)
        registry.disable(one, false)
        #expect(one.isUp(at: 1))
        #expect(registry.forgetDisabled { $0 == "b" } == ["c"])
        #expect(registry.disabled == ["b"])
    }
}
