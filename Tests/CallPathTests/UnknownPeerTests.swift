// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import SIPCore
import Testing

@Suite("Unknown peers")
struct UnknownPeerTests {
    private let stranger = GatewayUnderTest.stranger

    @Test func `an unknown peer's request is refused 403 at the port its Via names, and counted`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let out = gateway.receive(request("INVITE"), from: stranger)
        #expect(out.to(stranger).first?.hasPrefix("SIP/2.0 403 Forbidden") == true)
        #expect(out.count == 1)
        #expect(gateway.counters.count(.strangersRefused) == 1)
        #expect(gateway.updates().isEmpty)
    }

    @Test(arguments: [
        "friendly-scanner", "FRIENDLY-SCANNER", "sipvicious 0.3", "sipcli/v1.8", "VaxSIPUserAgent/3.5", "sipsak 0.9.8",
    ])
    func `a known scanner gets no response and is counted`(agent: String) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let out = gateway.receive(request("OPTIONS", extra: "User-Agent: \(agent)\n"), from: stranger)
        #expect(out.isEmpty)
        #expect(gateway.counters.count(.scannersDropped) == 1)
    }

    @Test func `an ACK of an unknown peer gets no response`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        #expect(gateway.receive(request("ACK"), from: stranger).isEmpty)
        #expect(gateway.counters.count(.strangersDropped) == 1)
        #expect(gateway.receive(request("OPTIONS"), from: stranger).count == 1)
    }

    @Test(arguments: ["Grandstream GXP", "my friendly-scanner", "Asterisk PBX 22", ""])
    func `other User-Agents are unknown peers like any`(agent: String) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let out = gateway.receive(request("OPTIONS", extra: "User-Agent: \(agent)\n"), from: stranger)
        #expect(out.count == 1)
    }

    @Test func `a configured peer that calls itself a scanner is a peer all the same`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let out = gateway.receive(
            request("INVITE", extra: "User-Agent: sipsak\n"), from: GatewayUnderTest.trunk)
        #expect(out.to(GatewayUnderTest.pbx).count == 1)
    }

    /// Ways to ask the gateway to send something elsewhere; RFC 3261 §16.5 and §26.3.2.3 leave it to policy whom it serves.
    static let elsewhere: [(what: String, from: PeerAddress, line: String, extra: String)] = [
        ("a foreign Request-URI", GatewayUnderTest.trunk, "sip:100@198.51.100.77", ""),
        ("a pre-loaded Route", GatewayUnderTest.trunk, "sip:100@192.0.2.20", "Route: <sip:198.51.100.77;lr>\n"),
        (
            "a Route behind the gateway's own", GatewayUnderTest.trunk, "sip:100@192.0.2.20",
            "Route: <sip:192.0.2.10;lr>, <sip:198.51.100.77;lr>\n"
        ),
        ("a strict Route", GatewayUnderTest.trunk, "sip:100@192.0.2.20", "Route: <sip:198.51.100.77>\n"),
        ("a Route by name", GatewayUnderTest.trunk, "sip:100@192.0.2.20", "Route: <sip:evil.example;lr>\n"),
        ("a foreign Request-URI from the PBX", GatewayUnderTest.pbx, "sip:100@198.51.100.77", ""),
        (
            "a pre-loaded Route from the PBX", GatewayUnderTest.pbx, "sip:1@203.0.113.5",
            "Route: <sip:198.51.100.77;lr>\n"
        ),
    ]

    @Test(arguments: elsewhere, ["INVITE", "MESSAGE", "ACK"])
    func `nothing is sent to an address nobody configured`(
        row: (what: String, from: PeerAddress, line: String, extra: String), method: String
    ) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let text = request(method, extra: row.extra).replacing("sip:100@192.0.2.20 ", with: row.line + " ")
        let out = gateway.receive(text, from: row.from)
        let known: Set<PeerAddress> = [GatewayUnderTest.trunk, GatewayUnderTest.pbx]
        #expect(out.allSatisfy { known.contains($0.destination) }, "\(row.what)")
        #expect(out.contains { $0.bytes.starts(with: method.utf8) }, "it goes to the configured peer instead")
    }

    @Test(arguments: ["INVITE", "MESSAGE", "SUBSCRIBE"])
    func `a request that comes back as it left is a loop, RFC 3261 §16.3 step 4`(method: String) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let sent = try #require(
            gateway.receive(request(method), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let round = sent.replacing("Via: SIP/2.0/UDP 192.0.2.10", with: "\(passing)Via: SIP/2.0/UDP 192.0.2.10")
        let out = gateway.receive(round, from: GatewayUnderTest.pbx)
        #expect(out.to(GatewayUnderTest.pbx).first?.hasPrefix("SIP/2.0 482 Loop Detected") == true)
        #expect(out.to(GatewayUnderTest.trunk).isEmpty)
        #expect(gateway.counters.count(.loopsFound) == 1)
    }

    /// A Via of another proxy it went through.
    private let passing = "Via: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKpassing;rport\r\n"

    @Test func `one that comes back for somebody else is a spiral and goes on, RFC 5393 §4.2`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let sent = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let diverted = passing + sent.replacing("INVITE sip:100@", with: "INVITE sip:200@")
        let lines = diverted.replacing(passing, with: "")
        let spiral = lines.replacing("Via: SIP/2.0/UDP 192.0.2.10", with: passing + "Via: SIP/2.0/UDP 192.0.2.10")
        #expect(gateway.receive(spiral, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).count == 1)
        #expect(gateway.counters.count(.loopsFound) == 0)
    }

    @Test func `whatever changes on the way, Max-Forwards ends every round trip, RFC 3261 §16.3 step 3`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        var text = request("INVITE").replacing("Max-Forwards: 70", with: "Max-Forwards: 3")
        var rounds = 0
        while rounds < 10 {
            guard let next = gateway.receive(text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first else {
                break
            }
            rounds += 1
            text = next.replacing("INVITE sip:", with: "INVITE sip:\(rounds)")
        }
        #expect(rounds == 3)
    }

    @Test func `an INVITE that has been here before is not branded again, RFC 5393 §4`() throws {
        let brand = try #require(E164Number("+61491570156"))
        let gateway = try GatewayUnderTest(numbers: [brand])
        let first = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let spiral = first.replacing("INVITE sip:100@", with: "INVITE sip:200@")
        let again = try #require(
            gateway.receive(spiral, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(again.components(separatedBy: "purpose=icon").count == 2, "one Call-Info and no second")
    }
}
