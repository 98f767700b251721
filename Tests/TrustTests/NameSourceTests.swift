// SPDX-License-Identifier: Apache-2.0

import Testing
import TrustFixtures

@testable import Trust

@Suite("The source of names")
struct NameSourceTests {
    /// Rows: the source. Columns: the directory alone, the signature alone, both and different, both and the same, none.
    @Test(
        arguments: [
            (.directoryFirst, [.directory, .signature, .directory, .both, .none]),
            (.rcdFirst, [.directory, .signature, .signature, .both, .none]),
            (.mustAgree, [.none, .none, .none, .both, .none]),
            (.rcdOnly, [.none, .signature, .signature, .signature, .none]),
            (.directoryOnly, [.directory, .none, .directory, .both, .none]),
        ] as [(TrustRegime.Names, [NameOrigin])])
    func `the name is that of the source`(source: TrustRegime.Names, expected: [NameOrigin]) {
        let cases = [
            (true, false, false), (false, true, false), (true, true, false), (true, true, true), (false, false, false),
        ]
        #expect(cases.map { source.origin(hasDirectory: $0, hasSignature: $1, agree: $2) } == expected)
    }

    @Test func `a key of the trunk goes before the regime's`() {
        var policy = TrustLab.policy("us")
        policy.regimes[0].names = .mustAgree
        var rules = TrunkSignatures(policy: policy)
        #expect(rules.nameSource == .mustAgree)
        rules.names = .rcdFirst
        #expect(rules.nameSource == .rcdFirst)
        policy.regimes = []
        #expect(TrunkSignatures(policy: policy).nameSource == .directoryFirst)
    }

    /// The digest of the picture in RFC 9796 §8, without padding, and forms that are none.
    @Test(
        arguments: [
            (
                "sha256-RojgWwU6xUtI4q82+kHPyHm1JKbm7+663bMvzymhkl4",
                "4688e05b053ac54b48e2af36fa41cfc879b524a6e6efeebaddb32fcf29a1925e"
            ),
            (
                "sha256-RojgWwU6xUtI4q82+kHPyHm1JKbm7+663bMvzymhkl4=",
                "4688e05b053ac54b48e2af36fa41cfc879b524a6e6efeebaddb32fcf29a1925e"
            ),
            ("sha384-RojgWwU6xUtI4q82+kHPyHm1JKbm7+663bMvzymhkl4", nil), ("sha256-***", nil),
        ] as [(String, String?)]) func `a digest names a picture`(digest: String, hash: String?)
    {
        let icon = TrustVerdict.SignedIcon.named(address: "https://example.com/photos/q-256x256.png", digest: digest)
        #expect(icon.pictureHash == hash)
        #expect(TrustVerdict.SignedIcon.inline(digest).pictureHash == nil)
    }

    /// Where either of two numbers may be signed, a name for the other one is nobody's (RFC 9795 §9).
    @Test(arguments: [("12025551000", true), ("12025559999", false)])
    func `a name belongs to the number of the verdict`(orig: String, isTaken: Bool) throws {
        let lab = TrustLab.shared
        let name =
            #"{"dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"\#(orig)"},"rcd":{"nam":"Q Branch"}}"#
        var call = SignedCall.usual
        call.otherCaller = CanonicalNumber("12025559999")
        let verdict = try lab.snapshot().verify(
            [try lab.signed(TrustLab.claims()), try lab.signed(name, ppt: "rcd")], of: call)
        #expect(verdict.caller == CanonicalNumber("12025551000"))
        #expect(verdict.name == (isTaken ? .verified("Q Branch") : .absent))
    }
}
