// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// Two gateways with one secret and one shared address, before a PBX with several targets.
@Suite("A CANCEL reaches the target that rings, whichever gateway sent the INVITE there")
struct ForgottenCancelTests {
    private static let targets = (0..<3).map { PeerAddress(ipv4: 0xC000_0215 + $0, port: 5060) }
    private let trunk = GatewayUnderTest.trunk

    private func node(_ count: Int = 2) throws -> (gateway: GatewayUnderTest, states: [TargetState]) {
        var rules = TargetHealthRules()
        rules.probes = false
        let states = (0..<count).map { TargetState(name: "\($0)", group: "office", rules: rules) }
        var options = GatewayUnderTest.Options()
        options.targets = zip(Self.targets, states).enumerated().map { position, pair in
            Target(targetState: pair.1, address: pair.0, socket: 0, priority: position)
        }
        options.route = "192.0.2.9"
        options.isClustered = true
        return (try GatewayUnderTest(numbers: [], options: options), states)
    }

    private func branch(_ message: String) -> String {
        message.split(separator: ";").first { $0.hasPrefix("branch=") }.map(String.init) ?? ""
    }

    private func cancels(_ gateway: GatewayUnderTest, at target: PeerAddress) -> [String] {
        gateway.receive(request("CANCEL"), from: trunk).to(target).filter { $0.hasPrefix("CANCEL ") }
    }

    @Test func `after a failover the second target gets a CANCEL with the branch of its INVITE`() throws {
        let (a, b) = (try node().gateway, try node().gateway)
        let one = try #require(a.receive(request("INVITE"), from: trunk).to(Self.targets[0]).first)
        let out = a.receive(response("503 Service Unavailable", to: one), from: Self.targets[0])
        let two = try #require(out.to(Self.targets[1]).first)
        #expect(branch(two) != branch(one))
        let sent = cancels(b, at: Self.targets[1])
        #expect(sent.contains { branch($0) == branch(two) }, "RFC 3261 §9.1: the branch of the INVITE")
        #expect(Set(sent.map(branch)).count == sent.count)
    }

    @Test func `a sibling that takes the first target for up still cancels at the second`() throws {
        let (a, states) = try node()
        let (b, _) = try node()
        for _ in 1...2 { states[0].record(.silent, at: a.now.milliseconds) }
        let invite = try #require(a.receive(request("INVITE"), from: trunk).to(Self.targets[1]).first)
        #expect(cancels(b, at: Self.targets[1]).contains { branch($0) == branch(invite) })
    }

    @Test func `a sibling that takes every target for down cancels all the same`() throws {
        let (a, _) = try node()
        let (b, states) = try node()
        let invite = try #require(a.receive(request("INVITE"), from: trunk).to(Self.targets[0]).first)
        for state in states { for _ in 1...2 { state.record(.silent, at: b.now.milliseconds) } }
        #expect(cancels(b, at: Self.targets[0]).contains { branch($0) == branch(invite) })
    }

    @Test func `the third attempt at the third target is cancelled as well`() throws {
        let (a, b) = (try node(3).gateway, try node(3).gateway)
        var last = try #require(a.receive(request("INVITE"), from: trunk).to(Self.targets[0]).first)
        for position in 1...2 {
            let out = a.receive(response("503 No", to: last), from: Self.targets[position - 1])
            last = try #require(out.to(Self.targets[position]).first)
        }
        #expect(cancels(b, at: Self.targets[2]).contains { branch($0) == branch(last) })
    }

    @Test func `the 200 of the ringing target goes to the trunk, and the 481 of the others does not`() throws {
        let b = try node().gateway
        let sent = b.receive(request("CANCEL"), from: trunk)
        #expect(sent.count == 4, "two targets, two attempts")
        let (one, two) = (try #require(sent.to(Self.targets[0]).first), try #require(sent.to(Self.targets[1]).last))
        let unknown = response("481 Call/Transaction Does Not Exist", to: one)
        #expect(b.receive(unknown, from: Self.targets[0]).to(trunk).isEmpty)
        let done = b.receive(response("200 OK", to: two), from: Self.targets[1]).to(trunk)
        #expect(done.first?.hasPrefix("SIP/2.0 200") == true)
    }

    @Test func `a single target gets one CANCEL, and its 481 goes back`() throws {
        let gateway = try node(1).gateway
        let sent = gateway.receive(request("CANCEL"), from: trunk)
        #expect(sent.count == 1)
        let rejected = response("481 Call/Transaction Does Not Exist", to: try #require(sent.to(Self.targets[0]).first))
        #expect(gateway.receive(rejected, from: Self.targets[0]).to(trunk).count == 1)
    }

    @Test func `a gateway with the INVITE sends one CANCEL, to the target that has it`() throws {
        let gateway = try node().gateway
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.targets[0]).first)
        _ = gateway.receive(response("180 Ringing", to: invite), from: Self.targets[0])
        let sent = gateway.receive(request("CANCEL"), from: trunk)
        #expect(sent.to(Self.targets[0]).count { $0.hasPrefix("CANCEL ") } == 1 && sent.to(Self.targets[1]).isEmpty)
    }
}
