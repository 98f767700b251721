// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("The story of one call")
struct CallStoryTests {
    private static let brand = E164Number("+61491570156")
    private static let quotedName = #""Acme \"Bank\"""#

    private func gateway(_ change: (inout GatewayUnderTest.Options) -> Void = { _ in }) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        change(&options)
        return try GatewayUnderTest(numbers: [try #require(Self.brand)], options: options)
    }

    @Test func `the trunk gets its own From back in every response, RFC 3261 §8.2.6.2`() throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(invite.contains(Self.quotedName))
        for status in ["180 Ringing", "200 OK"] {
            let back = gateway.receive(response(status, to: invite), from: GatewayUnderTest.pbx).to(
                GatewayUnderTest.trunk)
            let text = try #require(back.first)
            #expect(text.hasPrefix("SIP/2.0 \(status)"))
            #expect(text.contains("From: \"Carrier\" <sip:+61491570156@carrier.example>;tag=a"))
            #expect(!text.contains("192.0.2.10:5060;branch"), "the gateway's own Via must be off")
        }
    }

    @Test func `CANCEL waits for a provisional response and carries the forwarded From, RFC 3261 §9.1`() throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let early = gateway.receive(
            request("CANCEL", extra: "Reason: SIP;cause=200;text=\"Call completed elsewhere\"\n"),
            from: GatewayUnderTest.trunk)
        #expect(early.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
        #expect(early.to(GatewayUnderTest.pbx).isEmpty)
        let ringing = gateway.receive(response("180 Ringing", to: invite), from: GatewayUnderTest.pbx)
        let cancel = try #require(ringing.to(GatewayUnderTest.pbx).first)
        #expect(cancel.hasPrefix("CANCEL sip:100@192.0.2.20 SIP/2.0\r\n"))
        #expect(cancel.contains(Self.quotedName))
        #expect(cancel.contains("Reason: SIP;cause=200"))
        #expect(cancel.contains("CSeq: 1 CANCEL"))
        let cancelled = gateway.updates().first { $0.kind == .cancelled }
        #expect(cancelled?.sipCause == 200)
    }

    @Test func `a refused INVITE is acknowledged hop by hop, RFC 3261 §17.1.1.3`() throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let out = gateway.receive(
            response("486 Busy Here", to: invite, extra: "Reason: Q.850;cause=17\n"), from: GatewayUnderTest.pbx)
        let ack = try #require(out.to(GatewayUnderTest.pbx).first)
        #expect(ack.hasPrefix("ACK sip:100@192.0.2.20"))
        #expect(ack.contains("tag=p"))
        #expect(out.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 486") == true)
        #expect(gateway.updates().last?.q850Cause == 17)
        #expect(gateway.receive(request("ACK", toTag: ";tag=p"), from: GatewayUnderTest.trunk).isEmpty)
    }

    @Test(
        arguments: [
            // ATIS-1000099 §5: the text begins with the version of the analytics' word; both protocols are in use.
            ("SIP;cause=603;text=\"v=analytics1;url=https://block.example\";location=RLN", 608),
            ("Q.850; cause=21; text=\"v=analytics1;tel=+15125550100\"", 608),
            ("SIP;cause=603;text=\"Declined\"", 603),
            ("SIP;cause=603;text=\"see v=analytics1\"", 603),
            ("SIP;cause=603;text", 603),
        ] as [(String, UInt16)])
    func `a 603 by a network's analytics differs from one by a person`(reason: String, cause: UInt16) throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(
            response("603 Network Blocked", to: invite, extra: "Reason: \(reason)\n"), from: GatewayUnderTest.pbx)
        #expect(gateway.updates().last?.sipCause == cause)
    }

    @Test func `a target's 503 goes upstream as 500, RFC 3261 §16.7 step 6`() throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let out = gateway.receive(response("503 Service Unavailable", to: invite), from: GatewayUnderTest.pbx)
        #expect(out.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 500 Server Internal Error\r\n") == true)
    }

    @Test func `a retransmission gets the last response and goes no further, RFC 3261 §17.2.1`() throws {
        let gateway = try gateway()
        let first = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        #expect(first.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 100 Trying") == true)
        let again = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        #expect(again.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 100 Trying") == true)
        #expect(again.to(GatewayUnderTest.pbx).isEmpty)
        #expect(gateway.updates().filter { $0.kind == .invite }.count == 1)
    }

    @Test func `a silent target is given up within the patience, RFC 3261 §16.8, RFC 3263 §4.3`() throws {
        let gateway = try gateway()
        _ = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        var responses: [String] = []
        for _ in 0..<40 { responses += gateway.pass(.seconds(1)).to(GatewayUnderTest.trunk) }
        #expect(responses.first?.hasPrefix("SIP/2.0 503 Service Unavailable") == true)
        #expect(gateway.updates().last?.status == 408)
    }

    @Test(arguments: [
        ("INVITE", true), ("UPDATE", true), ("MESSAGE", true), ("ACK", false), ("BYE", false), ("PRACK", false),
        ("INFO", false), ("REFER", false), ("NOTIFY", false), ("invite", false),
    ])
    func `a later request has the name if a phone shows its caller, also after a restart, RFC 4916 §4.3`(
        method: String, isRenamed: Bool
    ) throws {
        let before = try gateway()
        let invite = try #require(
            before.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let recordRoute = try #require(invite.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") })
        let route = "Route: \(recordRoute.dropFirst("Record-Route: ".count))\n"
        let after = try gateway()
        let asserted = "P-Asserted-Identity: \"Carrier\" <sip:+61491570156@carrier.example>\n"
        let later = after.receive(
            request(method, extra: route + asserted, toTag: ";tag=p", branch: "2", sequence: 2),
            from: GatewayUnderTest.trunk)
        let forwarded = try #require(later.to(GatewayUnderTest.pbx).first)
        #expect(forwarded.contains(Self.quotedName) == isRenamed)
        for field in ["From", "P-Asserted-Identity"] {
            #expect(forwarded.contains("\r\n\(field): \"Carrier\" <sip:+61491570156@carrier.example>") != isRenamed)
        }
        #expect(!forwarded.contains("Route:"))
        guard method == "BYE" else { return }
        let update = try #require(after.updates().first)
        #expect(update.kind == .bye)
        #expect(update.call == before.updates().first?.call, "the BYE names the call its INVITE opened")
    }

    @Test(arguments: [
        "0000000000000000", "", "9ib", String(repeating: "f", count: 50), String(repeating: "0", count: 50), "abc",
    ])
    func `a forged route cookie changes nothing`(cookie: String) throws {
        let gateway = try gateway()
        let route = "Route: <sip:192.0.2.10:5060;lr;hd=\(cookie)>\n"
        let bye = gateway.receive(
            request("BYE", extra: route, toTag: ";tag=p", branch: "2", sequence: 2), from: GatewayUnderTest.trunk)
        #expect(bye.to(GatewayUnderTest.pbx).first?.contains("From: \"Carrier\" <sip:") == true)
    }

    @Test func `a response nobody remembers goes back statelessly, to known peers only, RFC 3261 §16.11`() throws {
        let before = try gateway()
        let invite = try #require(
            before.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let after = try gateway()
        let success = response("200 OK", to: invite)
        #expect(after.receive(success, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).count == 1)
        #expect(after.updates().first?.call == before.updates().first?.call)
        let astray = success.replacing("203.0.113.5", with: "198.51.100.9")
        #expect(after.receive(astray, from: GatewayUnderTest.pbx).isEmpty)
        #expect(after.counters.count(.responsesDropped) == 1)
    }

    @Test func `a CANCEL without a transaction goes on and still carries who took the call`() throws {
        let before = try gateway()
        _ = before.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        let after = try gateway()
        let cancel = request("CANCEL", extra: "Reason: SIP;cause=200;text=\"Call completed elsewhere\"\n")
        #expect(after.receive(cancel, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).count == 1)
        let update = try #require(after.updates().first)
        #expect(update.kind == .cancelled)
        #expect(update.sipCause == 200)
        #expect(update.call == before.updates().first?.call)
    }

    @Test func `an unknown peer is refused and counted, and leads no response anywhere`() throws {
        let gateway = try gateway()
        let out = gateway.receive(request("INVITE"), from: GatewayUnderTest.stranger)
        #expect(out.map(\.destination) == [GatewayUnderTest.stranger])
        #expect(out.to(GatewayUnderTest.stranger).first?.hasPrefix("SIP/2.0 403 Forbidden") == true)
        #expect(gateway.counters.count(.strangersRefused) == 1)
        #expect(gateway.receive("SIP/2.0 200 OK\n\n", from: GatewayUnderTest.stranger).isEmpty)
    }

    @Test func `an untrusted trunk brings no identity, no verstat and no logo of its own`() throws {
        let gateway = try gateway {
            $0.isTrusted = false; $0.keepsForeignCallInfo = false
        }
        let claims = """
            P-Asserted-Identity: "Bank" <sip:+61491570156@carrier.example>
            Remote-Party-ID: "Bank" <sip:+61491570156@carrier.example>
            P-Preferred-Identity: "Bank" <sip:+61491570156@carrier.example>
            Call-Info: <https://evil.example/bank.png>;purpose=icon, <sip:x>;answer-after=0
            X-AUTH-IP: 192.0.2.1

            """
        let text = request("INVITE", extra: claims).replacing(
            "+61491570156@carrier.example>;tag", with: "+61491570156;verstat=TN-Validation-Passed@carrier.example>;tag")
        let sent = try #require(gateway.receive(text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        for word in ["P-Asserted", "Remote-Party", "P-Preferred", "Call-Info", "X-AUTH-IP", "verstat", "Acme"] {
            #expect(!sent.contains(word), "\(word)")
        }
        #expect(gateway.updates().first?.reason == .untrusted)
    }

    @Test func `what does not fit the target's datagrams goes in order: logo, reason, name`() throws {
        let plain = try #require(
            try gateway().receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let full = plain.utf8.count
        let expected: [(Int, Bool, Bool, Bool)] = [
            (full, true, true, true), (full - 1, false, true, true), (full - 60, false, false, true),
            (full - 150, false, false, false),
        ]
        for (limit, logo, reason, name) in expected {
            let sent = try #require(
                try gateway { $0.largestDatagram = limit }.receive(request("INVITE"), from: GatewayUnderTest.trunk)
                    .to(GatewayUnderTest.pbx).first)
            #expect(sent.contains("purpose=icon") == logo, "\(limit)")
            #expect(sent.contains("call-reason") == reason, "\(limit)")
            #expect(sent.contains(Self.quotedName) == name, "\(limit)")
            #expect(!name || sent.utf8.count <= limit)
        }
    }

    @Test func `a closed gate lets the call pass as it came, with the gate as the reason`() throws {
        let gateway = try gateway { $0.gates.brandingEnabled = false }
        let sent = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(sent.contains("From: \"Carrier\" <sip:+61491570156@carrier.example>;tag=a"))
        #expect(gateway.updates().first?.reason == .gatedBrandingDisabled)
    }

    @Test func `the PBX can distinguish trunks, and no outsider can pretend to be one`() throws {
        let gateway = try gateway { $0.trunkHeader = "X-Herald-Trunk" }
        let sent = try #require(
            gateway.receive(request("INVITE", extra: "x-herald-trunk: other\n"), from: GatewayUnderTest.trunk)
                .to(GatewayUnderTest.pbx).first)
        #expect(sent.contains("X-Herald-Trunk: carrier\r\n"))
        #expect(!sent.contains("other"))
    }

    @Test func `a call from the PBX passes to the trunk as it came`() throws {
        let gateway = try gateway()
        let out = gateway.receive(
            request("INVITE").replacing("192.0.2.20 SIP", with: "203.0.113.5 SIP"), from: GatewayUnderTest.pbx)
        let sent = try #require(out.to(GatewayUnderTest.trunk).first)
        #expect(sent.contains("From: \"Carrier\" <sip:+61491570156@carrier.example>;tag=a"))
        #expect(gateway.updates().first?.direction == .outbound)
    }

    @Test func `a request routed elsewhere still goes to the configured peer: no open relay`() throws {
        let gateway = try gateway()
        let out = gateway.receive(
            request("INVITE", extra: "Route: <sip:198.51.100.9;lr>\n").replacing(
                "sip:100@192.0.2.20 SIP", with: "sip:100@198.51.100.9 SIP"),
            from: GatewayUnderTest.trunk)
        #expect(out.requests("INVITE").count == 1)
        #expect(out.to(GatewayUnderTest.pbx).count == 1)
        #expect(out.to(GatewayUnderTest.stranger).isEmpty)
    }

    @Test func `a full table refuses new requests with 503 and Retry-After`() throws {
        let gateway = try gateway { $0.mostTransactions = 1 }
        _ = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        let second = gateway.receive(request("INVITE", branch: "other"), from: GatewayUnderTest.trunk)
        let response = try #require(second.to(GatewayUnderTest.trunk).first)
        #expect(response.hasPrefix("SIP/2.0 503 Service Unavailable"))
        #expect(response.contains("Retry-After: 5"))
    }

    @Test func `nothing is left when every timer has run`() throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("200 OK", to: invite), from: GatewayUnderTest.pbx)
        for _ in 0..<40 { _ = gateway.pass(.seconds(1)) }
        #expect(gateway.transactions == 0)
    }

    @Test func `a 2xx that comes after the caller got Herald's own failure ends at the callee`() throws {
        let gateway = try gateway()
        let sent = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        let invite = try #require(sent.to(GatewayUnderTest.pbx).first)
        for _ in 0..<33 { _ = gateway.pass(.seconds(1)) }
        let late = gateway.receive(response("200 OK", to: invite), from: GatewayUnderTest.pbx)
        #expect(late.to(GatewayUnderTest.trunk).isEmpty)
        #expect(late.to(GatewayUnderTest.pbx).map { $0.prefix(4) } == ["ACK ", "BYE "])
    }

    @Test func `a 2xx that comes after a refusal goes on, and the refusal stays one, RFC 3261 §16.7 step 5`() throws {
        let gateway = try gateway()
        let sent = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        let invite = try #require(sent.to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("486 Busy Here", to: invite), from: GatewayUnderTest.pbx)
        // One of two phones behind a proxy that forks.
        let late = gateway.receive(response("200 OK", to: invite), from: GatewayUnderTest.pbx)
        #expect(late.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
        let repeated = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        #expect(repeated.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 486 Busy Here") == true)
        let again = gateway.receive(response("486 Busy Here", to: invite), from: GatewayUnderTest.pbx)
        #expect(again.to(GatewayUnderTest.pbx).first?.hasPrefix("ACK ") == true, "§17.1.1.2")
    }

    @Test func `a CANCEL of anything but an INVITE finds nothing and goes on, RFC 3261 §9.1, §16.10`() throws {
        let gateway = try gateway()
        let first = gateway.receive(request("MESSAGE", branch: "m"), from: GatewayUnderTest.trunk)
        let message = try #require(first.to(GatewayUnderTest.pbx).first)
        let cancel = gateway.receive(request("CANCEL", branch: "m"), from: GatewayUnderTest.trunk)
        let forwarded = try #require(cancel.to(GatewayUnderTest.pbx).first)
        let refusal = gateway.receive(
            response("481 Call/Transaction Does Not Exist", to: forwarded), from: GatewayUnderTest.pbx)
        #expect(refusal.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 481") == true)
        let out = gateway.receive(response("200 OK", to: message), from: GatewayUnderTest.pbx)
        #expect(out.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
    }

    @Test func `a response of another method than its request's is nobody's, RFC 3261 §17.1.3`() throws {
        let gateway = try gateway()
        let sent = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        let invite = try #require(sent.to(GatewayUnderTest.pbx).first)
        let other = response("200 OK", to: invite.replacing("CSeq: 1 INVITE", with: "CSeq: 1 BYE"))
        _ = gateway.receive(other, from: GatewayUnderTest.pbx)
        #expect(!gateway.updates().contains { $0.kind == .answered })
    }
}
