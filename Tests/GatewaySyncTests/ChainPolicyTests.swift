// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SwiftASN1
import Testing
import Trust
import TrustFixtures
import X509

@testable import GatewaySync

@Suite("Chains of signers")
struct ChainPolicyTests {
    private let lab = TrustLab.shared

    /// Regimes as the files of the program have them, with the anchors of the laboratory.
    private func regimes(_ anchors: [String] = ["root", "rsa_root"]) -> [RegimeAnchors] {
        let us = TrustRegime(name: "us", position: 0)
        var own = TrustRegime(name: "private", position: 1)
        own.keys = .p256RSA
        own.authority = .any
        own.delegates = true
        return [us, own].map {
            RegimeAnchors($0, anchors: anchors.map(lab.der), revocationSigners: [lab.der("pa_crl")])
        }
    }

    private func policy(_ lists: [String] = [], at now: Int64? = nil) -> ChainPolicy {
        ChainPolicy(
            regimes(), issuers: [lab.der("mid")], revocationLists: lists.map { TrustLab.der(lab.crls[$0]?.pem ?? "") },
            at: now ?? lab.now)
    }

    private func causes(_ name: String, _ policy: ChainPolicy) async -> [TrustCause] {
        await policy.decide(lab.chain(name)).standings.map(\.cause)
    }

    @Test(arguments: [
        ("spc", TrustCause.passed, TrustCause.passed), ("rfc8225", .passed, .passed), ("alone", .passed, .passed),
        // A certificate outside of its time is good; its tokens are not.
        ("expired", .passed, .passed), ("future", .passed, .passed), ("revoked", .passed, .passed),
        // RFC 8226 §9: a SEQUENCE, and not the text of libstirshaken's files.
        ("text", .noAuthority, .noAuthority), ("none", .noAuthority, .noAuthority),
        ("two-spc", .noAuthority, .passed),
        // RFC 9060 §4.
        ("delegate", .noAuthority, .passed), ("delegate-one", .noAuthority, .passed),
        ("delegate-out", .noAuthority, .noAuthority), ("div-number", .noAuthority, .passed),
        // RFC 9118 §5.
        ("constrained", .passed, .passed), ("both-constraints", .certificateMalformed, .certificateMalformed),
        // RFC 5280 §4.2.
        ("unknown-critical", .certificateMalformed, .certificateMalformed),
        ("alien", .untrustedSigner, .untrustedSigner),
        // RFC 8226 §4 has RSA for certificates, the profile of the US has not.
        ("rsa", .certificatePolicy, .passed),
    ])
    func `a chain has its standing under two regimes`(name: String, us: TrustCause, own: TrustCause) async {
        let standings = await policy().decide(lab.chain(name)).standings
        #expect(standings.map(\.cause) == [us, own], "\(standings)")
    }

    @Test func `a decision has key, authority, validity, constraints and subject`() async throws {
        let decision = await policy().decide(lab.chain("constrained"))
        #expect(decision.key?.count == 65 && decision.constraints.count == 1 && decision.constraints[0].isEnhanced)
        #expect(decision.authority.flatMap { AuthorityList(der: $0) }?.codes.count == 1)
        #expect(decision.validity == 1_451_606_400...2_398_377_600)
        #expect(decision.subject.contains("SHAKEN") && decision.issuer.contains("Herald Lab CA 1"))
        let texts = lab.chain("constrained").map { Data($0).base64EncodedString() }
        #expect(
            decision.digest == ChainDigest(of: texts).bytes
                && ChainDigest(bytes: decision.digest) == ChainDigest(of: texts))
        let expired = await policy().decide(lab.chain("expired"))
        #expect(expired.validity.upperBound < lab.now && expired.standings[0].cause == .passed)
    }

    @Test func `a leaf alone needs a known issuer`() async {
        let policy = ChainPolicy(regimes(), issuers: [], at: lab.now)
        #expect(await causes("alone", policy) == [.untrustedSigner, .untrustedSigner])
        #expect(await causes("spc", policy) == [.passed, .passed])
    }

    @Test func `regimes without anchors trust nobody, and judge nobody`() async {
        let policy = ChainPolicy(regimes([]), issuers: [lab.der("root")], at: lab.now)
        let standings = await policy.decide(lab.chain("spc")).standings
        #expect(standings.map(\.cause) == [.signerNotYetKnown, .signerNotYetKnown])
        #expect(standings[0].reason == "regime us has no anchor: see herald doctor")
    }

    @Test(arguments: [
        [[UInt8]](), [[1, 2, 3]], [Array(repeating: 0x30, count: 4000)],
        Array(repeating: TrustLab.shared.der("spc"), count: 7),
    ])
    func `a chain that is none is malformed`(chain: [[UInt8]]) async {
        #expect(await policy().decide(chain).standings.map(\.cause) == [.certificateMalformed, .certificateMalformed])
    }

    @Test func `damaged certificates never crash`() async {
        let leaf = lab.der("delegate")
        for position in stride(from: 0, to: leaf.count, by: 3) {
            var bytes = leaf
            bytes[position] ^= 0x41
            let standings = await policy().decide([bytes] + lab.chain("delegate").dropFirst()).standings
            #expect(!standings.contains { $0.cause == .passed }, "byte \(position)")
        }
        for count in stride(from: 0, to: leaf.count, by: 17) {
            _ = await policy().decide([Array(leaf.prefix(count))])
        }
    }

    @Test func `an authority signs no tokens`() async {
        let standings = await policy().decide([lab.der("mid")]).standings
        #expect(standings.map(\.cause) == [.certificatePolicy, .certificatePolicy])
    }

    // MARK: Chains made here

    /// A certificate with a key of its own, signed by another one or by itself.
    private struct Made {
        let key = P256.Signing.PrivateKey()
        let certificate: Certificate

        init(
            _ name: String, by issuer: Made? = nil, isAuthority: Bool = false, usage: KeyUsage? = nil,
            authority: [UInt8]? = nil, hasIdentifiers: Bool = true, first: Int = -100, last: Int = 100
        ) throws {
            let subject = try DistinguishedName { CommonName(name) }
            let own = Certificate.PublicKey(key.publicKey)
            let now = Date(timeIntervalSince1970: TimeInterval(TrustLab.shared.now))
            let parent = issuer?.key ?? key
            let identifier = Array(SHA256.hash(data: key.publicKey.x963Representation))[..<20]
            let above = Array(SHA256.hash(data: parent.publicKey.x963Representation))[..<20]
            var extensions = try Certificate.Extensions {
                if isAuthority { Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil)) }
                if let usage { Critical(usage) }
            }
            if hasIdentifiers {
                try extensions.append(.init(SubjectKeyIdentifier(keyIdentifier: identifier), critical: false))
                try extensions.append(.init(AuthorityKeyIdentifier(keyIdentifier: above), critical: false))
            }
            if let authority {
                try extensions.append(
                    .init(oid: SignerExtension.authority, critical: false, value: ArraySlice(authority)))
            }
            certificate = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: own,
                notValidBefore: now + Double(first) * 86_400,
                notValidAfter: now + Double(last) * 86_400, issuer: issuer?.certificate.subject ?? subject,
                subject: subject, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
                issuerPrivateKey: .init(parent))
        }

        var der: [UInt8] {
            get throws {
                var serializer = DER.Serializer()
                try serializer.serialize(certificate)
                return serializer.serializedBytes
            }
        }
    }

    private static let code: [UInt8] = [0x30, 0x08, 0xA0, 0x06, 0x16, 0x04] + Array("123A".utf8)
    private static let numbers: [UInt8] = [0x30, 0x0F, 0xA2, 0x0D, 0x16, 0x0B] + Array("12025551000".utf8)

    private func standing(_ root: Made, _ chain: [Made], delegates: Bool = false) async throws -> TrustCause {
        var regime = TrustRegime(name: "lab", position: 0)
        regime.authority = delegates ? .any : .oneCode
        regime.delegates = delegates
        let policy = ChainPolicy([RegimeAnchors(regime, anchors: [try root.der])], issuers: [], at: lab.now)
        return await policy.decide(try chain.map { try $0.der }).standings[0].cause
    }

    @Test func `usage and times of issuers count`() async throws {
        let signs = KeyUsage(keyCertSign: true)
        let root = try Made("root", isAuthority: true, usage: signs)
        let good = try Made("ca", by: root, isAuthority: true, usage: signs)
        let mute = try Made("mute", by: root, isAuthority: true, usage: KeyUsage(cRLSign: true))
        let bare = try Made("bare", by: root, isAuthority: true)
        let ended = try Made("ended", by: root, isAuthority: true, usage: signs, last: -1)
        let plain = try Made("plain", by: root, usage: signs)
        let turned = try Made("turned", by: root, isAuthority: true, usage: signs, first: 100, last: -100)
        let rows: [(Made, TrustCause)] = [
            (good, .passed), (mute, .untrustedSigner), (bare, .untrustedSigner), (ended, .certificateExpired),
            (plain, .untrustedSigner), (turned, .certificateExpired),
        ]
        for (issuer, cause) in rows {
            let leaf = try Made("leaf", by: issuer, authority: Self.code)
            #expect(try await standing(root, [leaf, issuer]) == cause, "\(issuer.certificate.subject)")
        }
        let wrong = try Made("leaf", by: good, usage: KeyUsage(keyEncipherment: true), authority: Self.code)
        #expect(try await standing(root, [wrong, good]) == .certificatePolicy)
        let over = try Made("leaf", by: good, authority: Self.code, first: 100, last: -100)
        #expect(try await standing(root, [over, good]) == .certificateExpired)
        // OpenSIPS's leaf has no key identifiers.
        let plainLeaf = try Made("leaf", by: good, authority: Self.code, hasIdentifiers: false)
        #expect(try await standing(root, [plainLeaf, good]) == .passed)
    }

    @Test func `an issuer of the same name without the key is no issuer`() async throws {
        let root = try Made("root", isAuthority: true, usage: KeyUsage(keyCertSign: true))
        let thief = try Made("root", isAuthority: true, usage: KeyUsage(keyCertSign: true))
        let leaf = try Made("leaf", by: thief, authority: Self.code)
        #expect(try await standing(root, [leaf, thief]) == .untrustedSigner)
    }

    @Test func `a delegate leaves neither its parent's numbers nor the line of parents`() async throws {
        let signs = KeyUsage(keyCertSign: true)
        let root = try Made("root", isAuthority: true, usage: signs)
        let parent = try Made("parent", by: root, isAuthority: true, usage: signs, authority: Self.numbers)
        let inside = try Made("inside", by: parent, authority: Self.numbers)
        #expect(try await standing(root, [inside, parent], delegates: true) == .passed)
        #expect(try await standing(root, [inside, parent]) == .noAuthority)
        let outside = try Made("outside", by: parent, authority: Self.code)
        #expect(try await standing(root, [outside, parent], delegates: true) == .noAuthority)
        // An authority without a list below a delegating one would hand out any number.
        let gap = try Made("gap", by: parent, isAuthority: true, usage: signs)
        let hidden = try Made("hidden", by: gap, authority: Self.code)
        #expect(try await standing(root, [hidden, gap, parent], delegates: true) == .noAuthority)
        let nameless = try Made("nameless", by: parent, authority: Self.numbers, hasIdentifiers: false)
        #expect(try await standing(root, [nameless, parent], delegates: true) == .noAuthority)
    }

    // MARK: Revocation

    @Test(arguments: ["indirect", "direct"])
    func `a revoked certificate counts no more`(form: String) async throws {
        let list = try #require(RevocationList(der: TrustLab.der(lab.crls[form]?.pem ?? "")))
        #expect(list.count == 1 && list.isIndirect == (form == "indirect"))
        #expect(list.thisUpdate == 1_471_371_818 && list.nextUpdate == lab.crls[form]?.next)
        #expect(await causes("revoked", policy([form])) == [.revoked, .revoked])
        #expect(await causes("spc", policy([form])) == [.passed, .passed])
        let end = try #require(list.nextUpdate)
        #expect(await causes("spc", policy([form], at: end + 7 * 86_400)) == [.passed, .passed])
        #expect(await causes("spc", policy([form], at: end + 7 * 86_400 + 1)) == [.crlStale, .crlStale])
        #expect(await causes("revoked", policy([form], at: end + 8 * 86_400)) == [.revoked, .revoked])
        // Its signer has no part in other chains.
        if form == "direct" { #expect(await causes("rsa", policy([form], at: end + 8 * 86_400))[1] == .passed) }
    }

    @Test func `a list of an unknown signer, and a damaged one, revoke nothing`() async throws {
        let der = TrustLab.der(lab.crls["indirect"]?.pem ?? "")
        let stranger = ChainPolicy(
            [RegimeAnchors(TrustRegime(name: "us", position: 0), anchors: [lab.der("root")])],
            issuers: [lab.der("mid")],
            revocationLists: [der], at: lab.now)
        let whole = try #require(RevocationList(der: der))
        #expect(stranger.signer(of: whole) == nil && policy().signer(of: whole) != nil)
        #expect(await causes("revoked", stranger) == [.passed])
        var readable = 0
        for position in der.indices {
            var bytes = der
            bytes[position] ^= 0x41
            guard let list = RevocationList(der: bytes) else { continue }
            readable += 1
            #expect(!list.isSigned(by: try Certificate(derEncoded: lab.der("pa_crl"))), "byte \(position)")
        }
        #expect(readable > 50)
        for count in der.indices { #expect(RevocationList(der: Array(der.prefix(count))) == nil) }
    }

    @Test func `as_unsigned has no days of grace`() async throws {
        var regime = TrustRegime(name: "us", position: 0)
        regime.staleRevocation = .asUnsigned
        let list = try #require(lab.crls["direct"])
        let policy = ChainPolicy(
            [RegimeAnchors(regime, anchors: [lab.der("root")])], issuers: [lab.der("mid")],
            revocationLists: [TrustLab.der(list.pem)], at: list.next + 1)
        #expect(await causes("spc", policy) == [.crlStale])
    }
}

@Suite("Files with certificates and lists")
struct TrustMaterialTests {
    private let lab = TrustLab.shared

    private func material(_ text: String) -> TrustMaterial {
        var material = TrustMaterial()
        material.add(Array(text.utf8), of: "f")
        return material
    }

    @Test func `a file has chains with and without addresses, authorities and lists`() {
        let crl = lab.crls["direct"]?.pem ?? ""
        let text =
            "# a comment\n" + lab.file(["spc", "delegate"]) + lab.pem("alone") + "\n" + lab.pem("swapped") + "\n"
            + lab.pem("mid")
            + "\n" + crl + "\nhttps://a.example/1.pem\r\n"
        let found = material(text)
        #expect(
            found.chains.map(\.address) == [
                "https://cert.example.net/spc.pem", "https://cert.example.net/delegate.pem", nil, nil,
            ])
        #expect(found.chains.map(\.certificates.count) == [2, 3, 1, 2])
        #expect(found.revocations.count == 1 && found.addresses == ["https://a.example/1.pem"])
        #expect(found.refusals.isEmpty && found.authorities.isEmpty)
        #expect(material(lab.pem("root") + "\n" + lab.pem("mid")).authorities.count == 2)
        var binary = TrustMaterial()
        binary.add(lab.der("spc"), of: "f")
        binary.add(TrustLab.der(crl), of: "f")
        binary.add(lab.der("root"), of: "f")
        #expect(binary.chains.count == 1 && binary.revocations.count == 1 && binary.authorities.count == 1)
        #expect(material(lab.list("l01")).lists.count == 1 && material(lab.list("l02") + "\n").lists.count == 1)
    }

    @Test func `a line of a list that is no address is refused by its place`() {
        var material = TrustMaterial()
        let lines = [
            "# signers", "https://a.example/1.pem", "not an url", "", "a.example/2.pem", "http://b.example/3.pem",
        ]
        material.add(Array(lines.joined(separator: "\n").utf8), of: "list.txt")
        #expect(material.addresses == ["https://a.example/1.pem", "http://b.example/3.pem"])
        #expect(material.refusals.map(\.place) == ["list.txt:3", "list.txt:5"])
        // Between certificates any text may be (RFC 7468 §2).
        material = TrustMaterial()
        material.add(Array(("subject=CN = root\n" + lab.pem("root")).utf8), of: "root.pem")
        #expect(material.refusals.isEmpty)
    }

    @Test(arguments: [
        ("", "is empty"), ("hello", "neither PEM, DER, a list of authorities nor addresses"),
        ("x5u: https://a.example/1.pem\n", "no certificate follows this address"),
        ("-----BEGIN CERTIFICATE-----\nMIIB", "the block CERTIFICATE has no end"),
        ("-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----", "is not base64"),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
            "is a private key, which no verifier needs; remove it from the file"
        ),
        (
            "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
            "PUBLIC KEY is no certificate and no revocation list"
        ),
    ])
    func `a part that is none is refused with its place`(text: String, reason: String) {
        let found = material(text)
        #expect(found.refusals.map(\.reason) == [reason] && found.refusals.first?.place.hasPrefix("f") == true)
        #expect(found.chains.isEmpty)
    }

    @Test func `a chain has at most six certificates, and bytes of any kind end in a refusal`() {
        let chain = ["spc"] + Array(repeating: "mid", count: 6)
        #expect(material(chain.map(lab.pem).joined(separator: "\n")).refusals.count == 1)
        for bytes in [[0x30], [0x30, 0x82, 0xFF, 0xFF], [0xFF, 0xFE, 0], Array(repeating: 0x30, count: 100_000)] {
            var material = TrustMaterial()
            material.add(bytes.map { UInt8($0) }, of: "f")
            #expect(material.refusals.count == 1)
        }
    }
}

@Suite("Lists of authorities")
struct AuthorityListTokenTests {
    private let lab = TrustLab.shared

    private func verified(
        _ text: String, roots: [String] = ["pa_root"], known: Bool = true
    ) async -> Result<AuthorityListToken, AuthorityListToken.Refusal> {
        do throws(AuthorityListToken.Refusal) {
            return .success(
                try await AuthorityListToken.verified(text, roots: roots.map(lab.der), at: lab.now) { address in
                    known && address == "https://pa.example.net/list-signer.pem" ? [lab.der("pa_list")] : nil
                })
        } catch {
            return .failure(error)
        }
    }

    private func reason(_ result: Result<AuthorityListToken, AuthorityListToken.Refusal>) -> String {
        if case .failure(let refusal) = result { refusal.reason } else { "accepted" }
    }

    @Test func `both forms of a list are accepted`() async throws {
        let response = try await verified(lab.list("l01")).get()
        #expect(response.sequence == 7 && response.expires == 1_471_461_818 && response.authorities.count == 2)
        let token = try await verified(lab.list("l02")).get()
        #expect(token.authorities == [lab.der("root")])
        #expect(AuthorityListToken.stored(token.token) == token.authorities)
    }

    @Test func `a wrong list is refused with the reason`() async {
        #expect(reason(await verified(lab.list("l05"))).contains("its signature is not by"))
        #expect(reason(await verified(lab.list("l06"))).contains("no list takes the last one away"))
        #expect(reason(await verified(lab.list("l01"), roots: ["root"])).contains("no valid chain to list_root"))
        #expect(reason(await verified(lab.list("l01"), roots: [])).contains("no valid chain to list_root"))
        #expect(
            reason(await verified(lab.list("l01"), known: false))
                == "the certificate of its signer is not known; import it with the line x5u: https://pa.example.net/list-signer.pem"
        )
        #expect(reason(await verified(#"{"status":"failure","caList":"a.b.c"}"#)).contains("the status failure"))
        for text in ["{", "{}", "a.b.c", "eyJ.e30.AA", "eyJhbGciOiJub25lIn0.e30.AA"] {
            #expect(reason(await verified(text)) != "accepted")
        }
    }
}
