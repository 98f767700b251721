// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("Failover, RFC 3261 §16.7 step 4 and 6, §16.9")
struct FailoverTests {
    static let first = PeerAddress(ipv4: 0xC000_0215, port: 5060)
    static let second = PeerAddress(ipv4: 0xC000_0216, port: 5060)
    private let trunk = GatewayUnderTest.trunk

    /// A gateway with two targets, the first of lower priority; `targetStates` tells how they are.
    private func gateway(
        _ change: (inout GatewayUnderTest.Options) -> Void = { _ in }
    ) throws -> (gateway: GatewayUnderTest, targetStates: [TargetState]) {
        var rules = TargetHealthRules()
        rules.probes = false
        let targetStates = ["a", "b"].map { TargetState(name: $0, rules: rules) }
        var options = GatewayUnderTest.Options()
        options.targets = zip([Self.first, Self.second], targetStates).enumerated().map { position, pair in
            Target(targetState: pair.1, address: pair.0, socket: 0, priority: position)
        }
        change(&options)
        let brand = try #require(E164Number("+61491570156"))
        return (try GatewayUnderTest(numbers: [brand], options: options), targetStates)
    }

    private func branch(_ message: String) -> String {
        message.split(separator: ";").first { $0.hasPrefix("branch=") }.map(String.init) ?? ""
    }

    @Test func `a 503 moves the call to the next target, as another transaction of its own`() throws {
        let (gateway, _) = try gateway()
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        let out = gateway.receive(response("503 Service Unavailable", to: one), from: Self.first)
        #expect(out.to(Self.first).first?.hasPrefix("ACK ") == true, "§17.1.1.3")
        let two = try #require(out.to(Self.second).first)
        #expect(two.contains(#""Acme \"Bank\"""#))
        #expect(branch(one) != branch(two), "§16.6 step 8: unique to the client transaction")
        #expect(out.to(trunk).isEmpty)
        let end = gateway.receive(response("200 OK", to: two), from: Self.second)
        #expect(end.to(trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
        #expect(gateway.counters.count(.failovers) == 1)
    }

    /// The dialog's cookie in a message.
    private func cookie(_ message: String) -> String {
        message.split(separator: ";").first { $0.hasPrefix("hd=") }.map { String($0.prefix { $0 != ">" }) } ?? ""
    }

    @Test func `both attempts differ in nothing but the gateway's branch and the target its cookie names`() throws {
        let (gateway, _) = try gateway()
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        let two = try #require(
            gateway.receive(response("503 No", to: one), from: Self.first).to(Self.second).first)
        #expect(!cookie(one).isEmpty && cookie(two) != cookie(one))
        #expect(two.replacing(branch(two), with: branch(one)).replacing(cookie(two), with: cookie(one)) == one)
    }

    @Test func `an emergency call asks each target before it is given up, those that are down too`() throws {
        let (gateway, targetStates) = try gateway()
        for targetState in targetStates { for _ in 0..<2 { targetState.record(.silent, at: gateway.now.milliseconds) } }
        #expect(gateway.receive(request("INVITE"), from: trunk).to(Self.first).isEmpty)
        let emergency = request("INVITE", branch: "sos")
            .replacing("INVITE sip:100@192.0.2.20", with: "INVITE urn:service:sos")
            .replacing("story@", with: "sos@")
        #expect(!gateway.receive(emergency, from: trunk).to(Self.first).isEmpty)
        var sent: [OutgoingMessage] = []
        for _ in 0..<50 { sent += gateway.pass(.milliseconds(100)) }
        #expect(sent.to(Self.second).contains { $0.hasPrefix("INVITE ") })
        #expect(!sent.to(trunk).contains { $0.contains("sos@") && !$0.hasPrefix("SIP/2.0 100") })
    }

    @Test func `silence moves the call to the next target after the configured patience`() throws {
        let (gateway, _) = try gateway()
        _ = gateway.receive(request("INVITE"), from: trunk)
        var sent: [OutgoingMessage] = []
        for _ in 0..<50 { sent += gateway.pass(.milliseconds(100)) }
        #expect(sent.to(Self.second).first?.hasPrefix("INVITE ") == true)
        #expect(sent.to(trunk).isEmpty)
    }

    @Test func `no other target is tried for a call whose response passed a sibling gateway`() throws {
        let (gateway, _) = try gateway()
        #expect(!gateway.receive(request("INVITE"), from: trunk).to(Self.first).isEmpty)
        let call = try #require(gateway.updates().first?.call)
        gateway.shared.calls.leave([.init(.alerting, of: call, at: gateway.now.wallMicroseconds)])
        var sent: [OutgoingMessage] = []
        for _ in 0..<400 { sent += gateway.pass(.milliseconds(100)) }
        #expect(sent.to(Self.second).isEmpty && sent.to(trunk).isEmpty)
    }

    /// What a target may say after which no other one is asked, and what the trunk then hears.
    static let final: [(responses: [String], heard: String)] = [
        (["486 Busy Here"], "486 Busy Here"),  // §16.7: never on other 4xx
        (["404 Not Found"], "404 Not Found"),
        (["500 Server Internal Error"], "500 Server Internal Error"),
        (["603 Decline"], "603 Decline"),
        (["302 Moved Temporarily"], "302 Moved Temporarily"),
        (["180 Ringing", "503 Service Unavailable"], "500 Server Internal Error"),  // a phone was ringing
        (["183 Session Progress", "503 Service Unavailable"], "500 Server Internal Error"),
    ]

    @Test(arguments: final)
    func `no other target is asked`(row: (responses: [String], heard: String)) throws {
        let (gateway, _) = try gateway()
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        var out: [OutgoingMessage] = []
        for status in row.responses { out += gateway.receive(response(status, to: one), from: Self.first) }
        #expect(out.to(Self.second).isEmpty)
        #expect(out.to(trunk).last?.hasPrefix("SIP/2.0 \(row.heard)\r\n") == true)
    }

    @Test func `a 100 does not bind the call to its target`() throws {
        let (gateway, _) = try gateway()
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        _ = gateway.receive(response("100 Trying", to: one), from: Self.first)
        let out = gateway.receive(response("503 No", to: one), from: Self.first)
        #expect(out.to(Self.second).count == 1)
    }

    @Test func `when every target responds 503 the trunk gets 500, §16.7 step 6`() throws {
        let (gateway, _) = try gateway()
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        let two = try #require(gateway.receive(response("503 No", to: one), from: Self.first).to(Self.second).first)
        let out = gateway.receive(response("503 No", to: two), from: Self.second)
        #expect(out.to(trunk).first?.hasPrefix("SIP/2.0 500 Server Internal Error") == true)
        #expect(gateway.updates().map(\.kind) == [.invite, .failed])
    }

    @Test func `with all targets down a call gets 503 with Retry-After at once, and accounted for`() throws {
        let (gateway, targetStates) = try gateway()
        for targetState in targetStates {
            for _ in 0..<2 { targetState.record(.silent, at: gateway.now.milliseconds) }
        }
        let out = gateway.receive(request("INVITE"), from: trunk)
        let response = try #require(out.to(trunk).last)
        #expect(response.hasPrefix("SIP/2.0 503 Service Unavailable"))
        #expect(response.contains("\r\nRetry-After: "))
        #expect(out.to(Self.first).isEmpty && out.to(Self.second).isEmpty)
        #expect(gateway.updates().map(\.kind) == [.invite, .failed])
        #expect(gateway.shared.calls.count == 0)
    }

    @Test func `Retry-After keeps calls away from a target until its time, RFC 3261 §20.33`() throws {
        let (gateway, _) = try gateway()
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        _ = gateway.receive(response("503 No", to: one, extra: "Retry-After: 60\n"), from: Self.first)
        let next = request("INVITE", branch: "2").replacing("story@", with: "later@")
        #expect(gateway.receive(next, from: trunk).to(Self.first).isEmpty)
        _ = gateway.pass(.seconds(61))
        let after = request("INVITE", branch: "3").replacing("story@", with: "after@")
        #expect(gateway.receive(after, from: trunk).to(Self.first).count == 1)
    }

    @Test func `a target that cannot be reached counts as one that says 503, §16.9, and the last one ends the call so`()
        throws
    {
        let (gateway, _) = try gateway()
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).first { $0.destination == Self.first })
        gateway.gateway.sendFailed(one.token, at: gateway.now)
        let two = gateway.pass(.zero)
        #expect(two.to(Self.second).first?.hasPrefix("INVITE ") == true)
        for message in two { gateway.gateway.sendFailed(message.token, at: gateway.now) }
        #expect(gateway.pass(.zero).to(trunk).first?.hasPrefix("SIP/2.0 503 ") == true)
    }

    @Test func `a cancelled call tries no other target`() throws {
        let (gateway, _) = try gateway()
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        _ = gateway.receive(request("CANCEL"), from: trunk)
        let out = gateway.receive(response("503 No", to: one), from: Self.first)
        #expect(out.to(Self.second).isEmpty)
        #expect(out.to(trunk).count == 1)
    }

    /// Local ports of the targets' addresses, of the trunk's own towards the PBX, and those of the Record-Route then.
    static let ways: [(targets: [Int], own: Int?, socket: Int, routes: [String])] = [
        ([0, 0], nil, 0, ["5060"]),
        ([0, 1], nil, 1, ["5070", "5060"]),  // RFC 5658 §3: the caller must find both sides
        ([1, 0], nil, 0, ["5060", "5060"]),
        ([1, 2], nil, 2, ["5080", "5060"]),
        ([0, 0], 1, 1, ["5070", "5060"]),
    ]

    @Test(arguments: ways)
    func `the next target is reached by its own local address, and the dialog's way back stays whole`(
        row: (targets: [Int], own: Int?, socket: Int, routes: [String])
    ) throws {
        var targetStates: [TargetState] = []
        let (gateway, _) = try gateway { options in
            options.sockets = [5060, 5070, 5080]
            options.pbxSocket = row.own
            targetStates = options.targets.map(\.targetState)
            options.targets = zip([Self.first, Self.second], row.targets).enumerated().map { position, pair in
                Target(targetState: targetStates[position], address: pair.0, socket: pair.1, priority: position)
            }
        }
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        let out = gateway.receive(response("503 No", to: one), from: Self.first)
        let two = try #require(out.first { $0.destination == Self.second })
        #expect(two.socket == row.socket)
        let routes = String(decoding: two.bytes, as: UTF8.self).split(separator: "\r\n")
            .filter { $0.hasPrefix("Record-Route: ") }
        #expect(routes.count == row.routes.count)
        #expect(
            zip(routes, row.routes).allSatisfy {
                $0.contains("192.0.2.10:\($1);") || $0.contains("192.0.2.10;") && $1 == "5060"
            })
        #expect(
            Set(routes.map { $0.split(separator: ";hd=").last?.prefix { $0 != ";" && $0 != ">" } }).count == 1,
            "one note of the dialog")
    }

    @Test func `a silent target that rings after the caller has gone is cancelled, however late`() throws {
        let (gateway, _) = try gateway()
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        _ = gateway.pass(.seconds(1))
        _ = gateway.receive(request("CANCEL"), from: trunk)
        for _ in 0..<60 { #expect(gateway.pass(.milliseconds(100)).to(Self.second).isEmpty) }
        let out = gateway.receive(response("180 Ringing", to: one), from: Self.first)
        #expect(out.to(Self.first).first?.hasPrefix("CANCEL ") == true)
    }

    @Test func `an in-dialog request goes where its route leads, whatever the target's health`() throws {
        let (gateway, targetStates) = try gateway()
        for _ in 0..<2 { targetStates[1].record(.silent, at: gateway.now.milliseconds) }
        let bye = request("BYE", toTag: ";tag=p").replacing("sip:100@192.0.2.20", with: "sip:100@192.0.2.22:5060")
        #expect(gateway.receive(bye, from: trunk).to(Self.second).count == 1)
    }

    @Test func `nothing is left of any of it when every timer has run`() throws {
        let (gateway, _) = try gateway()
        let one = try #require(gateway.receive(request("INVITE"), from: trunk).to(Self.first).first)
        _ = gateway.receive(response("503 No", to: one), from: Self.first)
        for _ in 0..<240 { _ = gateway.pass(.seconds(1)) }
        #expect(gateway.transactions == 0)
        #expect(gateway.shared.calls.count == 0)
    }
}
