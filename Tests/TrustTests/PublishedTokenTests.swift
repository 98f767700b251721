// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TrustFixtures

@testable import Trust

/// Tokens of documents, with the keys that are printed beside them.
@Suite("Published tokens")
struct PublishedTokenTests {
    private static let address = "https://cert.example.org/passport.cer"
    private static let header =
        "eyJhbGciOiJFUzI1NiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3JnL3Bhc3Nwb3J0LmNlciJ9"
    /// RFC 8225 Appendix A.
    private static let printed =
        header
        + ".eyJkZXN0Ijp7InVyaSI6WyJzaXA6YWxpY2VAZXhhbXBsZS5jb20iXX0sImlhdCI6MTQ3MTM3NTQxOCwib3JpZyI6eyJ0biI6IjEyMTU1NTUxMjEyIn19"
        + ".VLBCIVDCaeK6M4hLJb6SHQvacAQVvoiiEOWQ_iUkqk79UD81fHQ0E1b3_GluIkba7UWYRM47ZbNFdOJquE35cw"
    /// An earlier draft of the appendix, whose `iat` is text.
    private static let older =
        header
        + ".eyJkZXN0Ijp7InVyaSI6WyJzaXA6YWxpY2VAZXhhbXBsZS5jb20iXX0sImlhdCI6IjE0NDMyMDgzNDUiLCJvcmlnIjp7InRuIjoiMTIxNTU1NTEyMTIifX0"
        + ".rq3pjT1hoRwakEGjHCnWSwUnshd0-zJ6F1VOgFWSjHBr8Qjpjlk-cpFYpFYsojNCpTzO3QfPOlckGaS6hEck7w"
    /// The public keys of Appendix A.1, inside the private one, and of Appendix A.2: the last 65 bytes of the structure.
    private static let first =
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEFn2o9R1BE6aDQqzrafSgPKNFe/SLlgESrfQtXBT5MndxQT+EnojWcUIQ6w9LXQR5bN/8BXvPvithaz8kBfb7oQ=="
    private static let second =
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8HNbQd/TmvCKwPKHkMF9fScavGeH78YTU8qLS8I5HLHSSmlATLcslQMhNC/OhlWBYC626nIlo7XeebYS7Sb37g=="

    private static func key(_ text: String) throws -> SignerKey {
        let bytes = try #require(Data(base64Encoded: text))
        return try #require(SignerKey(x963: Array(bytes.suffix(65))))
    }

    /// True if the key signed the token.
    private static func signed(_ token: String, _ text: String) throws -> Bool {
        let parts = try TokenParts(Array(token.utf8))
        let payload = try #require(StrictJSON(Array(#"{"dest":{"tn":["1"]},"iat":1,"orig":{"tn":"1"}}"#.utf8)))
        let passport = Passport(
            type: .base, token: Array(token.utf8), signedCount: parts.signedCount, signature: try parts.signature(),
            claims: try PassportClaims(payload, .base),
            address: address, chain: nil, hasBrokenChain: false)
        let signer = Signer(row: 1, key: try key(text), standings: [.passed])
        var examination = Examination(
            snapshot: TrustSnapshot(generation: 1, regimeSet: 0, []), policy: TrustLab.policy("us"), call: .usual,
            now: 0)
        var memory = TrustMemory()
        do {
            _ = try examination.checkSignature(of: passport, by: signer, &memory)
            return true
        } catch {
            #expect(error.cause == .badSignature)
            return false
        }
    }

    @Test func `the token of an older draft has the printed key, the token of the RFC has neither`() throws {
        #expect(try Self.signed(Self.older, Self.second))
        #expect(try !Self.signed(Self.older, Self.first))
        #expect(try !Self.signed(Self.printed, Self.first))
        #expect(try !Self.signed(Self.printed, Self.second))
        // The laboratory signs with the key of Appendix A.1.
        let vector = try #require(TrustLab.shared.vectors.first)
        #expect(try Self.signed(vector.token, Self.first))
    }

    @Test func `published tokens end in a cause`() throws {
        let snapshot = try TrustLab.shared.snapshot(["rfc8225"])
        let call = SignedCall(caller: "12155551212", called: "12155551213")
        let fields = [Self.printed, Self.older].map { "\($0);info=<\(Self.address)>;alg=ES256" }
        #expect(snapshot.verify([fields[0]], of: call).causes == [.notANumber], "its callee is a URI")
        #expect(snapshot.verify([fields[1]], of: call, at: 1_443_208_345).causes == [.claims])
    }

    @Test func `the deterministic form of RFC 8225 is the printed one`() throws {
        let parts = try TokenParts(Array(Self.printed.utf8))
        let (header, type) = try parts.header()
        #expect(type == .base)
        #expect(
            header.canonical(0) == #"{"alg":"ES256","typ":"passport","x5u":"https://cert.example.org/passport.cer"}"#)
        let payload = try parts.payload()
        #expect(
            payload.canonical(0)
                == #"{"dest":{"uri":["sip:alice@example.com"]},"iat":1471375418,"orig":{"tn":"12155551212"}}"#)
        #expect(Base64.encodeURL(payload.bytes) == Array(Self.printed.split(separator: ".")[1].utf8))
    }
}
