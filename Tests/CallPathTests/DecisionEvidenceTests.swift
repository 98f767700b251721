// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Testing

@Suite("The evidence that an INVITE leaves with its decision")
struct DecisionEvidenceTests {
    private func evidence(
        _ lines: String = "", to called: String = "100", _ change: (inout GatewayUnderTest.Options) -> Void = { _ in }
    ) throws -> DecisionEvidence {
        var options = GatewayUnderTest.Options()
        change(&options)
        let number = try #require(E164Number("+61491570156"))
        let gateway = try GatewayUnderTest(numbers: [number], options: options)
        let invite = request("INVITE", extra: lines)
            .replacing("sip:100@192.0.2.20 SIP", with: "sip:\(called)@192.0.2.20 SIP")
        _ = gateway.receive(invite, from: GatewayUnderTest.trunk)
        let update = gateway.updates().first { $0.kind == .invite }
        return try #require(update?.evidence)
    }

    private static let asserted = "P-Asserted-Identity: <sip:+61491570156@c"

    /// Header lines of a trusted trunk's INVITE, and what they prove.
    struct Claim: CustomTestStringConvertible {
        let testDescription: String
        let lines: String
        let header: DecisionEvidence.Header
        var verification = Verification.none
        var source = AttestationSource.none
    }

    private static let claims = [
        Claim(testDescription: "From alone", lines: "", header: .from),
        Claim(testDescription: "P-Asserted-Identity", lines: asserted + ">\n", header: .pAssertedIdentity),
        Claim(
            testDescription: "Remote-Party-ID", lines: "Remote-Party-ID: <sip:+61491570156@c>;party=calling\n",
            header: .remotePartyID),
        Claim(
            testDescription: "verstat of P-Asserted-Identity", lines: asserted + ";verstat=TN-Validation-Passed-B>\n",
            header: .pAssertedIdentity, verification: .passedB, source: .assertedIdentity),
        Claim(
            testDescription: "P-Attestation-Indicator", lines: "P-Attestation-Indicator: A\n", header: .from,
            verification: .passedA, source: .attestationIndicator),
        Claim(
            testDescription: "Attestation-Info", lines: "Attestation-Info: C\n", header: .from,
            verification: .passedC, source: .attestationInfo),
        Claim(
            testDescription: "a field of attestation_headers", lines: "X-VerStat: TN-Validation-Failed\n",
            header: .from, verification: .failed, source: .configuredHeader),
        Claim(
            testDescription: "of two claims the worse one",
            lines: asserted + ";verstat=TN-Validation-Passed>\nAttestation-Info: B\n", header: .pAssertedIdentity,
            verification: .passedB, source: .attestationInfo),
    ]

    @Test(arguments: claims) func `the header that names the caller, and the attestation with its source`(
        claim: Claim
    ) throws {
        let evidence = try evidence(claim.lines) {
            $0.attestationHeaders = ["X-VerStat"]
            $0.policy = .permissive
        }
        #expect(evidence.header == claim.header)
        #expect(evidence.verification == claim.verification)
        #expect(evidence.source == claim.source)
        #expect(evidence.policy == .permissive)
        #expect(evidence.isTrusted && !evidence.isWithheld && !evidence.isUnchecked)
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

    @Test(arguments: [
        (BrandingGates(authorised: false), PassThroughReason.gatedUnauthorised),
        (BrandingGates(accountStatus: "suspended"), .gatedAccountStatus),
        (BrandingGates(capReached: true), .gatedCapReached),
        (BrandingGates(brandingEnabled: false), .gatedBrandingDisabled),
        (BrandingGates(voipDialerEnabled: false, obeysVoipDialer: true), .gatedVoipDialerDisabled),
        (BrandingGates(isStale: true), .stale),
    ]) func `a closed gate held a brand back`(gates: BrandingGates, reason: PassThroughReason) throws {
        #expect(gates.closed == reason)
        let evidence = try evidence { $0.gates = gates }
        #expect(evidence.lookup == .brandFound && evidence.parts == .none && !evidence.isNamed)
    }

    @Test func `a number without a brand shows as such, whatever the gates say`() throws {
        let evidence = try evidence("P-Asserted-Identity: <sip:+61491570157@c>\n") {
            $0.gates = BrandingGates(capReached: true)
        }
        #expect(evidence.lookup == .noBrand)
    }

    @Test func `a branded call has every part of the brand and its name`() throws {
        let evidence = try evidence()
        #expect(evidence.lookup == .brandFound && evidence.parts == .logoReasonAndName && evidence.isNamed)
    }

    @Test func `a call whose carrier name stays is not named`() throws {
        #expect(try evidence { $0.carrierName = .keep }.isNamed == false)
    }

    @Test func `the less fits into a datagram, the fewer parts are written`() throws {
        let parts = try stride(from: 1000, through: 300, by: -10).map { size in
            try evidence { $0.largestDatagram = size }.parts.rawValue
        }
        #expect(parts == parts.sorted(by: >))
        #expect(Set(parts) == Set(DecisionEvidence.Parts.allCases.map(\.rawValue)))
    }

    // MARK: Call-Info as it was sent

    /// A brand, and what the operator lets phones have of it.
    struct Brand: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var hasLogo = true
        var hasReason = true
        /// Whether the gateway has copies of logos, and none of this one: the directory's URL returned 404.
        var isLogoLost = false
        var writesCallInfo = true
    }

    private static let brands = [
        Brand(testDescription: "logo and reason"), Brand(testDescription: "logo alone", hasReason: false),
        Brand(testDescription: "reason alone", hasLogo: false),
        Brand(testDescription: "neither", hasLogo: false, hasReason: false),
        Brand(testDescription: "a logo that cannot be fetched", isLogoLost: true),
        Brand(testDescription: "a logo that cannot be fetched, no reason", hasReason: false, isLogoLost: true),
        Brand(testDescription: "call_info: false", writesCallInfo: false),
    ]

    @Test(arguments: brands) func `the evidence names the parts of Call-Info that were sent, in datagrams of any size`(
        brand: Brand
    ) throws {
        for size in [nil] + stride(from: 1000, through: 300, by: -10).map(Optional.some) {
            var options = GatewayUnderTest.Options()
            (options.hasLogo, options.hasReason, options.largestDatagram) = (brand.hasLogo, brand.hasReason, size)
            options.writesCallInfo = brand.writesCallInfo
            if brand.isLogoLost {
                options.hostedLogos = HostedLogos(publicURL: "http://192.0.2.10:9472", missing: .none, files: [:])
            }
            let gateway = try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
            let invite = try #require(
                gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
            let evidence = try #require(gateway.updates().first?.evidence)
            #expect((evidence.logo == .written) == invite.contains("purpose=icon"), "\(size ?? 0) bytes")
            #expect((evidence.callReason == .written) == invite.contains("call-reason="), "\(size ?? 0) bytes")
            #expect(evidence.isNamed == invite.contains("Acme"), "\(size ?? 0) bytes")
            let canHaveLogo = brand.hasLogo && !brand.isLogoLost && brand.writesCallInfo
            #expect(evidence.logo != .leftOut || canHaveLogo)
            #expect(evidence.callReason != .leftOut || brand.hasReason && brand.writesCallInfo)
        }
    }

    // MARK: Routes

    /// The evidence of a call to a number with this route, on a trunk with the standard policy.
    private func evidence(of route: CallRoute) throws -> DecisionEvidence {
        var table = CalledNumberTable()
        _ = table.add(.number(try #require(E164Number("+61255502000"))), route: 0)
        return try evidence(to: "+61255502000") { $0.routes = { _ in CallRoutes([route], table: table) } }
    }

    @Test func `the policy is the one that decided: the route's before the trunk's`() throws {
        let evidence = try evidence(of: CallRoute(name: "strict", policy: .strict))
        #expect(evidence.policy == .strict && evidence.lookup == .notMade && !evidence.isRouteUnbranded)
        #expect(try self.evidence(of: CallRoute(name: "usual")).policy == .standard)
    }

    @Test func `a route without brands shows as such`() throws {
        let evidence = try evidence(of: CallRoute(name: "plain", brands: false))
        #expect(evidence.isRouteUnbranded && !evidence.isSwitchedOff && evidence.lookup == .notMade)
    }
}
