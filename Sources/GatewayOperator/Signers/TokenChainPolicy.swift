// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import GatewaySync
import Trust

/// Decides on chains that calls or hosts have brought, by the rules of an import and without its changes.
struct TokenChainPolicy {
    /// A chain with the decision on it.
    struct Decided {
        var signer: StoredSigner
        /// True for a chain that is stored as an import stores it: each certificate is part of its path to an anchor.
        var isLasting: Bool
        /// As in the policy.
        var generation: Int64
    }

    /// The generation of the stored signers whose lists and authorities count.
    let generation: Int64
    private let policy: ChainPolicy
    private let count: Int
    private let now: Int64

    /// The most bytes of base64 of a chain.
    static let mostBytes = 65_536
    /// The most certificates of a chain.
    static let mostCertificates = 6

    /// Nil for stored rules that are not those of `sources`: the signers are decided anew first.
    ///
    /// - Parameters:
    ///   - sources: the files of the configured regimes.
    ///   - trust: rules, authorities and lists of the store.
    ///   - now: seconds since 1970.
    init?(_ sources: RegimeSources, _ trust: StoredTrust, at now: Int64) {
        guard trust.regimes == sources.fingerprint else { return nil }
        generation = trust.generation
        count = sources.regimes.count
        self.now = now
        policy = ChainPolicy(
            sources.anchors(trust), issuers: trust.issuers, revocationLists: trust.revocationLists.map(\.der), at: now)
    }

    /// Decides on a chain of base64 texts, leaf first; nil for one that is too large.
    ///
    /// A text that is no certificate, or another form of its base64, makes a decision too: the next call has its cause.
    func decide(_ texts: [String]) async -> Decided? {
        guard (1...Self.mostCertificates).contains(texts.count),
            texts.reduce(0, { $0 + $1.utf8.count }) <= Self.mostBytes
        else { return nil }
        let certificates = texts.compactMap(Self.certificate)
        guard certificates.count == texts.count else { return unreadable(texts) }
        let decision = await policy.decide(certificates)
        var signer = StoredSigner(
            address: nil, certificates: certificates, chain: [], key: nil, authority: nil, constraints: [],
            validity: 0...0, standings: [], subject: "", importedAt: now)
        signer.take(decision)
        if !signer.standings.contains(TrustCause.passed.rawValue) {
            // The call path reads neither of a chain that counts nowhere.
            (signer.key, signer.authority, signer.constraints) = (nil, nil, [])
        }
        return Decided(signer: signer, isLasting: decision.isPath, generation: generation)
    }

    /// Decides on a chain that the host of an address has sent, leaf first.
    ///
    /// Certificates beside the paths to anchors are left out: a host can send any number of them.
    /// - Returns: the signer, or the causes under each regime with the first reason if the chain counts under none.
    func decide(fetched certificates: [[UInt8]], at address: String) async -> Result<StoredSigner, Refusal> {
        let decision = await policy.decide(certificates)
        guard decision.standings.contains(where: { $0.cause == .passed }) else {
            let first = decision.standings.first
            return .failure(
                Refusal(
                    standings: decision.standings.map(\.cause), reason: first?.reason ?? "", subject: decision.subject))
        }
        var signer = StoredSigner(
            address: address, certificates: decision.path, chain: [], key: nil, authority: nil, constraints: [],
            validity: 0...0, standings: [], subject: "", importedAt: now)
        signer.take(decision)
        signer.chain = ChainDigest(of: decision.path.map { Data($0).base64EncodedString() }).bytes
        return .success(signer)
    }

    /// The causes of a fetched chain that counts under no regime.
    struct Refusal: Error {
        var standings: [TrustCause]
        var reason: String
        var subject: String
    }

    /// The certificate in the one form of base64 that another digest cannot have.
    private static func certificate(_ text: String) -> [UInt8]? {
        guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { return nil }
        return Array(data)
    }

    private func unreadable(_ texts: [String]) -> Decided {
        let standings = Array(repeating: TrustCause.certificateMalformed.rawValue, count: count)
        return Decided(
            signer: StoredSigner(
                address: nil, certificates: [], chain: ChainDigest(of: texts).bytes, key: nil, authority: nil,
                constraints: [], validity: 0...0, standings: standings, subject: "", importedAt: now),
            isLasting: false, generation: generation)
    }
}
