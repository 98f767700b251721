// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// Invariant 3 of ARCHITECTURE.md: nobody wears a borrowed name, in whatever spelling it is brought along.
@Suite("Nobody wears a borrowed name")
struct BorrowedNameTests {
    private static let name = #""Acme \"Bank\"""#

    private func gateway(_ change: (inout GatewayUnderTest.Options) -> Void = { _ in }) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        change(&options)
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    /// The INVITE as the PBX gets it.
    private func forwarded(_ gateway: GatewayUnderTest, _ invite: String) throws -> String {
        let sent = gateway.receive(invite, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
        return try #require(sent.first { $0.hasPrefix("INVITE ") })
    }

    private func invite(from: String, extra: String = "") -> String {
        request("INVITE", extra: extra).replacing("\"Carrier\" <sip:+61491570156@carrier.example>;tag=a", with: from)
    }

    // MARK: Who calls, and what the carrier says of it

    struct Claim: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var from = "<sip:+61491570156@c.example>;tag=a"
        var extra = ""
        var policy = BrandingPolicy.standard
        var order: [IdentityHeader] = [.pAssertedIdentity, .remotePartyID, .from]
        let reason: PassThroughReason?
    }

    static let claims = [
        Claim(testDescription: "nothing is said", reason: nil),
        // RFC 3261 §25.1: what stands in quotes is text, not the caller's URI.
        Claim(
            testDescription: "a bracket in a quoted parameter",
            from: "sip:+61400000001@c.example;x=\"<sip:+61491570156@c.example>\";tag=a", reason: .noMatch),
        Claim(
            testDescription: "a bracket in a quoted word of the name",
            from: "x \"<sip:+61491570156@c.example>\" <sip:+61400000001@c.example>;tag=a", reason: .noMatch),
        // RFC 3261 §20: without brackets, parameters are the header's.
        Claim(
            testDescription: "failed, behind a bare tel URI in PAI",
            extra: "P-Asserted-Identity: tel:+61491570156;verstat=TN-Validation-Failed\n", reason: .failedVerification),
        Claim(
            testDescription: "failed, behind the brackets",
            from: "<sip:+61491570156@c.example>;verstat=TN-Validation-Failed;tag=a", reason: .failedVerification),
        Claim(
            testDescription: "failed in Remote-Party-ID",
            extra: "Remote-Party-ID: <sip:+61491570156;verstat=TN-Validation-Failed@c.example>\n",
            reason: .failedVerification),
        Claim(
            testDescription: "passed and failed in one value",
            from: "<sip:+61491570156;verstat=TN-Validation-Passed@c.example;verstat=TN-Validation-Failed>;tag=a",
            reason: .failedVerification),
        // RFC 3966 §5.1.5: 0491570156 behind +44 is no Australian number, and no British one.
        Claim(
            testDescription: "another country's context behind a bare tel URI",
            from: "tel:0491570156;phone-context=+44;tag=a", reason: .numberUnclear),
        Claim(
            testDescription: "strict: passed for this number",
            from: "<sip:+61491570156;verstat=TN-Validation-Passed@c.example>;tag=a", policy: .strict, reason: nil),
        Claim(
            testDescription: "strict: passed in From, in national form, for the number of PAI",
            from: "<sip:0491570156;verstat=TN-Validation-Passed@c.example>;tag=a",
            extra: "P-Asserted-Identity: <tel:+61491570156>\n", policy: .strict, reason: nil),
        Claim(
            testDescription: "strict: passed, but for the number of PAI while From is asked",
            extra: "P-Asserted-Identity: <tel:+61491570999;verstat=TN-Validation-Passed>\n", policy: .strict,
            order: [.from], reason: .failedVerification),
    ]

    @Test(arguments: claims)
    func `a claim counts for the number that it is about`(_ claim: Claim) throws {
        let gateway = try gateway {
            $0.policy = claim.policy
            $0.identityOrder = claim.order
        }
        let sent = try forwarded(gateway, invite(from: claim.from, extra: claim.extra))
        let update = try #require(gateway.updates().first)
        #expect(sent.contains(Self.name) == (claim.reason == nil))
        if claim.reason == nil || claim.policy != .strict {
            #expect(update.reason == claim.reason)
        } else {
            #expect(update.reason != nil)
        }
    }

    // MARK: What an untrusted trunk may not bring

    @Test(arguments: [
        "sip:+61491570156@c.example;verstat=TN-Validation-Passed;tag=a",
        "<sip:+61491570156@c.example>;verstat=TN-Validation-Passed;tag=a",
        "<sip:+61491570156@c.example>;tag=a;VerStat=\"TN-Validation-Passed\"",
        "<sip:+61491570156;%76erstat=TN-Validation-Passed@c.example>;tag=a",
        "<sip:+61491570156@c.example;vers%74at=TN-Validation-Passed>;tag=a",
        "<tel:+61491570156;verstat=TN-Validation-Passed>; verstat = TN-Validation-Passed;tag=a",
        "tel:+61491570156;verstat=TN-Validation-Passed;tag=a",
        #"<sip:+61491570156;x=";verstat=TN-Validation-Passed@c.example>;tag=a"#,
        #"<sip:+61491570156@c.example>;verstat="TN-\"Validation-Passed";tag=a"#,
    ])
    func `its verstat goes, and it gets its own From back, RFC 3261 §8.2.6.2`(from: String) throws {
        for policy in [BrandingPolicy.standard, .permissive] {
            let gateway = try gateway {
                $0.isTrusted = false
                $0.policy = policy
            }
            let sent = try forwarded(gateway, invite(from: from))
            #expect(!sent.lowercased().contains("stat"), "\(sent)")
            let line = try #require(sent.split(separator: "\r\n").first { $0.hasPrefix("From: ") })
            #expect(line.contains("+61491570156") && line.contains(";tag=a"), "\(line)")
            #expect(line.filter { $0 == "<" }.count == line.filter { $0 == ">" }.count)
            let responses = gateway.receive(response("180 Ringing", to: sent), from: GatewayUnderTest.pbx)
            let text = try #require(responses.to(GatewayUnderTest.trunk).first)
            #expect(text.contains("From: \(from)\r\n"))
        }
    }

    @Test func `what is said in quotes stays, RFC 3261 §25.1`() throws {
        let gateway = try gateway { $0.isTrusted = false }
        let from = #"<sip:+61491570156@c.example>;info="a;verstat=b";tag=a"#
        #expect(try forwarded(gateway, invite(from: from)).contains("From: \(from)\r\n"))
    }

    @Test(arguments: [
        #"<https://evil.example/l.png>;purpose="icon""#, "<https://evil.example/l.png>;purpose=info;purpose=icon",
        #"https://evil.example/l.png;purpose=icon;x="<>""#, #""a;b" <https://evil.example/l.png>;purpose=icon"#,
        "<https://evil.example/l.png> ; PURPOSE = Icon", "<sip:x>;call-reason=\"Your bank\"",
    ])
    func `its logo goes, however it is written, RFC 9796`(value: String) throws {
        let gateway = try gateway { $0.isTrusted = false }
        let sent = try forwarded(gateway, request("INVITE", extra: "Call-Info: \(value)\n"))
        #expect(!sent.contains("Call-Info"))
        let branded = try forwarded(try self.gateway(), request("INVITE", extra: "Call-Info: \(value)\n"))
        #expect(branded.split(separator: "Call-Info: ").count == 2, "exactly one, the gateway's own")
    }

    @Test func `no trunk brings the header of another one`() throws {
        let gateway = try gateway {
            $0.trunkHeader = "X-Herald-Trunk"
            $0.secondTrunk = GatewayUnderTest.stranger
        }
        let forged = request("INVITE", extra: "X-HERALD-Trunk: carrier\n")
        let sent = gateway.receive(forged, from: GatewayUnderTest.stranger).to(GatewayUnderTest.pbx)
        #expect(try #require(sent.first).lowercased().contains("x-herald-trunk") == false)
    }

    @Test(arguments: [(true, true), (false, false)])
    func `a response of an untrusted trunk names nobody either, RFC 3325 §5`(isTrusted: Bool, comes: Bool) throws {
        let gateway = try gateway { $0.isTrusted = isTrusted }
        let out = gateway.receive(
            request("INVITE").replacing("192.0.2.20 SIP", with: "203.0.113.5 SIP"), from: GatewayUnderTest.pbx)
        let invite = try #require(out.to(GatewayUnderTest.trunk).first)
        let claims = """
            P-Asserted-Identity: "Acme Bank" <sip:+61491570156@carrier.example>
            Call-Info: <https://evil.example/bank.png>;purpose=icon

            """
        for status in ["180 Ringing", "200 OK"] {
            let out = gateway.receive(response(status, to: invite, extra: claims), from: GatewayUnderTest.trunk)
            let passed = try #require(out.to(GatewayUnderTest.pbx).first { $0.hasPrefix("SIP/2.0 \(status)") })
            #expect(passed.contains("P-Asserted-Identity") == comes)
            #expect(passed.contains("evil.example") == comes)
            #expect(passed.contains("From: \"Carrier\" <sip:+61491570156@carrier.example>;tag=a"))
        }
    }

    @Test func `a response whose Call-Info would grow past its limits brings nothing along`() throws {
        let gateway = try gateway { $0.isTrusted = false }
        let out = gateway.receive(
            request("INVITE").replacing("192.0.2.20 SIP", with: "203.0.113.5 SIP"), from: GatewayUnderTest.pbx)
        let invite = try #require(out.to(GatewayUnderTest.trunk).first)
        let many = String(repeating: "x,", count: 7000)
        let ringing = response(
            "180 Ringing", to: invite, extra: "Call-Info: \(many)<https://evil/l.png>;purpose=icon\n")
        for text in gateway.receive(ringing, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx) {
            #expect(!text.contains("evil"))
        }
    }

    // MARK: Inside a dialog

    struct Later: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var asserted = true
        let extra: String
        var from = "\"Carrier\" <sip:+61491570999@carrier.example>;tag=a"
        let isNamed: Bool
    }

    @Test(arguments: [
        Later(testDescription: "nobody is asserted any more", extra: "", isNamed: true),
        Later(
            testDescription: "the same is asserted", extra: "P-Asserted-Identity: <tel:+61491570156>\n", isNamed: true),
        Later(
            testDescription: "another one is, after a transfer",
            extra: "P-Asserted-Identity: <tel:+61491570111>\n", isNamed: false),
        Later(
            testDescription: "a listed number in From is not the caller of a dialog that asserts none", asserted: false,
            extra: "", from: "\"Carrier\" <sip:+61491570999@carrier.example>;tag=a", isNamed: false),
        Later(testDescription: "the caller is withheld now", extra: "Privacy: id\n", isNamed: false),
        Later(
            testDescription: "the check has failed",
            extra: "P-Asserted-Identity: <tel:+61491570156;verstat=TN-Validation-Failed>\n", isNamed: false),
    ])
    func `the name is that of the caller the dialog began with`(_ later: Later) throws {
        let before = try gateway()
        let first =
            later.asserted
            ? invite(from: later.from, extra: "P-Asserted-Identity: <tel:+61491570156>\n") : request("INVITE")
        let sent = try forwarded(before, first)
        #expect(sent.contains(Self.name))
        let recordRoute = try #require(sent.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") })
        // Another process: only the dialog itself remembers.
        let after = try gateway()
        let again = request(
            "INVITE", extra: "Route: \(recordRoute.dropFirst("Record-Route: ".count))\n" + later.extra, toTag: ";tag=p",
            branch: "2", sequence: 2
        ).replacing("\"Carrier\" <sip:+61491570156@carrier.example>;tag=a", with: later.from)
        #expect(try forwarded(after, again).contains(Self.name) == later.isNamed)
    }

    // MARK: What counts as shown

    @Test func `a call on which nothing was written is not reported as branded`() throws {
        let gateway = try gateway {
            $0.carrierName = .keep
            $0.hasLogoAndReason = false
        }
        let own = "Call-Info: <https://carrier.example/l.png>;purpose=icon\n"
        let sent = try forwarded(gateway, request("INVITE", extra: own))
        #expect(sent.contains(own.dropLast()), "the carrier's own stays then")
        #expect(gateway.updates().first?.reason == .policy)
    }
}
