// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Testing

@Suite("The evidence that an INVITE leaves with its decision")
struct DecisionEvidenceTests {
    private func evidence(
        _ lines: String = "", _ change: (inout GatewayUnderTest.Options) -> Void = { _ in }
    ) throws -> DecisionEvidence {
        var options = GatewayUnderTest.Options()
        change(&options)
        let number = try #require(E164Number("+61491570156"))
        let gateway = try GatewayUnderTest(numbers: [number], options: options)
        _ = gateway.receive(request("INVITE", extra: lines), from: GatewayUnderTest.trunk)
        let update = gateway.updates().first { $0.kind == .invite }
        return try #require(update?.evidence)
    }

    private static let asserted = "P-Asserted-Identity: <sip:+61491570156@c"

    @Test(arguments: [
        ("", DecisionEvidence.Header.from, Verification.none, AttestationSource.none),
        (asserted + ">\n", .pAssertedIdentity, .none, .none),
        ("Remote-Party-ID: <sip:+61491570156@c>;party=calling\n", .remotePartyID, .none, .none),
        (asserted + ";verstat=TN-Validation-Passed-B>\n", .pAssertedIdentity, .passedB, .assertedIdentity),
        ("P-Attestation-Indicator: A\n", .from, .passedA, .attestationIndicator),
        ("Attestation-Info: C\n", .from, .passedC, .attestationInfo),
        ("X-VerStat: TN-Validation-Failed\n", .from, .failed, .configuredHeader),
        // The worst claim has the source, and of two equal ones the first that is read.
        (
            asserted + ";verstat=TN-Validation-Passed>\nAttestation-Info: B\n", .pAssertedIdentity, .passedB,
            .attestationInfo
        ),
    ]) func `the header that names the caller and the source of its attestation`(
        lines: String, header: DecisionEvidence.Header, verification: Verification, source: AttestationSource
    ) throws {
        let evidence = try evidence(lines) {
            $0.attestationHeaders = ["X-VerStat"]
            $0.policy = .permissive
        }
        #expect(evidence.header == header && evidence.verification == verification && evidence.source == source)
        #expect(evidence.isTrusted && evidence.policy == .permissive && !evidence.isWithheld && !evidence.isUnchecked)
    }

    @Test func `a carrier that checked nothing differs from one that says nothing`() throws {
        let evidence = try evidence(Self.asserted + ";verstat=No-TN-Validation>\n")
        #expect(evidence.isUnchecked && evidence.verification == .none && evidence.source == .assertedIdentity)
    }

    @Test func `an untrusted trunk's header and claim are not evidence`() throws {
        let evidence = try evidence(Self.asserted + ";verstat=TN-Validation-Passed>\n") { $0.isTrusted = false }
        #expect(!evidence.isTrusted && evidence.header == .from && evidence.source == .none)
        #expect(evidence.lookup == .notMade && evidence.parts == .none)
    }

    @Test func `of a withheld caller there is only that`() throws {
        let evidence = try evidence(Self.asserted + ">\nPrivacy: id\n")
        #expect(evidence.isWithheld && evidence.header == .none && evidence.lookup == .notMade)
    }

    @Test func `a closed gate held a brand back`() throws {
        let evidence = try evidence { $0.gates = BrandingGates(capReached: true) }
        #expect(evidence.lookup == .brandFound && evidence.parts == .none && !evidence.isNamed)
    }

    @Test func `a branded call has the parts that were written`() throws {
        let whole = try evidence()
        #expect(whole.lookup == .brandFound && whole.parts == .logoReasonAndName && whole.isNamed)
        let parts = try stride(from: 1000, through: 300, by: -10).map { size in
            try evidence { $0.largestDatagram = size }.parts.rawValue
        }
        #expect(parts == parts.sorted(by: >), "the less fits, the less is written")
        #expect(Set(parts) == Set(DecisionEvidence.Parts.allCases.map(\.rawValue)))
        #expect(try evidence { $0.carrierName = .keep }.isNamed == false)
    }
}
