// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import SIPCore
import Testing

/// The called side repeats the From of the INVITE as its To; what the gateway wrote there is for the PBX alone.
@Suite("The carrier gets its own text back in To, RFC 3261 §12.2.1.1")
struct DialogNameTests {
    private static let trunk = GatewayUnderTest.trunk
    private static let pbx = GatewayUnderTest.pbx
    private static let uri = "<sip:+61491570156@carrier.example>"

    private func gateway(_ change: (inout GatewayUnderTest.Options) -> Void = { _ in }) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        change(&options)
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    /// A later request of the PBX: its To is the From that it got.
    private func later(_ method: String, _ invite: String, name: String? = nil) throws -> String {
        let lines = invite.split(separator: "\r\n")
        let routes = lines.filter { $0.hasPrefix("Record-Route: ") }.map { "Route: \($0.dropFirst(14))\n" }.joined()
        let from = try #require(lines.first { $0.hasPrefix("From: ") }).dropFirst(6)
        let to = name.map { "\($0)\(Self.uri);tag=a" } ?? String(from)
        return request(method, extra: routes, branch: "p\(method)", sequence: 2)
            .replacing("From: \"Carrier\" \(Self.uri);tag=a", with: "From: <sip:100@192.0.2.20>;tag=p")
            .replacing("To: <sip:100@192.0.2.20>", with: "To: \(to)")
            .replacing("sip:100@192.0.2.20 SIP/2.0", with: "sip:c@203.0.113.5 SIP/2.0")
            .replacing("SIP/2.0/UDP 203.0.113.5:5060", with: "SIP/2.0/UDP 192.0.2.20:5060")
    }

    private func to(_ message: String) -> String? {
        message.split(separator: "\r\n").first { $0.hasPrefix("To: ") }.map { String($0.dropFirst(4)) }
    }

    /// Names of the carrier, as they come.
    static let names = [
        #""Carrier" "#, "Carrier ", #""A \"B\" \\ C" "#, #""Müller, Söhne & Co." "#, "", "Müller ", #""" "#,
        #""x;hd=00;lr?a=b%41_5f" "#, #""WIRELESS CALLER""#,
    ]

    @Test(arguments: ["BYE", "INVITE", "ACK", "UPDATE", "NOTIFY", "REFER", "INFO"], names)
    func `a request of the PBX has it, on both sides' terms`(method: String, name: String) throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE", from: name), from: Self.trunk).to(Self.pbx).first)
        #expect(invite.contains("Acme"))
        let asked = try later(method, invite)
        let sent = try #require(gateway.receive(asked, from: Self.pbx).to(Self.trunk).last)
        let trimmed = name.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        #expect(to(sent) == (trimmed.isEmpty ? "" : "\(trimmed) ") + Self.uri + ";tag=a", "\(sent)")
        #expect(!sent.contains("Acme"))
        guard method != "ACK" else { return }
        // §8.2.6.2: the PBX gets its own To back.
        let kept = sent.split(separator: "\r\n").filter { line in
            ["Via:", "From:", "To:", "Call-ID:", "CSeq:"].contains { line.hasPrefix($0) }
        }
        let ok = "SIP/2.0 200 OK\n" + kept.joined(separator: "\n") + "\nContent-Length: 0\n\n"
        let back = try #require(gateway.receive(ok, from: Self.trunk).to(Self.pbx).last)
        #expect(to(back) == to(asked.replacing("\n", with: "\r\n")))
    }

    @Test func `a name that the PBX writes otherwise is the carrier's as well, and one that it leaves out stays out`()
        throws
    {
        let gateway = try gateway()
        let invite = try #require(gateway.receive(request("INVITE"), from: Self.trunk).to(Self.pbx).first)
        let other = try later("BYE", invite, name: "\"ACME BANK\" ")
        #expect(
            to(try #require(gateway.receive(other, from: Self.pbx).to(Self.trunk).last))
                == "\"Carrier\" \(Self.uri);tag=a")
        let none = try later("INFO", invite, name: "")
        #expect(to(try #require(gateway.receive(none, from: Self.pbx).to(Self.trunk).last)) == "\(Self.uri);tag=a")
    }

    @Test func `a name too long for Record-Route leaves To without one`() throws {
        let gateway = try gateway()
        let name = "\"" + String(repeating: "ü", count: 80) + "\" "
        let invite = try #require(gateway.receive(request("INVITE", from: name), from: Self.trunk).to(Self.pbx).first)
        #expect(!invite.contains(";hn="))
        let sent = try #require(gateway.receive(try later("BYE", invite), from: Self.pbx).to(Self.trunk).last)
        #expect(to(sent) == "\(Self.uri);tag=a")
    }

    @Test func `it survives a restart and a failover, and an unbranded dialog carries nothing`() throws {
        let first = PeerAddress(ipv4: 0xC000_0215, port: 5060)
        func options(_ options: inout GatewayUnderTest.Options) {
            options.targets = [first, Self.pbx].enumerated().map { position, address in
                Target(
                    targetState: TargetState(name: "\(address)", rules: TargetHealthRules()), address: address,
                    socket: 0, priority: position)
            }
        }
        let before = try gateway(options)
        let one = try #require(before.receive(request("INVITE"), from: Self.trunk).to(first).first)
        let two = try #require(before.receive(response("503 No", to: one), from: first).to(Self.pbx).first)
        let after = try gateway(options)
        let sent = try #require(after.receive(try later("BYE", two), from: Self.pbx).to(Self.trunk).last)
        #expect(to(sent) == "\"Carrier\" \(Self.uri);tag=a")
        let plain = try GatewayUnderTest(numbers: [])
        let invite = try #require(plain.receive(request("INVITE"), from: Self.trunk).to(Self.pbx).first)
        #expect(!invite.contains(";hn="))
        let bye = try later("BYE", invite)
        #expect(
            to(try #require(plain.receive(bye, from: Self.pbx).to(Self.trunk).last)) == "\"Carrier\" \(Self.uri);tag=a")
    }

    @Test(arguments: ["_0D_0AX-Evil_3A_20a", "_4", "_zz", "_"])
    func `text that no name can have is none`(text: String) throws {
        let gateway = try gateway()
        let invite = try #require(gateway.receive(request("INVITE"), from: Self.trunk).to(Self.pbx).first)
        let forged = try later("BYE", invite).replacing("hn=_22Carrier_22", with: "hn=\(text)")
        let sent = try #require(gateway.receive(forged, from: Self.pbx).to(Self.trunk).last)
        #expect(!sent.contains("X-Evil") && to(sent) == "\(Self.uri);tag=a")
    }
}
