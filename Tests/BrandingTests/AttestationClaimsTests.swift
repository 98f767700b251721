// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Attestation claims, 3GPP TS 24.229 §7.2.18 and §7.2A.20")
struct AttestationClaimsTests {
    @Test(arguments: [
        ("A", Verification.passedA), ("b", .passedB), (" C ", .passedC), ("\"B\"", .passedB),
        // The form of ATIS-1000082, with parameters that gateways add.
        ("A;origid=6cd3aa9c-0000-4000-8000-1f0a2b3c4d5e", .passedA), ("origid=c;attest=B", .passedB),
        ("attest=C", .passedC), ("level=\"A\"", .passedA), ("A,C", .passedC), ("Full", .passedA), ("partial", .passedB),
        ("GATEWAY", .passedC),
        // X-Twilio-VerStat, and the verstat of Telnyx.
        ("TN-Validation-Passed-A", .passedA), ("TN-Validation-Passed", .passedA), ("TN-Validation-Passed-C", .passedC),
        ("TN-Validation-Failed-B", .failed), ("TN-Validation-Failed", .failed), ("No-TN-Validation", .none),
        ("TN-Validation-Passed-C-Diverted", .passedC), ("attest=B-Diverted", .passedB), ("C-Diverted", .passedC),
        ("NULL", .failed), ("verstat=TN-Validation-Passed-B-Passthrough", .passedB),
        // Bandwidth's P-Attestation-Indicator ends with a semicolon.
        ("A;", .passedA), ("No-TN-Validation-Diverted", .none), ("a call", .none), ("Cx", .none),
        ("", .none), ("D", .none), ("Verified", .none), ("origid=C", .none), ("AA", .none), (";;,", .none),
    ])
    func `the level of an attestation header is read in every known form`(text: String, expected: Verification) {
        var claims = AttestationClaims()
        claims.add(header: Array(text.utf8)[...])
        #expect(claims.verification == expected)
    }

    @Test(arguments: [
        (["TN-Validation-Passed", "TN-Validation-Passed-B"], Verification.passedB),
        (["TN-Validation-Passed-C", "TN-Validation-Passed"], .passedC),
        (["TN-Validation-Passed", "TN-Validation-Failed"], .failed),
        (["TN-Validation-Failed", "TN-Validation-Passed"], .failed),
        // An absent check proves nothing, and does not improve a level that is known to be low.
        (["TN-Validation-Passed", "No-TN-Validation"], .none),
        (["No-TN-Validation", "TN-Validation-Passed-C"], .passedC),
        (["No-TN-Validation", "TN-Validation-Failed"], .failed),
        (["nonsense", "TN-Validation-Passed-B"], .passedB),
        ([], .none),
    ])
    func `the worst of several claims counts, in any order`(texts: [String], expected: Verification) {
        for texts in [texts, texts.reversed()] {
            var (claims, others) = (AttestationClaims(), AttestationClaims())
            for (position, text) in texts.enumerated() {
                if position == 0 {
                    claims.add(verstat: Array(text.utf8)[...])
                } else {
                    others.add(header: Array(text.utf8)[...])
                }
            }
            claims.add(others, from: .from)
            #expect(claims.verification == expected)
        }
    }

    @Test func `of equal claims the first one is the source`() {
        var partial = AttestationClaims()
        partial.add(header: Array("B".utf8)[...])
        var claims = AttestationClaims()
        for part in [AttestationSource.assertedIdentity, .from] { claims.add(partial, from: part) }
        #expect(claims.source == .assertedIdentity)
    }
}
