// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("What a target still says, or is still said of it, after it was given up, RFC 3261 §16.7 steps 5 and 10")
struct LateAttemptTests {
    private static let first = FailoverTests.first
    private static let second = FailoverTests.second
    private let trunk = GatewayUnderTest.trunk

    /// A gateway whose call got no response from the first target and is at the second; both INVITEs.
    private func moved() throws -> (gateway: GatewayUnderTest, one: OutgoingMessage, two: OutgoingMessage) {
        var rules = TargetHealthRules()
        rules.probes = false
        var options = GatewayUnderTest.Options()
        options.targets = [("a", Self.first), ("b", Self.second)].enumerated().map { position, target in
            Target(
                targetState: TargetState(name: target.0, rules: rules), address: target.1, socket: 0, priority: position
            )
        }
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).first { $0.destination == Self.first })
        var sent: [OutgoingMessage] = []
        for _ in 0..<50 { sent += gateway.pass(.milliseconds(100)) }
        return (gateway, one, try #require(sent.first { $0.destination == Self.second }))
    }

    private func respond(_ status: String, to request: OutgoingMessage) -> String {
        response(status, to: String(decoding: request.bytes, as: UTF8.self))
    }

    private func branch(_ message: OutgoingMessage) -> String {
        String(decoding: message.bytes, as: UTF8.self)
            .split(separator: ";").first { $0.hasPrefix("branch=") }.map(String.init) ?? ""
    }

    @Test func `it rings: it is cancelled`() throws {
        let (gateway, one, _) = try moved()
        let out = gateway.receive(respond("180 Ringing", to: one), from: Self.first)
        let cancel = try #require(out.to(Self.first).first)
        #expect(cancel.hasPrefix("CANCEL "))
        #expect(cancel.contains(branch(one) + ";"), "§9.1: the branch of the request it cancels")
        #expect(out.to(trunk).isEmpty)
        let late = gateway.receive(respond("487 Request Terminated", to: one), from: Self.first)
        #expect(late.to(Self.first).first?.hasPrefix("ACK ") == true)
        #expect(late.to(trunk).isEmpty)
    }

    @Test func `it rings after the other has answered: it is cancelled too`() throws {
        let (gateway, one, two) = try moved()
        _ = gateway.receive(respond("200 OK", to: two), from: Self.second)
        let out = gateway.receive(respond("180 Ringing", to: one), from: Self.first)
        let cancel = try #require(out.to(Self.first).first)
        #expect(cancel.hasPrefix("CANCEL ") && cancel.contains(branch(one) + ";"))
        let late = gateway.receive(respond("487 Request Terminated", to: one), from: Self.first)
        #expect(late.to(Self.first).first?.hasPrefix("ACK ") == true)
        #expect(out.to(trunk).isEmpty && late.to(trunk).isEmpty)
    }

    @Test func `it answers: it wins, and the other, which rings, is cancelled and its refusal acknowledged`() throws {
        let (gateway, one, two) = try moved()
        _ = gateway.receive(respond("180 Ringing", to: two), from: Self.second)
        let out = gateway.receive(respond("200 OK", to: one), from: Self.first)
        #expect(out.to(trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
        #expect(out.to(Self.second).first?.hasPrefix("CANCEL ") == true)
        let end = gateway.receive(respond("487 Request Terminated", to: two), from: Self.second)
        #expect(end.to(Self.second).first?.hasPrefix("ACK ") == true, "§17.1.1.3: or it repeats its 487 for 32 s")
        #expect(end.to(trunk).isEmpty)
        #expect(gateway.shared.calls.count == 1, "the call goes on")
    }

    @Test func `it answers before any response of the other: that one is cancelled as soon as it rings, §9.1`() throws {
        let (gateway, one, two) = try moved()
        let out = gateway.receive(respond("200 OK", to: one), from: Self.first)
        #expect(out.to(trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
        #expect(out.to(Self.second).isEmpty)
        let rung = gateway.receive(respond("180 Ringing", to: two), from: Self.second)
        let cancel = try #require(rung.to(Self.second).first)
        #expect(cancel.hasPrefix("CANCEL ") && cancel.contains(branch(two) + ";"))
    }

    @Test func `a late report that its INVITE was not delivered changes nothing: the other keeps the call`() throws {
        let (gateway, one, two) = try moved()
        gateway.gateway.sendFailed(one.token, at: gateway.now)
        #expect(gateway.pass(.zero).to(trunk).isEmpty)
        let out = gateway.receive(respond("200 OK", to: two), from: Self.second)
        #expect(out.to(trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
        #expect(gateway.updates().map(\.kind).last == .answered)
        gateway.gateway.sendFailed(two.token, at: gateway.now)
        #expect(gateway.pass(.zero).to(trunk).isEmpty)
    }

    @Test func `only requests are reported as undelivered: an ACK that is lost ends nothing`() throws {
        let (gateway, _, two) = try moved()
        let out = gateway.receive(respond("486 Busy Here", to: two), from: Self.second)
        let ack = try #require(out.first { $0.destination == Self.second })
        #expect(String(decoding: ack.bytes, as: UTF8.self).hasPrefix("ACK "))
        #expect(ack.token == .none && two.token.attempt == 1)
        #expect(out.filter { $0.destination == trunk }.allSatisfy { $0.token == .none })
    }
}
