// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore
import Testing

@testable import CallPath

@Suite("What one caller sends must not cost the calls of others")
struct HostileCallTests {
    private func invite(_ name: String, extra: String = "", uri: String = "sip:100@192.0.2.20") -> String {
        request("INVITE", extra: extra, branch: name).replacing("story@", with: "\(name)@")
            .replacing("sip:100@192.0.2.20 SIP/2.0", with: "\(uri) SIP/2.0")
    }

    private func isForwarded(_ gateway: GatewayUnderTest, _ text: String) -> Bool {
        !gateway.receive(text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).isEmpty
    }

    @Test func `an INVITE that fits no datagram gets 513, and its target stays up`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let body = String(repeating: "a", count: 65_100)
        for turn in 0..<5 {
            let large = request("INVITE", branch: "l\(turn)", body: body).replacing("story@", with: "l\(turn)@")
            let out = gateway.receive(large, from: GatewayUnderTest.trunk)
            let sent = try #require(out.first { $0.destination == GatewayUnderTest.pbx })
            try #require(sent.bytes.count > 65_507)
            gateway.gateway.sendFailed(sent.token, at: gateway.now)
            let responses = gateway.pass(.zero).to(GatewayUnderTest.trunk)
            #expect(responses.contains { $0.hasPrefix("SIP/2.0 513 ") })
        }
        #expect(isForwarded(gateway, invite("small")))
    }

    @Test func `calls without a response do not mark the PBX down while it responds to others`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let good = try #require(
            gateway.receive(invite("good"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("180 Ringing", to: good), from: GatewayUnderTest.pbx)
        _ = gateway.pass(.seconds(13))
        #expect(isForwarded(gateway, invite("poison1")) && isForwarded(gateway, invite("poison2")))
        _ = gateway.pass(.seconds(5))
        #expect(isForwarded(gateway, invite("next")))
    }

    @Test func `a target that leaves every call unanswered is down, but asked for an emergency call`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        #expect(isForwarded(gateway, invite("one")) && isForwarded(gateway, invite("two")))
        _ = gateway.pass(.seconds(33))
        #expect(!isForwarded(gateway, invite("three")))
        #expect(isForwarded(gateway, invite("sos", uri: "urn:service:sos")))
    }

    @Test func `OPTIONS the trunk ignores say nothing of its calls`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        for turn in 0..<4 {
            let options = request("OPTIONS", branch: "o\(turn)").replacing("story@", with: "o\(turn)@")
            #expect(isForwarded(gateway, options))
        }
        _ = gateway.pass(.seconds(33))
        #expect(isForwarded(gateway, invite("next")))
    }

    @Test func `Retry-After of the only target holds no other call back`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let sent = try #require(
            gateway.receive(invite("one"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let refusal = response("503 Maximum Calls In Progress", to: sent, extra: "Retry-After: 300\n")
        #expect(
            gateway.receive(refusal, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk)
                .contains { $0.hasPrefix("SIP/2.0 500 ") })
        #expect(isForwarded(gateway, invite("two")))
    }

    @Test(arguments: [";tag=", ";tag=x;tag=", ";tag=;tag=x", ";tag=x;tag=y"])
    func `a tag is not empty and isPresent once`(tags: String) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        for text in [
            request("INVITE", toTag: tags), request("INVITE").replacing(";tag=a\n", with: "\(tags)\n"),
        ] {
            let out = gateway.receive(text, from: GatewayUnderTest.trunk)
            #expect(out.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 400 ") == true)
            #expect(out.to(GatewayUnderTest.pbx).isEmpty)
        }
    }

    @Test(arguments: [
        ("Priority: emergency\n", false, false), ("Priority: emergency\n", true, false),
        ("Resource-Priority: esnet.1\n", false, false), ("Resource-Priority: esnet.1\n", true, true),
        ("Priority: psap-callback\n", false, false), ("Priority: psap-callback\n", true, true),
    ]) func `only a trusted trunk's claim lifts its limits`(header: String, isTrusted: Bool, isLifted: Bool) throws {
        var options = GatewayUnderTest.Options()
        options.isTrusted = isTrusted
        options.limits = TrunkAdmission.Limits(callsPerSecond: nil, burst: nil, mostCalls: 1)
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        #expect(isForwarded(gateway, invite("first")))
        #expect(isForwarded(gateway, invite("second", extra: header)) == isLifted)
        #expect(isForwarded(gateway, invite("third", uri: "urn:service:sos")))
    }

    @Test(arguments: [
        "Alert-Info: <http://x/>;info=alert-autoanswer", "Answer-Mode: Auto", "Priv-Answer-Mode: Auto;require",
    ]) func `no phone is made to answer by itself by a trunk whose Call-Info is not let through`(header: String) throws
    {
        for keeps in [false, true] {
            var options = GatewayUnderTest.Options()
            options.keepsForeignCallInfo = keeps
            let gateway = try GatewayUnderTest(numbers: [], options: options)
            let sent = gateway.receive(invite("one", extra: header + "\n"), from: GatewayUnderTest.trunk)
            #expect(sent.to(GatewayUnderTest.pbx).first?.contains(header) == keeps)
        }
    }

    @Test(arguments: ["Content-Length: 5000", "Content-Length: x\nl: 0", "Content-Length: 0\nContent-Length: 0"])
    func `a response with a wrong length goes nowhere`(length: String) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let sent = try #require(
            gateway.receive(invite("one"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let wrong = response("180 Ringing", to: sent).replacing("Content-Length: 0", with: length)
        #expect(gateway.receive(wrong, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).isEmpty)
    }

    @Test func `where streams are, what came without Content-Length has one`() throws {
        for streams in [true, false] {
            var options = GatewayUnderTest.Options()
            options.hasStream = streams
            let gateway = try GatewayUnderTest(numbers: [], options: options)
            let bare = invite("one").replacing("Content-Length: 0\n", with: "")
            let sent = try #require(gateway.receive(bare, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
            #expect(sent.contains("Content-Length: 0\r\n") == streams)
            let ringing = response("180 Ringing", to: sent).replacing("Content-Length: 0\n", with: "")
            let back = gateway.receive(ringing, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk)
            #expect(back.first?.contains("Content-Length: 0\r\n") == streams)
        }
    }

    /// Fields of responses that inform the caller: RFC 8688 §3.2 (608), RFC 3261 §20.4 (Alert-Info), §20.18.
    static let informing = [
        ("608 Rejected", "Call-Info: <https://block.example/complaint>;purpose=jwscard"),
        ("607 Unwanted", "Call-Info: <https://block.example/a>;purpose=info"),
        ("180 Ringing", "Alert-Info: <http://carrier.example/ringback.wav>"),
        ("200 OK", "Call-Info: <sip:c>;answer-after=0"), ("603 Decline", "Error-Info: <sip:announcement@c>"),
    ]

    @Test(arguments: informing, [true, false])
    func `a response of a trunk keeps what informs the caller`(row: (status: String, line: String), isTrusted: Bool)
        throws
    {
        var options = GatewayUnderTest.Options()
        (options.isTrusted, options.keepsForeignCallInfo) = (isTrusted, false)
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let call = request("INVITE").replacing("sip:100@192.0.2.20 SIP", with: "sip:0155@203.0.113.5 SIP").replacing(
            "SIP/2.0/UDP 203.0.113.5:5060", with: "SIP/2.0/UDP 192.0.2.20:5060")
        let sent = try #require(
            gateway.receive(call, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).first)
        let card = "Call-Info: <https://evil.example/bank.png>;purpose=icon\n"
        let text = response(row.status, to: sent, extra: row.line + "\n" + card)
        let back = gateway.receive(text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
        #expect(back.last?.contains("\r\n\(row.line)\r\n") == true)
        #expect(back.last?.contains("evil.example") == isTrusted, "the callee's picture needs trust")
    }
}
