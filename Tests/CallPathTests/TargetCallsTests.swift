// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("Calls by target")
struct TargetCallsTests {
    private static let first = FailoverTests.first
    private static let second = FailoverTests.second
    private let trunk = GatewayUnderTest.trunk

    /// A gateway with two targets, the first of lower priority.
    private func gateway() throws -> (gateway: GatewayUnderTest, one: TargetState, two: TargetState) {
        let states = ["a", "b"].map { TargetState(name: $0, rules: TargetHealthRules()) }
        var options = GatewayUnderTest.Options()
        options.targets = zip([Self.first, Self.second], states).enumerated().map { position, pair in
            Target(targetState: pair.1, address: pair.0, socket: 0, priority: position)
        }
        return (try GatewayUnderTest(numbers: [], options: options), states[0], states[1])
    }

    @Test func `a call is open at its target until its BYE, and sent there for ever`() throws {
        let (gateway, one, two) = try gateway()
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        #expect(one.openCalls == 1 && one.sentCalls == 1)
        _ = gateway.receive(request("INVITE"), from: trunk)
        #expect(one.sentCalls == 1, "a retransmission is no call")
        let response = try #require(
            gateway.receive(response("200 OK", to: invite), from: Self.first).to(trunk).first)
        #expect(one.openCalls == 1)
        let routes = response.split(separator: "\r\n").filter { $0.hasPrefix("Record-Route:") }
        let route = routes.map { $0.replacing("Record-Route:", with: "Route:") + "\n" }.joined()
        _ = gateway.receive(
            request("BYE", extra: route, toTag: ";tag=p", branch: "bye", sequence: 2), from: trunk)
        #expect(one.openCalls == 0 && one.sentCalls == 1)
        #expect(two.openCalls == 0 && two.sentCalls == 0)
    }

    @Test func `a call that goes on to another target is open there alone, and was sent to both`() throws {
        let (gateway, one, two) = try gateway()
        let first = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        let second = try #require(
            gateway.receive(response("503 Service Unavailable", to: first), from: Self.first).to(Self.second).first)
        #expect(one.openCalls == 0 && one.sentCalls == 1)
        #expect(two.openCalls == 1 && two.sentCalls == 1)
        _ = gateway.receive(response("486 Busy Here", to: second), from: Self.second)
        #expect(two.openCalls == 0 && two.sentCalls == 1)
    }

    @Test func `a request outside a call counts for no target`() throws {
        let (gateway, one, _) = try gateway()
        #expect(!gateway.receive(request("MESSAGE"), from: trunk).isEmpty)
        #expect(one.openCalls == 0 && one.sentCalls == 0)
    }

    @Test func `a call without a BYE is open until the longest call is over`() {
        let calls = CallsInProgress()
        let target = TargetState(name: "a", rules: TargetHealthRules())
        let call = CallIdentifier(high: 1, low: 1)
        calls.begin(call, on: nil, at: 1000)
        calls.send(call, to: target)
        calls.send(call, to: target)
        #expect(target.openCalls == 1 && target.sentCalls == 1, "another branch of the same call")
        for round in 0..<64 { calls.expire(round: round, startedBefore: 5000) }
        #expect(target.openCalls == 0)
    }

    @Test func `a call above the capacity is sent, and never open`() {
        let calls = CallsInProgress(capacity: 0)
        let target = TargetState(name: "a", rules: TargetHealthRules())
        let call = CallIdentifier(high: 1, low: 1)
        calls.begin(call, on: nil, at: 1000)
        calls.send(call, to: target)
        #expect(target.openCalls == 0 && target.sentCalls == 1)
    }
}
