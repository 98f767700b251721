// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import SIPCore
import Testing

/// A shared address (VRRP) leaves the machine and arrives; probes are sent from socket 0.
@Suite("A gateway without the address that it shares")
struct StandbyTests {
    private let pbx = GatewayUnderTest.pbx
    private let state = TargetState(
        name: "pbx office 192.0.2.20:5060", group: "pbx office", rules: TargetHealthRules())
    private let gateway: GatewayUnderTest

    init() throws {
        var options = GatewayUnderTest.Options()
        options.targets = [Target(targetState: state, address: GatewayUnderTest.pbx, socket: 0)]
        options.areProbed = true
        gateway = try GatewayUnderTest(numbers: [], options: options)
    }

    /// The OPTIONS to the PBX within some seconds.
    private func probes(_ seconds: Int) -> [String] {
        (0..<seconds).flatMap { _ in gateway.pass(.seconds(1)) }.to(pbx).filter { $0.hasPrefix("OPTIONS ") }
    }

    @Test func `it sends no OPTIONS, and its targets stay as they are`() {
        gateway.shared.away.store([0])
        #expect(probes(120).isEmpty)
        #expect(state.isStandingBy && state.isUp(at: gateway.now.milliseconds))
    }

    @Test func `it probes within a second of the arrival of the address`() {
        gateway.shared.away.store([0])
        #expect(probes(5).isEmpty)
        gateway.shared.away.store([])
        #expect(gateway.gateway.nextDeadline == 0, "the call thread looks at the next chance")
        #expect(probes(1).count == 1)
        #expect(!state.isStandingBy)
    }

    @Test func `a target without a response counts as down again, once the address is here`() {
        gateway.shared.away.store([0])
        _ = probes(5)
        gateway.shared.away.store([])
        #expect(probes(60).count > 3)
        #expect(!state.isUp(at: gateway.now.milliseconds))
    }

    @Test func `a probe under way when the address leaves counts for nothing`() {
        #expect(probes(1).count == 1)
        gateway.shared.away.store([0])
        #expect(probes(30).isEmpty, "also no repetition")
        #expect(state.state.failure == nil)
    }

    @Test func `a call that arrives before the gateway has looked goes through`() {
        gateway.shared.away.store([0])
        _ = probes(5)
        let sent = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(pbx)
        #expect(sent.contains { $0.hasPrefix("INVITE ") })
    }

    @Test func `another socket is none of its business`() {
        gateway.shared.away.store([1])
        #expect(probes(1).count == 1 && !state.isStandingBy)
    }

    @Test func `the PBX is no problem while the gateway stands by`() {
        for time in 1...3 { state.record(.probeFailed, at: UInt64(time)) }
        let topology = gateway.shared.settings.load().topology
        #expect(topology.pbxProblem(at: gateway.now.milliseconds) != nil)
        gateway.shared.away.store([0])
        _ = probes(1)
        #expect(topology.pbxProblem(at: gateway.now.milliseconds) == nil)
    }
}
