// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import Foundation
import SIPCore
import Testing

@Suite("Rules of a proxy, RFC 3261 §16 and §17.2.3")
struct ProxyRulesTests {
    private let trunk = GatewayUnderTest.trunk
    private let pbx = GatewayUnderTest.pbx

    // MARK: §17.2.3: the method is part of a transaction's name

    @Test(arguments: ["BYE", "INFO", "UPDATE", "MESSAGE", "PRACK", "REFER"], [";branch=z9hG4bK1", ";branch=old1", ""])
    func `another method with the INVITE's branch and CSeq is forwarded, and its response too`(
        method: String, branch: String
    ) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        func via(_ text: String) -> String { text.replacing(";branch=z9hG4bK1", with: branch) }
        let invite = try #require(gateway.receive(via(request("INVITE")), from: trunk).to(pbx).first)
        _ = gateway.receive(response("200 OK", to: invite), from: pbx)
        _ = gateway.receive(via(request("ACK", toTag: ";tag=p")), from: trunk)
        let text = via(request(method, toTag: ";tag=p"))
        let sent = try #require(gateway.receive(text, from: trunk).to(pbx).first)
        #expect(sent.hasPrefix("\(method) "))
        #expect(gateway.receive(text, from: trunk).to(pbx).isEmpty, "a retransmission of its own")
        let out = gateway.receive(response("200 OK", to: sent), from: pbx).to(trunk)
        #expect(out.first?.contains("CSeq: 1 \(method)") == true)
    }

    // MARK: §16.7 step 6: a 503 stays here

    /// A call of each side, and where its INVITE goes.
    static let calls: [(from: PeerAddress, to: PeerAddress, uri: String)] = [
        (GatewayUnderTest.trunk, GatewayUnderTest.pbx, "sip:100@192.0.2.20"),
        (GatewayUnderTest.pbx, GatewayUnderTest.trunk, "sip:0155@203.0.113.5"),
    ]

    @Test(arguments: calls, ["INVITE", "MESSAGE"])
    func `a target's 503 goes on as 500 without Retry-After, remembered or not`(
        call: (from: PeerAddress, to: PeerAddress, uri: String), method: String
    ) throws {
        for restarts in [false, true] {
            var gateway = try GatewayUnderTest(numbers: [])
            let text = request(method).replacing("sip:100@192.0.2.20 ", with: call.uri + " ")
                .replacing("203.0.113.5:5060;branch", with: "\(call.from);branch")
            let sent = try #require(gateway.receive(text, from: call.from).to(call.to).first)
            if restarts { gateway = try GatewayUnderTest(numbers: []) }
            let refusal = response("503 Service Unavailable", to: sent, extra: "Retry-After: 600\n")
            let forwarded = try #require(gateway.receive(refusal, from: call.to).to(call.from).last)
            #expect(forwarded.hasPrefix("SIP/2.0 500 Server Internal Error\r\n"))
            #expect(!forwarded.contains("Retry-After"))
            #expect(!forwarded.contains("192.0.2.10:5060;branch"), "§16.7 step 3")
        }
    }

    @Test func `a response that means its own request alone keeps Retry-After, RFC 3261 §20.33`() throws {
        for restarts in [false, true] {
            var gateway = try GatewayUnderTest(numbers: [])
            let sent = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
            if restarts { gateway = try GatewayUnderTest(numbers: []) }
            let refusal = response("486 Busy Here", to: sent, extra: "Retry-After: 30\n")
            #expect(gateway.receive(refusal, from: pbx).to(trunk).last?.contains("Retry-After: 30\r\n") == true)
        }
    }

    // MARK: §16.3 step 3, §11: what is not forwarded needs no hop

    @Test(arguments: [
        ("OPTIONS", "sip:192.0.2.10:5060", "Max-Forwards: 0", "200 OK"),
        ("OPTIONS", "sip:192.0.2.10:5060", "Max-Forwards: many", "200 OK"),
        ("OPTIONS", "sip:192.0.2.10:5060", "Max-Forwards: 70\nProxy-Require: gin", "200 OK"),
        // RFC 4475 §3.3.11: OPTIONS for somebody else.
        ("OPTIONS", "sip:100@192.0.2.20", "Max-Forwards: 0", "483 Too Many Hops"),
        ("OPTIONS", "sip:100@192.0.2.20", "Max-Forwards: 70\nProxy-Require: gin", "420 Bad Extension"),
        ("INVITE", "sip:100@192.0.2.20", "Max-Forwards: 0", "483 Too Many Hops"),
        ("REGISTER", "sip:192.0.2.10", "Max-Forwards: 0", "483 Too Many Hops"),
        ("OPTIONS", "http://192.0.2.10", "Max-Forwards: 70", "416 Unsupported URI Scheme"),
    ])
    func `rules for forwarding bind what is forwarded`(
        method: String, uri: String, lines: String, status: String
    ) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let text = request(method).replacing("sip:100@192.0.2.20 ", with: uri + " ")
            .replacing("Max-Forwards: 70", with: lines)
        let out = gateway.receive(text, from: trunk)
        #expect(out.to(trunk).first?.hasPrefix("SIP/2.0 \(status)\r\n") == true, "\(out.to(trunk))")
        #expect(out.to(pbx).isEmpty)
    }

    @Test func `a CANCEL without hops left still cancels, as it ends here`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        _ = gateway.receive(response("180 Ringing", to: invite), from: pbx)
        let cancel = request("CANCEL").replacing("Max-Forwards: 70", with: "Max-Forwards: 0")
        let out = gateway.receive(cancel, from: trunk)
        #expect(out.to(trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
        #expect(out.to(pbx).first?.hasPrefix("CANCEL ") == true)
    }

    // MARK: §16.4: the gateway's own names

    @Test(arguments: [true, false])
    func `a Route to the gateway by name ends at it`(isCalledSo: Bool) throws {
        var options = GatewayUnderTest.Options()
        if isCalledSo { options.ownNames = [OwnName(host: "herald.office.example", port: nil)] }
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let text = request("INVITE", extra: "Route: <sip:Herald.Office.Example:5060;lr>\n")
            .replacing("sip:100@192.0.2.20 ", with: "sip:0155@203.0.113.5 ")
        let sent = try #require(gateway.receive(text, from: pbx).to(trunk).first)
        #expect(sent.contains("\r\nRoute: ") != isCalledSo)
    }

    // MARK: §21.4.1, §25.1: header lines that are none

    static let malformed = [
        "no colon here", "two words: a", ": no name", ":", "X-Split\rX-Hidden: a", "X-Nul: \0", "X-[Foo]: a",
        "X(Foo): a",
        "X@Foo: a", "X/Foo: a", "X-Bür: a", "Subject: a\rb",
    ]

    private func bytes(_ method: String, _ line: String) -> [UInt8] {
        Array(
            request(method).replacing("\n", with: "\r\n").replacing("Max-Forwards: 70", with: line).utf8)
    }

    @Test(arguments: malformed, ["INVITE", "OPTIONS", "BYE", "CANCEL"])
    func `a request with such a line gets 400 and is counted`(line: String, method: String) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let out = gateway.receive(bytes(method, line), from: trunk)
        let response = try #require(out.to(trunk).first)
        #expect(out.count == 1)
        #expect(response.hasPrefix("SIP/2.0 400 Bad Header "))
        for field in [
            "Via: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK1", "Call-ID: story@", "CSeq: 1 \(method)", "From: ",
            "To: ",
        ] {
            #expect(response.contains("\r\n\(field)"))
        }
        #expect(gateway.counters.count(.requestsRefused) == 1)
    }

    @Test(arguments: ["Via", "From", "To", "Call-ID", "CSeq"], ["\0", "\r"])
    func `where the line is one a response repeats, the request is dropped and counted`(
        name: String, byte: String
    ) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let text = request("INVITE").replacing("\n", with: "\r\n").replacing("\(name): ", with: "\(name): \(byte)")
        #expect(gateway.receive(Array(text.utf8), from: trunk).isEmpty)
        #expect(gateway.counters.count(.badHeaderLine) + gateway.counters.count(.nulByte) == 1)
    }

    @Test func `an ACK and an unknown peer's request with such a line get no response`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        #expect(gateway.receive(bytes("ACK", "no colon"), from: trunk).isEmpty)
        #expect(gateway.receive(bytes("INVITE", "no colon"), from: GatewayUnderTest.stranger).isEmpty)
        #expect(gateway.counters.count(.badHeaderLine) == 2)
    }

    @Test func `folded lines stay with the line that is dropped, RFC 3261 §7.3.1`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let out = gateway.receive(bytes("INVITE", "no colon\r\n  Via: SIP/2.0/UDP evil.example\r\n\tx"), from: trunk)
        let response = try #require(out.to(trunk).first)
        #expect(!response.contains("evil"))
    }

    // MARK: Strangers

    @Test(arguments: ["Via", "From", "To", "Call-ID", "CSeq"])
    func `an unknown peer's request that no response fits gets none`(name: String) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let lines = request("OPTIONS").split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix(name) }
        #expect(gateway.receive(lines.joined(separator: "\n"), from: GatewayUnderTest.stranger).isEmpty)
        #expect(gateway.counters.count(.strangersDropped) == 1)
    }

    @Test func `unknown peers get so few responses that nobody is flooded through the gateway`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        var responses = 0
        for turn in 0..<1000 {
            responses += gateway.receive(request("OPTIONS", branch: "\(turn)"), from: GatewayUnderTest.stranger).count
        }
        #expect((1...60).contains(responses))
        #expect(gateway.counters.count(.strangersDropped) == UInt64(1000 - responses))
        _ = gateway.pass(.seconds(10))
        #expect(gateway.receive(request("OPTIONS", branch: "next"), from: GatewayUnderTest.stranger).count == 1)
    }

    @Test func `a response whose request has no Via to go by leaves by its connection or not at all, §18.2.2`() throws {
        var options = GatewayUnderTest.Options()
        options.hasStream = true
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let text = request("OPTIONS").replacing("Via: SIP/2.0/UDP 203.0.113.5:5060", with: "Via: nothing")
        let out = gateway.receive(text, from: trunk.with(port: 49_152), on: 1, connection: 3)
        #expect(out.map(\.destination) == [trunk.with(port: 0)])
        #expect(out.map(\.connection) == [3])
    }
}
