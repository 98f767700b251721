// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import Testing

@Suite("verstat for the PBX: 3GPP TS 24.229 §7.2A.20")
struct VerstatMarkTests {
    private static let identity = "P-Asserted-Identity: \"Carrier\" <sip:+61491570156@carrier.example;user=phone>\n"

    private func options(
        _ mark: VerstatMark, _ change: (inout GatewayUnderTest.Options) -> Void = { _ in }
    ) -> GatewayUnderTest.Options {
        var options = GatewayUnderTest.Options()
        options.verstat = mark
        options.policy = .permissive
        options.attestationHeaders = ["X-Twilio-VerStat"]
        change(&options)
        return options
    }

    private func invite(_ lines: String, _ options: GatewayUnderTest.Options) throws -> String {
        let gateway = try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
        let sent = gateway.receive(request("INVITE", extra: lines), from: GatewayUnderTest.trunk)
        return try #require(sent.to(GatewayUnderTest.pbx).first)
    }

    private func lines(_ name: String, of message: String) -> [String] {
        message.split(separator: "\r\n").filter { $0.hasPrefix(name + ": ") }.map(String.init)
    }

    @Test(
        arguments: [
            ("A", "TN-Validation-Passed", "TN-Validation-Passed-A"), ("B", nil, "TN-Validation-Passed-B"),
            ("C", nil, "TN-Validation-Passed-C"),
        ] as [(String, String?, String)]) func `a trusted carrier's attestation reaches the phone as verstat`(
            level: String, full: String?, levels: String
        ) throws
    {
        let evidence = Self.identity + "P-Attestation-Indicator: \(level)\n"
        for (mark, expected) in [(VerstatMark.off, nil), (.full, full), (.levels, levels)] {
            let line = try #require(lines("P-Asserted-Identity", of: try invite(evidence, options(mark))).first)
            let user = "sip:+61491570156\(expected.map { ";verstat=\($0)" } ?? "")@carrier.example;user=phone>"
            #expect(line.hasSuffix("<\(user)"), "\(mark)")
        }
    }

    @Test func `a failed check is marked as failed, and the call has no brand`() throws {
        let invite = try invite(Self.identity + "X-Twilio-VerStat: TN-Validation-Failed\n", options(.full))
        #expect(invite.contains("<sip:+61491570156;verstat=TN-Validation-Failed@carrier.example;user=phone>"))
        #expect(!invite.contains("Acme"))
    }

    @Test(arguments: [VerstatMark.full, .levels]) func `without evidence nothing is claimed`(mark: VerstatMark) throws {
        #expect(try !invite(Self.identity, options(mark)).contains("verstat"))
        let none = Self.identity + "X-Twilio-VerStat: No-TN-Validation\n"
        #expect(try !invite(none, options(mark)).contains("verstat="))
    }

    @Test func `an untrusted trunk's claim is removed and gives no mark`() throws {
        let evidence =
            "P-Asserted-Identity: <sip:+61491570156;verstat=TN-Validation-Passed@carrier.example>\n"
            + "P-Attestation-Indicator: A\nX-Twilio-VerStat: TN-Validation-Passed-A\n"
        let invite = try invite(evidence, options(.levels) { $0.isTrusted = false })
        #expect(!invite.lowercased().contains("verstat"))
    }

    @Test func `verstat of the trusted carrier stays as received`() throws {
        let received = "<sip:+61491570156;verstat=TN-Validation-Passed@carrier.example>"
        let invite = try invite(
            "P-Asserted-Identity: \(received)\nAttestation-Info: B\n", options(.levels))
        #expect(lines("P-Asserted-Identity", of: invite).first?.hasSuffix(received) == true)
        #expect(invite.ranges(of: "verstat").count == 1)
    }

    @Test func `both forms of one caller are marked, another number is not`() throws {
        let pair = "P-Asserted-Identity: <tel:+61491570156>, <sip:0491570156@carrier.example>\nAttestation-Info: A\n"
        let invite = try invite(pair, options(.full))
        #expect(invite.contains("<tel:+61491570156;verstat=TN-Validation-Passed>"))
        #expect(invite.contains("<sip:0491570156;verstat=TN-Validation-Passed@carrier.example>"))
        let other = "P-Asserted-Identity: <tel:+61491570156>, <sip:pilot@carrier.example>\nAttestation-Info: A\n"
        #expect(try self.invite(other, options(.full)).contains("<sip:pilot@carrier.example>"))
    }

    @Test func `From is marked where the carrier asserts no identity, and responses show it as received`() throws {
        let gateway = try GatewayUnderTest(numbers: [], options: options(.full))
        let sent = gateway.receive(
            request("INVITE", extra: "P-Attestation-Indicator: A\n"), from: GatewayUnderTest.trunk)
        let invite = try #require(sent.to(GatewayUnderTest.pbx).first)
        let mark = "\"Carrier\" <sip:+61491570156;verstat=TN-Validation-Passed@carrier.example>;tag=a"
        #expect(lines("From", of: invite) == ["From: " + mark])
        let answer = gateway.receive(response("180 Ringing", to: invite), from: GatewayUnderTest.pbx)
        let ringing = try #require(answer.to(GatewayUnderTest.trunk).first)
        #expect(lines("From", of: ringing) == ["From: \"Carrier\" <sip:+61491570156@carrier.example>;tag=a"])
    }

    @Test func `a withheld caller gets no mark`() throws {
        let invite = try invite(
            Self.identity + "Privacy: id\nP-Attestation-Indicator: A\n", options(.levels))
        #expect(!invite.contains("verstat"))
    }

    @Test func `a URI without brackets, or with a password, stays as received`() throws {
        for value in ["sip:+61491570156@carrier.example", "<sip:+61491570156:pass@carrier.example>"] {
            let invite = try invite(
                "P-Asserted-Identity: \(value)\nP-Attestation-Indicator: A\n", options(.full) { $0.carrierName = .keep }
            )
            #expect(lines("P-Asserted-Identity", of: invite) == ["P-Asserted-Identity: \(value)"])
        }
    }

    @Test func `where the datagram is too small the mark is left out before the name`() throws {
        let evidence = Self.identity + "P-Attestation-Indicator: A\n"
        let named = options(.off) { $0.hasLogoAndReason = false }
        var small = options(.full) { $0.hasLogoAndReason = false }
        #expect(try invite(evidence, small).contains("verstat"))
        small.largestDatagram = try invite(evidence, named).utf8.count + 5
        let cut = try invite(evidence, small)
        #expect(cut.contains("Acme") && !cut.contains("verstat"))
        small.largestDatagram = 100
        let plain = try invite(evidence, small)
        #expect(!plain.contains("Acme") && !plain.contains("verstat"))
    }
}
