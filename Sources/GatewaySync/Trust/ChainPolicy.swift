// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SwiftASN1
package import Trust
@_spi(FixedExpiryValidationTime) import X509

/// The anchors and revocation lists of one regime.
package struct RegimeAnchors: Sendable {
    let regime: TrustRegime
    let anchors: [Certificate]
    /// Keys that sign indirect revocation lists.
    let revocationSigners: [Certificate]

    /// - Parameters:
    ///   - anchors: certificates in DER; an unreadable one counts as absent.
    ///   - revocationSigners: certificates in DER.
    package init(_ regime: TrustRegime, anchors: [[UInt8]], revocationSigners: [[UInt8]] = []) {
        self.regime = regime
        self.anchors = anchors.compactMap { try? Certificate(derEncoded: $0) }
        self.revocationSigners = revocationSigners.compactMap { try? Certificate(derEncoded: $0) }
    }
}

/// Judges chains of signers under several regimes: path, keys, revocation, authority and delegation.
///
/// Reads no file, no clock and no network. Its results go into a snapshot, so the call path never parses a certificate.
package struct ChainPolicy: Sendable {
    /// A revocation list in force, with the keys that have signed it.
    private struct SignedList {
        let list: RevocationList
        /// Certificates of authorities with its signature.
        let issuers: [Certificate]
        /// Positions of the regimes whose `crl_signer` has signed it.
        let regimes: Set<Int>
    }

    private let regimes: [RegimeAnchors]
    private let issuers: Set<Certificate>
    private let pool: CertificateStore
    private let lists: [SignedList]
    private let now: Int64

    /// The seconds for which a list past its end counts.
    package static let grace: Int64 = 7 * 86_400

    /// - Parameters:
    ///   - issuers: known certificates of authorities in DER, which complete a leaf that came alone.
    ///   - revocationLists: lists in DER; one without a known signer counts as absent.
    ///   - now: the time of the decision in Unix seconds.
    package init(_ regimes: [RegimeAnchors], issuers: [[UInt8]], revocationLists: [[UInt8]] = [], at now: Int64) {
        self.regimes = regimes
        self.now = now
        let known = issuers.compactMap { try? Certificate(derEncoded: $0) }
        self.issuers = Set(known)
        pool = CertificateStore(known)
        let authorities = known + regimes.flatMap(\.anchors)
        lists = revocationLists.compactMap { RevocationList(der: $0) }.map { list in
            SignedList(
                list: list, issuers: authorities.filter { $0.subject == list.issuer && list.isSigned(by: $0) },
                regimes: Set(
                    regimes.indices.filter { index in
                        regimes[index].revocationSigners.contains { $0.subject == list.issuer && list.isSigned(by: $0) }
                    }))
        }
    }

    /// The name and the key of a revocation list's signer; nil for an unknown one.
    ///
    /// Lists of one signer replace each other. A list of another key does not, even under the same name.
    package func signer(of list: RevocationList) -> [UInt8]? {
        let known = regimes.flatMap(\.revocationSigners) + regimes.flatMap(\.anchors) + issuers
        let signer = known.first { $0.subject == list.issuer && list.isSigned(by: $0) }
        return signer.map { list.issuerBytes + $0.publicKey.subjectPublicKeyInfoBytes }
    }

    // MARK: One chain

    /// Judges a chain of DER certificates, leaf first.
    package func decide(_ chain: [[UInt8]]) async -> ChainDecision {
        var decision = ChainDecision()
        decision.digest = ChainDigest(of: chain.map { Data($0).base64EncodedString() }).bytes
        let certificates = chain.compactMap { try? Certificate(derEncoded: $0) }
        guard let leaf = certificates.first, certificates.count == chain.count,
            chain.count <= TrustMaterial.mostCertificates
        else {
            return decision.everywhere(
                .certificateMalformed, "a certificate of the chain cannot be read", regimes.count)
        }
        let facts = CertificateFacts(leaf)
        decision.subject = facts.name
        decision.issuer = ServerText.clean("\(leaf.issuer)")
        decision.serial = facts.serial
        let first = Int64(leaf.notValidBefore.timeIntervalSince1970)
        decision.validity = first...max(first, Int64(leaf.notValidAfter.timeIntervalSince1970))
        if let damage = certificates.lazy.compactMap({ CertificateFacts($0).damage }).first {
            return decision.everywhere(.certificateMalformed, damage, regimes.count)
        }
        guard let key = P256.Signing.PublicKey(leaf.publicKey) else {
            return decision.everywhere(.certificatePolicy, "the key of the leaf is not P-256", regimes.count)
        }
        decision.key = Array(key.x963Representation)
        decision.authority = facts.authorityBytes.flatMap { AuthorityList(der: $0) == nil ? nil : $0 }
        decision.constraints = certificates.compactMap { CertificateFacts($0).constraints }
        if facts.isAuthority || !facts.maySignTokens {
            let reason = facts.isAuthority ? "the leaf is an authority" : "keyUsage of the leaf lacks digitalSignature"
            return decision.everywhere(.certificatePolicy, reason, regimes.count)
        }
        for index in regimes.indices { await decide(index, leaf, Array(certificates.dropFirst()), &decision) }
        return decision
    }

    /// Adds the standing under one regime.
    private func decide(
        _ index: Int, _ leaf: Certificate, _ others: [Certificate], _ decision: inout ChainDecision
    ) async {
        // A missing file of the operator is no evidence against a signer.
        guard !regimes[index].anchors.isEmpty else {
            let reason = "regime \(regimes[index].regime.name) has no anchor: see herald doctor"
            return decision.standings.append(.init(cause: .signerNotYetKnown, reason: reason))
        }
        let path: [Certificate]
        switch await self.path(from: leaf, others, under: regimes[index], decision.validity) {
        case .success(let found): path = found
        case .failure(let refusal): return decision.standings.append(refusal.standing)
        }
        // The anchor is trusted as long as the operator has it.
        let last =
            path.dropLast().map { Int64($0.notValidAfter.timeIntervalSince1970) }.min()
            ?? decision.validity.upperBound
        if last < decision.validity.upperBound {
            decision.validity = decision.validity.lowerBound...max(decision.validity.lowerBound, last)
        }
        for certificate in path.dropFirst().dropLast() {
            guard let constraint = CertificateFacts(certificate).constraints, !decision.constraints.contains(constraint)
            else { continue }
            decision.constraints.append(constraint)
        }
        let standing =
            revocation(of: path, index) ?? authority(of: path, under: regimes[index].regime)
            ?? ChainDecision.Standing(cause: .passed, reason: "")
        decision.standings.append(standing)
        guard standing.cause == .passed else { return }
        if path.starts(with: [leaf] + others) { decision.isPath = true }
        for certificate in path.dropLast() {
            let der = CertificateFacts(certificate).der
            if !decision.path.contains(der) { decision.path.append(der) }
        }
    }

    // MARK: Path

    private struct Refusal: Error {
        var standing: ChainDecision.Standing
    }

    /// The path from the leaf to an anchor, both included.
    private func path(
        from leaf: Certificate, _ others: [Certificate], under regime: RegimeAnchors, _ validity: ClosedRange<Int64>
    ) async -> Result<[Certificate], Refusal> {
        // A leaf that is over, or not yet begun, has a cause of its own, so its path is judged within its time.
        let time = Date(timeIntervalSince1970: TimeInterval(min(max(now, validity.lowerBound), validity.upperBound)))
        var verifier = Verifier(rootCertificates: CertificateStore(regime.anchors)) {
            SignerPathPolicy(keys: regime.regime.keys, time: time)
            RFC5280Policy(fixedExpiryValidationTime: time)
        }
        let new = others.filter { !issuers.contains($0) }
        let result = await verifier.validate(
            leaf: leaf, intermediates: new.isEmpty ? pool : pool.appending(contentsOf: new))
        switch result {
        case .validCertificate(let chain): return .success(Array(chain))
        case .couldNotValidate(let failures):
            for failure in failures {
                let reason = failure.policyFailureReason.description
                guard let separator = reason.firstIndex(of: ":"),
                    let cause = TrustCause(named: String(reason[..<separator]))
                else { continue }
                return .failure(
                    Refusal(standing: .init(cause: cause, reason: String(reason[separator...].dropFirst(2)))))
            }
            let reason =
                failures.first.map { ServerText.clean($0.policyFailureReason.description) }
                ?? "no chain to an anchor of regime \(regime.regime.name); issuer \(ServerText.clean("\(leaf.issuer)"))"
            return .failure(Refusal(standing: .init(cause: .untrustedSigner, reason: reason)))
        }
    }

    // MARK: Revocation

    /// `revoked`, `crl_stale` or nil. A list that is not there revokes nothing.
    private func revocation(of path: [Certificate], _ index: Int) -> ChainDecision.Standing? {
        let regime = regimes[index].regime
        var stale: ChainDecision.Standing?
        for (certificate, issuer) in zip(path, path.dropFirst()) {
            for signed in lists {
                let isIndirect = signed.regimes.contains(index)
                let isDirect =
                    signed.list.issuer == certificate.issuer
                    && signed.issuers.contains { $0.publicKey == issuer.publicKey }
                guard isIndirect || isDirect else { continue }
                if signed.list.hasRevoked(certificate) {
                    let name = CertificateFacts(certificate).name
                    return .init(cause: .revoked, reason: "\(name) is in the revocation list of \(signed.list.name)")
                }
                guard let end = signed.list.nextUpdate, now > end + (regime.staleRevocation == .accept ? Self.grace : 0)
                else { continue }
                stale = .init(
                    cause: .crlStale, reason: "the revocation list of \(signed.list.name) is too old; import a new one")
            }
        }
        return stale
    }

    // MARK: Authority

    /// `no_authority` or nil: the TNAuthList of the leaf, and those of delegating certificates (RFC 9060 §4).
    private func authority(of path: [Certificate], under regime: TrustRegime) -> ChainDecision.Standing? {
        func refused(_ reason: String) -> ChainDecision.Standing { .init(cause: .noAuthority, reason: reason) }
        let leaf = CertificateFacts(path[0])
        guard leaf.authorityBytes != nil else { return refused("the leaf has no TNAuthList") }
        guard let list = leaf.authority else { return refused("the TNAuthList of the leaf cannot be read") }
        guard list.satisfies(regime.authority) else {
            return refused("the TNAuthList of the leaf has not exactly one provider code")
        }
        var child = (facts: leaf, list: list)
        var hasGap = false
        for certificate in path.dropFirst().dropLast() {
            let parent = CertificateFacts(certificate)
            guard parent.authorityBytes != nil else {
                hasGap = true
                continue
            }
            guard regime.delegates else { return refused("regime \(regime.name) has no delegate certificates") }
            guard !hasGap, let range = parent.authority, child.list.isEncompassed(by: range) else {
                return refused("\(child.facts.name) has numbers that \(parent.name) may not delegate")
            }
            let wanted = try? child.facts.certificate.extensions.authorityKeyIdentifier?.keyIdentifier
            let present = try? certificate.extensions.subjectKeyIdentifier?.keyIdentifier
            guard let wanted, let present, wanted.elementsEqual(present) else {
                return refused("the key identifiers of \(child.facts.name) and \(parent.name) differ")
            }
            child = (parent, range)
        }
        return nil
    }
}

extension ChainDecision {
    /// The decision with one standing under all regimes.
    fileprivate func everywhere(_ cause: TrustCause, _ reason: String, _ count: Int) -> ChainDecision {
        var decision = self
        decision.standings = Array(repeating: Standing(cause: cause, reason: reason), count: count)
        return decision
    }
}

/// The rules of a path beyond RFC 5280: its times, the usage of its keys, and their kinds.
///
/// A failure is the name of a cause, a colon and the reason.
private struct SignerPathPolicy: VerifierPolicy {
    let verifyingCriticalExtensions = SignerExtension.understood
    let keys: TrustRegime.Keys
    let time: Date

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        let path = chain.map { CertificateFacts($0) }
        for (position, facts) in path.enumerated() {
            let isAnchor = position == path.count - 1
            if position > 0, !facts.maySignCertificates(isAnchor: isAnchor) {
                return failure(.untrustedSigner, "\(facts.name) may not issue certificates")
            }
            if !hasKey(facts, isLeaf: position == 0) {
                return failure(.certificatePolicy, "the key of \(facts.name) is not allowed by keys: \(keys.rawValue)")
            }
            if !isAnchor, !hasAlgorithm(facts) {
                return failure(
                    .certificatePolicy,
                    "\(facts.name) is signed by \(facts.certificate.signatureAlgorithm), which keys: \(keys.rawValue) refuses"
                )
            }
            // A certificate may end before it begins, which is no range.
            if time < facts.certificate.notValidBefore || time > facts.certificate.notValidAfter {
                return failure(.certificateExpired, "\(facts.name) is not in force")
            }
        }
        return .meetsPolicy
    }

    private func hasKey(_ facts: CertificateFacts, isLeaf: Bool) -> Bool {
        if facts.isP256 { return true }
        return !isLeaf && keys == .p256RSA && (facts.modulusBits ?? 0) >= 2048
    }

    private func hasAlgorithm(_ facts: CertificateFacts) -> Bool {
        switch facts.certificate.signatureAlgorithm {
        case .ecdsaWithSHA256: true
        case .sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption: keys == .p256RSA
        default: false
        }
    }

    private func failure(_ cause: TrustCause, _ reason: String) -> PolicyEvaluationResult {
        .failsToMeetPolicy(reason: "\(cause.name): \(reason)")
    }
}
