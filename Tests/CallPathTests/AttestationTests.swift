// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Testing

@Suite("What a carrier says of its callers, wherever it says it: 3GPP TS 24.229 §7.2.18, ATIS-1000082")
struct AttestationTests {
    private func gateway(_ change: (inout GatewayUnderTest.Options) -> Void = { _ in }) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        change(&options)
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    private func reason(
        _ lines: String, _ policy: BrandingPolicy, headers: [String] = ["X-Twilio-VerStat", "X-Attestation-Info"]
    ) throws -> PassThroughReason? {
        let gateway = try gateway {
            $0.policy = policy
            $0.attestationHeaders = headers
        }
        _ = gateway.receive(request("INVITE", extra: lines), from: GatewayUnderTest.trunk)
        return try #require(gateway.updates().first).reason
    }

    @Test(arguments: [("+61491570156", nil), ("+61491570157", PassThroughReason.policy)])
    func `the claim for another number is none for the caller's`(claimed: String, reason: PassThroughReason?) throws {
        let gateway = try gateway { $0.policy = .strict }
        let invite = request("INVITE", extra: "P-Asserted-Identity: <sip:+61491570156@c>\n").replacing(
            "<sip:+61491570156@carrier.example>", with: "<sip:\(claimed)@carrier.example;verstat=TN-Validation-Passed>")
        _ = gateway.receive(invite, from: GatewayUnderTest.trunk)
        #expect(try #require(gateway.updates().first).reason == reason)
    }

    private static let passed = "P-Asserted-Identity: <sip:+61491570156@c;verstat=TN-Validation-Passed>\n"

    struct Row: CustomTestStringConvertible, Sendable {
        let lines: String
        var standard: PassThroughReason?
        var strict: PassThroughReason?
        var permissive: PassThroughReason?
        var testDescription: String { lines.split(separator: "\n").joined(separator: " | ") }
    }

    static let rows = [
        Row(lines: "", strict: .policy),
        Row(lines: "P-Attestation-Indicator: A\n"),
        Row(lines: "p-attestation-indicator: b\n", strict: .policy),
        Row(lines: "P-Attestation-Indicator: C\n", standard: .policy, strict: .policy),
        Row(lines: "Attestation-Info: A\nOrigination-Id: c0ffee00-0000-4000-8000-000000000000\n"),
        Row(lines: "Attestation-Info: C\n", standard: .policy, strict: .policy),
        // The identifier of the origin is no level.
        Row(lines: "P-Origination-Id: C\n", strict: .policy),
        Row(lines: "X-Twilio-VerStat: TN-Validation-Passed-A\n"),
        Row(lines: "X-Twilio-VerStat: TN-Validation-Passed-C\n", standard: .policy, strict: .policy),
        Row(
            lines: "X-Twilio-VerStat: TN-Validation-Failed\n", standard: .failedVerification,
            strict: .failedVerification,
            permissive: .failedVerification),
        // Twilio's words for diverted calls, and for a check that it could not do.
        Row(lines: "X-Twilio-VerStat: TN-Validation-Passed-A-Diverted\n"),
        Row(lines: "X-Twilio-VerStat: TN-Validation-Passed-C-Diverted\n", standard: .policy, strict: .policy),
        Row(lines: "X-Twilio-VerStat: TN-Validation-Passed-C-Passthrough\n", standard: .policy, strict: .policy),
        Row(
            lines: "X-Twilio-VerStat: NULL\n", standard: .failedVerification, strict: .failedVerification,
            permissive: .failedVerification),
        Row(lines: "P-Attestation-Indicator: C-Diverted\n", standard: .policy, strict: .policy),
        Row(lines: "Attestation-Info: C;\n", standard: .policy, strict: .policy),
        Row(
            lines: "P-Asserted-Identity: <sip:+61491570156;verstat=TN-Validation-Passed-C-Diverted@c>\n",
            standard: .policy, strict: .policy),
        // Telnyx and Bandwidth write it behind the host, and behind the bracket.
        Row(
            lines: "P-Asserted-Identity: \"J\" <sip:+61491570156@c;verstat=TN-Validation-Passed-C-Diverted>\n",
            standard: .policy, strict: .policy),
        Row(
            lines: "P-Asserted-Identity: <sip:+61491570156@c:5060>;verstat=TN-Validation-Passed-C-Diverted\n",
            standard: .policy, strict: .policy),
        Row(
            lines: "P-Asserted-Identity: <sip:+61491570156;verstat=TN%2DValidation%2DFailed@c>\n",
            standard: .failedVerification, strict: .failedVerification, permissive: .failedVerification),
        Row(
            lines: "Remote-Party-ID: <sip:+61491570156@c;verstat=TN-Validation-Passed-B-Diverted>;party=calling\n",
            strict: .policy),
        Row(lines: "x-attestation-info: \"B\"\n", strict: .policy),
        Row(lines: "X-Other: C\n", strict: .policy),
        // The worst of all.
        Row(lines: passed),
        Row(lines: passed + "P-Attestation-Indicator: C\n", standard: .policy, strict: .policy),
        Row(lines: passed + "Attestation-Info: B\n", strict: .policy),
        Row(lines: passed + "X-Twilio-VerStat: No-TN-Validation\n", strict: .policy),
        Row(lines: "P-Attestation-Indicator: A\nAttestation-Info: C\n", standard: .policy, strict: .policy),
        Row(
            lines: "P-Attestation-Indicator: A\nP-Asserted-Identity: <tel:+61491570156;verstat=TN-Validation-Failed>\n",
            standard: .failedVerification, strict: .failedVerification, permissive: .failedVerification),
        Row(
            lines: "P-Asserted-Identity: <tel:+61491570156;verstat=TN-Validation-Passed>, "
                + "<sip:+61491570156;verstat=TN-Validation-Passed-C@c>\n", standard: .policy, strict: .policy),
    ]

    @Test(arguments: rows)
    func `the worst of all counts under each policy`(row: Row) throws {
        #expect(try reason(row.lines, .standard) == row.standard)
        #expect(try reason(row.lines, .strict) == row.strict)
        #expect(try reason(row.lines, .permissive) == row.permissive)
    }

    @Test func `a header counts only where the operator names it`() throws {
        #expect(try reason("X-Twilio-VerStat: TN-Validation-Failed\n", .standard, headers: []) == nil)
    }

    @Test func `an untrusted trunk neither is believed nor brings them, a trusted one passes them on`() throws {
        let lines = """
            P-Attestation-Indicator: A
            Attestation-Info: A
            Origination-Id: 1
            P-Origination-Id: 1
            X-TWILIO-verstat: TN-Validation-Passed-A

            """
        for isTrusted in [true, false] {
            let gateway = try gateway {
                $0.isTrusted = isTrusted
                $0.attestationHeaders = ["X-Twilio-VerStat"]
            }
            let sent = gateway.receive(request("INVITE", extra: lines), from: GatewayUnderTest.trunk)
            let invite = try #require(sent.to(GatewayUnderTest.pbx).first)
            for line in lines.split(separator: "\n") { #expect(invite.contains(line) == isTrusted, "\(line)") }
            #expect(gateway.updates().first?.reason == (isTrusted ? nil : .untrusted))
        }
    }
}
