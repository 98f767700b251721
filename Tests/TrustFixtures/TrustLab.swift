// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Foundation
import SwiftASN1
package import Trust
import X509

/// A public key infrastructure for tests, with cases and their results. Its private keys are public.
package struct TrustLab: Decodable, Sendable {
    package struct Certificate: Decodable, Sendable {
        package var pem: String
        package var key: String?
        package var x5u: String?
        package var served: [String]?
    }

    package struct RevocationList: Decodable, Sendable {
        package var pem: String
        package var next: Int64
    }

    package struct SignedList: Decodable, Sendable {
        package var id: String
        package var now: Int64
        package var text: String
    }

    /// The result of a case; a missing member is not checked.
    package struct Expectation: Decodable, Sendable {
        package var number: String?
        package var causes: [String]?
        package var rows: [Int]?
        package var code: UInt16?
        package var bound: String?
        package var name: String?
        package var reason: String?
        package var icon: String?
        package var marks: [String]?
    }

    package struct Expected: Decodable, Sendable {
        package var verstat: String
        package var fr: Expectation?
        // The members have the names of the file.
        package var in_private: Expectation?
        package var lenient: Expectation?
        package let us: Expectation

        private enum Keys: String, CodingKey { case verstat, fr, in_private, lenient }

        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Keys.self)
            verstat = try values.decode(String.self, forKey: .verstat)
            fr = try values.decodeIfPresent(Expectation.self, forKey: .fr)
            in_private = try values.decodeIfPresent(Expectation.self, forKey: .in_private)
            lenient = try values.decodeIfPresent(Expectation.self, forKey: .lenient)
            us = try Expectation(from: decoder)
        }
    }

    package struct Case: Decodable, Sendable, CustomStringConvertible {
        package var id: String
        package var title: String
        package var now: Int64
        package var caller: String
        package var called: String
        package var to: String
        package var date: String?
        package var regime: String
        package var identity: [String]
        package var known: [String]?
        package var fetch: String?
        package var crl: String?
        package var sequence: String?
        package var expect: Expected

        package var description: String { "\(id): \(title)" }
    }

    package struct Vector: Decodable, Sendable, CustomStringConvertible {
        package var name: String
        package var token: String
        package var row: UInt8
        package var cause: String

        package var description: String { name }
    }

    package var iat: Int64
    package var now: Int64
    package var certificates: [String: Certificate]
    package var crls: [String: RevocationList]
    package var lists: [SignedList]
    package var vectors: [Vector]
    package var cases: [Case]

    /// The laboratory of the resource.
    package static let shared: TrustLab = {
        let file = Bundle.module.bundleURL.appending(path: "Vectors/passports.json")
        do {
            return try JSONDecoder().decode(TrustLab.self, from: Data(contentsOf: file))
        } catch {
            preconditionFailure("\(file.path): \(error)")
        }
    }()

    // MARK: Regimes

    package static let regimeSet: UInt64 = 7

    /// The regimes by name, in the order of the signers' standings.
    package static let regimes: [TrustRegime] = {
        let us = TrustRegime(name: "us", position: 0)
        var fr = TrustRegime(name: "fr", position: 1)
        fr.parameters = .strict
        fr.called = .requestURIOrTo
        fr.checksDate = true
        fr.required = true
        fr.codes = [.unsigned: 428, .unsupportedPPT: 438, .notANumber: 400]
        fr.verstatFailed = TrustCauses()
        fr.bypass = .pass
        var own = TrustRegime(name: "private", position: 2)
        own.keys = .p256RSA
        own.authority = .any
        own.delegates = true
        own.addresses.ports = nil
        own.addresses.allowsHTTP = true
        own.addresses.allowsPrivate = true
        own.verstatFailed = .failures
        return [us, fr, own]
    }()

    package static func policy(_ name: String, fetches: Bool = false) -> TrunkTrustPolicy {
        var policy = TrunkTrustPolicy(regimes: regimes.filter { $0.name == name }, regimeSet: regimeSet)
        policy.fetchRules = fetches ? policy.regimes.map(\.addresses) : []
        return policy
    }

    // MARK: Signers

    /// All signers by name, without a revocation list.
    private static let entries: [String: TrustSnapshot.Entry] = {
        do {
            return try shared.entries(at: shared.iat, nil)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    private func entries(at now: Int64, _ crl: RevocationList?) throws -> [String: TrustSnapshot.Entry] {
        let names = certificates.filter { $0.value.x5u != nil }.map(\.key).sorted()
        return try names.enumerated().reduce(into: [:]) { entries, name in
            entries[name.element] = try entry(name.element, row: Int64(name.offset), at: now, crl)
        }
    }

    /// A snapshot of some signers, or of all of them, at a time, with or without a revocation list.
    package func snapshot(
        _ known: [String]? = nil, at now: Int64 = 1_471_375_428, crl: RevocationList? = nil
    ) throws -> TrustSnapshot {
        let entries = crl == nil ? Self.entries : try entries(at: now, crl)
        return TrustSnapshot(
            generation: 1, regimeSet: Self.regimeSet, (known ?? entries.keys.sorted()).compactMap { entries[$0] })
    }

    private func entry(
        _ name: String, row: Int64, at now: Int64, _ crl: RevocationList?
    ) throws -> TrustSnapshot.Entry {
        let chain = try (certificates[name]?.served ?? []).map { try certificate($0) }
        let leaf = chain[0]
        let key = P256.Signing.PublicKey(leaf.publicKey)
        let signer = Signer(
            row: row, key: key.flatMap { SignerKey(x963: Array($0.x963Representation)) },
            authority: Self.authority(leaf) ?? AuthorityList(),
            constraints: chain.compactMap(Self.constraints).filter { !$0.isVoid },
            validity: Int64(
                leaf.notValidBefore.timeIntervalSince1970)...Int64(
                    leaf.notValidAfter.timeIntervalSince1970),
            standings: try Self.regimes.map { try standing(name, chain, under: $0, at: now, crl) },
            subject: leaf.subject.description)
        var texts: [String] = []
        for certificate in chain {
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            texts.append(Data(serializer.serializedBytes).base64EncodedString())
        }
        return TrustSnapshot.Entry(
            address: certificates[name]?.x5u, chain: ChainDigest(of: texts), signer: signer)
    }

    /// A signer of the laboratory with other properties.
    package func signer(
        _ name: String, row: Int64 = 1, authority: AuthorityList = AuthorityList(codes: ["123A"]),
        constraints: [ClaimConstraints] = [], validity: ClosedRange<Int64> = 0...4_000_000_000,
        standings: [TrustCause] = [.passed, .passed, .passed], isRenewed: Bool = false
    ) throws -> Signer {
        let key = try P256.Signing.PrivateKey(pemRepresentation: certificates[name]?.key ?? "").publicKey
        return Signer(
            row: row, key: SignerKey(x963: Array(key.x963Representation)), authority: authority,
            constraints: constraints, validity: validity, standings: standings, isRenewed: isRenewed)
    }

    /// A snapshot of one signer.
    package func snapshot(of signer: Signer, at name: String = "spc", generation: UInt64 = 1) -> TrustSnapshot {
        TrustSnapshot(
            generation: generation, regimeSet: Self.regimeSet,
            [.init(address: certificates[name]?.x5u, chain: nil, signer: signer)])
    }

    private func certificate(_ name: String) throws -> X509.Certificate {
        try X509.Certificate(pemEncoded: certificates[name]?.pem ?? "")
    }

    /// The decision on a chain, as an edge of the gateway makes it.
    private func standing(
        _ name: String, _ chain: [X509.Certificate], under regime: TrustRegime, at now: Int64, _ crl: RevocationList?
    ) throws -> TrustCause {
        let known: Set<ASN1ObjectIdentifier> = [
            .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, .X509ExtensionID.subjectKeyIdentifier,
            .X509ExtensionID.authorityKeyIdentifier, Self.authorityID, Self.constraintsID, Self.enhancedID,
        ]
        let leaf = chain[0]
        if leaf.extensions.contains(where: { $0.critical && !known.contains($0.oid) }) { return .certificateMalformed }
        if leaf.extensions[oid: Self.constraintsID] != nil, leaf.extensions[oid: Self.enhancedID] != nil {
            return .certificateMalformed
        }
        if name == "alien" { return .untrustedSigner }
        if name == "rsa", regime.keys == .p256 { return .certificatePolicy }
        if let crl {
            if name == "revoked" { return .revoked }
            if now > crl.next + 7 * 86_400 { return .crlStale }
        }
        guard let list = Self.authority(leaf), list.satisfies(regime.authority) else { return .noAuthority }
        if let parent = certificates[name]?.served?.first(where: { $0.hasPrefix("parent_") }) {
            guard regime.delegates, let parents = Self.authority(try certificate(parent)),
                list.isEncompassed(by: parents)
            else { return .noAuthority }
        }
        return .passed
    }

    private static let authorityID: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 26]
    private static let constraintsID: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 27]
    private static let enhancedID: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 33]

    private static func authority(_ certificate: X509.Certificate) -> AuthorityList? {
        certificate.extensions[oid: authorityID].flatMap { AuthorityList(der: Array($0.value)) }
    }

    private static func constraints(_ certificate: X509.Certificate) -> ClaimConstraints? {
        if let plain = certificate.extensions[oid: constraintsID] {
            return ClaimConstraints(der: Array(plain.value), isEnhanced: false)
        }
        return certificate.extensions[oid: enhancedID].flatMap {
            ClaimConstraints(der: Array($0.value), isEnhanced: true)
        }
    }

    // MARK: Signing

    /// A header field with a token of the laboratory's own key, with any header and payload.
    package func signed(
        _ payload: String, by name: String = "spc", header: String? = nil, ppt: String? = "shaken",
        parameters: String? = nil
    ) throws -> String {
        let address = certificates[name]?.x5u ?? ""
        let type = ppt.map { #""ppt":"\#($0)","# } ?? ""
        let header = header ?? #"{"alg":"ES256",\#(type)"typ":"passport","x5u":"\#(address)"}"#
        let parameter = ppt.map { ";ppt=\($0)" } ?? ""
        return try token(header, payload, by: name) + (parameters ?? ";info=<\(address)>;alg=ES256\(parameter)")
    }

    /// A token of the laboratory's own key.
    package func token(_ header: String, _ payload: String, by name: String = "spc") throws -> String {
        let key = try P256.Signing.PrivateKey(pemRepresentation: certificates[name]?.key ?? "")
        let signed = Self.base64(Data(header.utf8)) + "." + Self.base64(Data(payload.utf8))
        return signed + "." + Self.base64(try key.signature(for: Data(signed.utf8)).rawRepresentation)
    }

    package static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The claims of a `shaken` between the laboratory's usual numbers.
    package static func claims(
        orig: String = "12025551000", dest: String = "12025551001", iat: Int64 = 1_471_375_418, _ further: String = ""
    ) -> String {
        #"{"attest":"A","dest":{"tn":["\#(dest)"]},"iat":\#(iat),"orig":{"tn":"\#(orig)"},"#
            + #""origid":"123e4567-e89b-12d3-a456-426655440000"\#(further)}"#
    }
}

extension TrustSnapshot {
    /// Verifies values of header fields, each in a field of its own.
    package func verify(
        _ values: [String], of call: SignedCall = .usual, under policy: TrunkTrustPolicy = TrustLab.policy("us"),
        at now: Int64 = 1_471_375_428, with memory: inout TrustMemory
    ) -> TrustVerdict {
        var message: [UInt8] = Array("INVITE".utf8)
        var fields: [Range<Int>] = []
        for value in values {
            let start = message.count
            message += Array(value.utf8)
            fields.append(start..<message.count)
            message += [13, 10]
        }
        return verify(message.span, fields, of: call, under: policy, at: now, with: &memory)
    }

    /// The same with empty memory.
    package func verify(
        _ values: [String], of call: SignedCall = .usual, under policy: TrunkTrustPolicy = TrustLab.policy("us"),
        at now: Int64 = 1_471_375_428
    ) -> TrustVerdict {
        var memory = TrustMemory()
        return verify(values, of: call, under: policy, at: now, with: &memory)
    }
}

extension SignedCall {
    /// The call between the laboratory's usual numbers.
    package static let usual = SignedCall(caller: "12025551000", called: "12025551001")

    /// A call between two numbers in canonical form. Anything else is no number.
    package init(caller: String, called: String, to: String? = nil) {
        self.init(
            caller: CanonicalNumber(caller), called: CanonicalNumber(called), to: CanonicalNumber(to ?? called))
    }
}
