// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import GatewayStore
import GatewaySync
import Trust

/// Brings material of files into the stored signers, and decides all of them anew.
///
/// Works on values alone; its owner stores the result as one change.
struct TrustMerge {
    /// One line of the report.
    struct Change: Equatable {
        /// `added`, `replaced`, `decided`, `removed`, `sorted`, `list`, `revocations` or `refused`.
        var kind: String
        /// The subject of the line: an address, a name, or file and line.
        var subject: String
        var detail: String
    }

    private(set) var trust: StoredTrust
    private(set) var changes: [Change] = []
    /// Signers that the material has exactly as they are stored.
    private(set) var unchanged = 0
    /// Lines of signers by their positions, and the positions of the signers. Their details are known after the decision.
    private var lines: [Int: Int] = [:]
    /// The addresses of certificates that may verify refused lists after all, by the places of the lists.
    private var missingSigners: [String: String] = [:]
    private let sources: RegimeSources
    private let settings: HeraldConfiguration.TrustSettings
    private let now: Int64

    init(
        _ trust: StoredTrust, _ sources: RegimeSources, _ settings: HeraldConfiguration.TrustSettings, at now: Int64
    ) {
        self.trust = trust
        self.sources = sources
        self.settings = settings
        self.now = now
    }

    /// Takes in the material and the files of the regimes.
    mutating func take(_ material: TrustMaterial) async throws {
        for refusal in material.refusals { refuse(refusal.place, refusal.reason) }
        for place in material.sorted {
            changes.append(Change(kind: "sorted", subject: place, detail: "the leaf first, then each issuer"))
        }
        addIssuers(material.authorities)
        await takeLists(material)
        takeRevocations(material)
        takeChains(material.chains)
        takeAddresses(material.addresses)
        try await decide()
    }

    /// The reason for which a fetched list is not taken in.
    struct ListRefusal: Error {
        let reason: String
        /// The address of a certificate that may verify the list after all; nil if no other one can.
        var signer: String?
    }

    /// Takes in the lists of the regimes' files and the fetched one of an address, which are among the sources.
    ///
    /// - Parameter signer: the fetched certificate of the list's signer, which becomes a signer as by an import; nil for none.
    /// - Throws: `ListRefusal` if the fetched one or its signer is refused.
    mutating func takeLists(of address: String, signer: TrustMaterial.Chain?) async throws {
        let material = TrustMaterial(signer.map { [$0] } ?? [])
        await takeLists(material)
        takeRevocations(TrustMaterial())
        if let refusal = changes.first(where: { $0.kind == "refused" && $0.subject == address }) {
            throw ListRefusal(reason: refusal.detail, signer: missingSigners[address])
        }
        takeChains(material.chains)
        // A list is stored with its signer or not at all: without it the next list fetches the certificate again.
        if let refusal = changes.first(where: { $0.kind == "refused" && $0.subject == signer?.place }) {
            throw ListRefusal(
                reason:
                    "its signer is not stored: \(refusal.detail); raise trust.signers, or remove signers with herald trust remove"
            )
        }
        try await decide()
    }

    private mutating func refuse(_ place: String, _ reason: String) {
        changes.append(Change(kind: "refused", subject: place, detail: reason))
    }

    private mutating func addIssuers(_ issuers: [[UInt8]]) {
        let known = Set(trust.issuers)
        var added: Set<[UInt8]> = []
        for issuer in issuers where !known.contains(issuer) && added.insert(issuer).inserted {
            trust.issuers.append(issuer)
        }
        if !added.isEmpty {
            changes.append(
                Change(
                    kind: "added", subject: "\(added.count) certificates of authorities", detail: "to complete chains"))
        }
    }

    // MARK: Lists of authorities

    private mutating func takeLists(_ material: TrustMaterial) async {
        for (position, files) in sources.regimes.enumerated() {
            for list in files.lists { _ = await take(list.token, of: list.place, for: position, material, isOwn: true) }
        }
        for list in material.lists {
            let candidates = sources.regimes.indices.filter { !sources.regimes[$0].roots.isEmpty }
            guard !candidates.isEmpty else {
                refuse(list.place, "no regime has a readable list_root, above which its signer must be")
                continue
            }
            var reasons: [String] = []
            var isTaken = false
            for position in candidates {
                guard let reason = await take(list.token, of: list.place, for: position, material, isOwn: false) else {
                    isTaken = true
                    continue
                }
                reasons.append("regime \(sources.regimes[position].regime.name): \(reason)")
            }
            if !isTaken { refuse(list.place, reasons.joined(separator: "; ")) }
        }
    }

    /// Takes a list for one regime; the reason if it is refused.
    private mutating func take(
        _ text: String, of place: String, for position: Int, _ material: TrustMaterial, isOwn: Bool
    ) async -> String? {
        let files = sources.regimes[position]
        let stored = trust.authorityLists.first { $0.regime == files.regime.name }
        // Beside an address a file is the list of the first start. Its sequence may be that of later lists, and its signer may
        // have ended.
        let isFirst = isOwn && stored != nil && (files.regime.listAddress.map { $0 != place } ?? false)
        let reason: String
        do throws(AuthorityListToken.Refusal) {
            let known = trust.signers
            let list = try await AuthorityListToken.verified(text, roots: files.roots, at: now) { address in
                material.chains.last { $0.address == address }?.certificates
                    ?? known.first { $0.address == address }?.certificates
            }
            if list.token == stored?.token { return nil }
            if let stored, isFirst, list.sequence <= stored.sequence { return nil }
            guard list.expires > now else { throw .init(reason: "ended at \(OperatorTime.text(list.expires))") }
            if let stored { try Self.checkOrder(list, after: stored) }
            store(list, for: files.regime.name)
            return nil
        } catch {
            reason = error.reason
            missingSigners[place] = error.signer
        }
        if isFirst { return nil }
        if isOwn { refuse(place, "regime \(files.regime.name): \(reason)") }
        return reason
    }

    /// Refuses a list that is older than the stored one.
    private static func checkOrder(
        _ list: AuthorityListToken, after stored: StoredAuthorityList
    ) throws(AuthorityListToken.Refusal) {
        guard list.sequence >= stored.sequence else {
            throw .init(reason: "its sequence \(list.sequence) is below \(stored.sequence), that of the stored list")
        }
        guard list.sequence > stored.sequence || list.expires >= stored.expires else {
            throw .init(
                reason: "it ends before the stored list with the same sequence, at \(OperatorTime.text(list.expires))")
        }
    }

    private mutating func store(_ list: AuthorityListToken, for regime: String) {
        trust.authorityLists.removeAll { $0.regime == regime }
        trust.authorityLists.append(
            StoredAuthorityList(
                regime: regime, sequence: list.sequence, expires: list.expires, token: list.token, importedAt: now))
        trust.authorityLists.sort { $0.regime < $1.regime }
        changes.append(
            Change(
                kind: "list", subject: "regime \(regime)",
                detail: "\(list.authorities.count) authorities, sequence \(list.sequence), until "
                    + OperatorTime.text(list.expires)))
    }

    // MARK: Revocation lists

    private mutating func takeRevocations(_ material: TrustMaterial) {
        let policy = ChainPolicy(sources.anchors(trust), issuers: pool(material), at: now)
        let own = sources.regimes.flatMap(\.revocations)
        // Beside an address a file is the list of the first start.
        let replaced = Set(
            sources.regimes.filter { !$0.regime.revocationAddresses.isEmpty }.flatMap { files in
                files.revocations.map(\.place).filter { !files.regime.revocationAddresses.contains($0) }
            })
        for (der, place) in own + material.revocations {
            guard let list = RevocationList(der: der) else {
                refuse(
                    place, "cannot be read as a revocation list, or has a critical extension that no reader here knows")
                continue
            }
            guard let signer = policy.signer(of: list) else {
                // The signer of the first list may have been renewed since.
                if replaced.contains(place), hasRevocations(of: list.name) { continue }
                refuse(
                    place,
                    "no known certificate of \(list.name) has signed it; name it in crl_signer, or import the authority"
                )
                continue
            }
            take(list, der, of: signer, place, isReplaced: replaced.contains(place))
        }
    }

    /// Whether a list of an issuer is stored.
    private func hasRevocations(of name: String) -> Bool {
        trust.revocationLists.contains { RevocationList(der: $0.der)?.name == name }
    }

    /// - Parameter isReplaced: whether an older list than the stored one is no problem.
    private mutating func take(
        _ list: RevocationList, _ der: [UInt8], of signer: [UInt8], _ place: String, isReplaced: Bool
    ) {
        let stored = trust.revocationLists.first { $0.signer == signer }
        if stored?.der == der { return }
        if let stored, let former = RevocationList(der: stored.der), list.isOlder(than: former) {
            if !isReplaced { refuse(place, "is older than the stored list of \(list.name)") }
            return
        }
        trust.revocationLists.removeAll { $0.signer == signer }
        trust.revocationLists.append(StoredRevocationList(signer: signer, der: der, importedAt: now))
        trust.revocationLists.sort { $0.signer.lexicographicallyPrecedes($1.signer) }
        let end = list.nextUpdate.map { ", next one before " + OperatorTime.text($0) } ?? ""
        changes.append(
            Change(kind: "revocations", subject: list.name, detail: "\(list.count) revoked certificates\(end)"))
    }

    /// All certificates of authorities that may complete a chain.
    private func pool(_ material: TrustMaterial? = nil) -> [[UInt8]] {
        let chains = trust.signers.map(\.certificates) + (material?.chains.map(\.certificates) ?? [])
        return Array(Set(trust.issuers + chains.flatMap { $0.dropFirst() }))
    }

    // MARK: Signers

    private mutating func takeChains(_ chains: [TrustMaterial.Chain]) {
        var byAddress: [String: Int] = [:]
        var byLeaf: [[UInt8]: Int] = [:]
        for (index, signer) in trust.signers.enumerated() {
            if let address = signer.address {
                byAddress[address] = index
            } else {
                byLeaf[signer.certificates[0]] = index
            }
        }
        let stored = Set(trust.signers.map(\.certificates))
        for chain in chains {
            if let address = chain.address, let refusal = refusal(of: address) {
                refuse(chain.place, refusal)
                continue
            }
            // Tokens find a chain of an address by its digest too.
            if chain.address == nil, stored.contains(chain.certificates) {
                unchanged += 1
                continue
            }
            if let index = chain.address.map({ byAddress[$0] }) ?? byLeaf[chain.certificates[0]] {
                if trust.signers[index].certificates == chain.certificates {
                    unchanged += 1
                    continue
                }
                trust.signers[index].certificates = chain.certificates
                trust.signers[index].importedAt = now
                append("replaced", index, chain.address ?? chain.place)
                continue
            }
            guard trust.signers.count < settings.signers else {
                refuse(chain.place, "the store has \(settings.signers) signers, the limit of trust.signers")
                continue
            }
            if let address = chain.address {
                byAddress[address] = trust.signers.count
                trust.unknown[address] = nil
            } else {
                byLeaf[chain.certificates[0]] = trust.signers.count
            }
            trust.signers.append(
                StoredSigner(
                    address: chain.address, certificates: chain.certificates, chain: [], key: nil, authority: nil,
                    constraints: [], validity: 0...0, standings: [], subject: "", importedAt: now))
            append("added", trust.signers.count - 1, chain.address ?? chain.place)
        }
        removeAddressesBeyondLimit()
    }

    /// Removes the oldest addresses without a certificate if signers need their space: calls may have invented them.
    private mutating func removeAddressesBeyondLimit() {
        let surplus = trust.signers.count + trust.unknown.count - settings.signers
        guard surplus > 0 else { return }
        let oldest = trust.unknown.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.prefix(surplus)
        for address in oldest { trust.unknown[address.key] = nil }
        if !oldest.isEmpty {
            changes.append(
                Change(
                    kind: "removed", subject: "\(oldest.count) addresses", detail: "without a certificate, for signers")
            )
        }
    }

    private mutating func takeAddresses(_ addresses: [String]) {
        let known = Set(trust.signers.compactMap(\.address))
        var added = 0
        for address in addresses where !known.contains(address) && trust.unknown[address] == nil {
            if let refusal = refusal(of: address) {
                refuse(address, refusal)
            } else if hasSpace {
                trust.unknown[address] = now
                added += 1
            } else {
                refuse(address, "the store has \(settings.signers) signers, the limit of trust.signers")
            }
        }
        if added > 0 {
            changes.append(Change(kind: "added", subject: "\(added) addresses", detail: "without a certificate yet"))
        }
    }

    private var hasSpace: Bool { trust.signers.count + trust.unknown.count < settings.signers }

    /// Why no token may name an address; nil if a regime allows it.
    private func refusal(of address: String) -> String? {
        if sources.regimes.contains(where: { $0.regime.addresses.allow(address) }) { return nil }
        return "no regime allows the address \(address): see x5u_ports, x5u_http and x5u_private"
    }

    // MARK: Decision

    /// Decides all signers by the present rules, lists and time.
    ///
    /// Many signers take seconds, between which other tasks of the thread go on.
    /// - Throws: `CancellationError`.
    mutating func decide() async throws {
        let policy = ChainPolicy(
            sources.anchors(trust), issuers: pool(), revocationLists: trust.revocationLists.map(\.der), at: now)
        let described = Set(lines.values)
        for index in trust.signers.indices {
            if index.isMultiple(of: 16) {
                try Task.checkCancellation()
                await Task.yield()
            }
            let decision = await policy.decide(trust.signers[index].certificates)
            let former = trust.signers[index].standings
            trust.signers[index].take(decision)
            let standings = trust.signers[index].standings
            if !former.isEmpty, former != standings, !described.contains(index) {
                append("decided", index, trust.signers[index].name)
            }
        }
        trust.regimes = sources.fingerprint
        trust.decidedAt = now
        for (line, signer) in lines { changes[line].detail = standings(of: trust.signers[signer]) }
    }

    private mutating func append(_ kind: String, _ signer: Int, _ subject: String) {
        lines[changes.count] = signer
        changes.append(Change(kind: kind, subject: subject, detail: ""))
    }

    /// Subject and standings, such as `SHAKEN 123A: us passed, fr untrusted_signer`.
    private func standings(of signer: StoredSigner) -> String {
        signer.subject + ": " + TrustWords.standings(signer.standings, sources.regimes.map(\.regime.name))
    }

    /// Removes signers, addresses and lists.
    ///
    /// - Returns: the count of removed ones.
    mutating func remove(_ choice: TrustChoice) -> Int {
        let before = trust.signers.count + trust.unknown.count
        for signer in trust.signers where choice.includes(signer) {
            changes.append(Change(kind: "removed", subject: signer.name, detail: signer.subject))
        }
        trust.signers.removeAll(where: choice.includes)
        if trust.unknown.removeValue(forKey: choice.text) != nil {
            changes.append(Change(kind: "removed", subject: choice.text, detail: "address without a certificate"))
        }
        return before - trust.signers.count - trust.unknown.count
    }

    /// Removes the list of authorities of a regime; false without one.
    mutating func removeList(of regime: String) -> Bool {
        let count = trust.authorityLists.count
        trust.authorityLists.removeAll { $0.regime == regime }
        guard trust.authorityLists.count < count else { return false }
        changes.append(Change(kind: "removed", subject: "regime \(regime)", detail: "list of authorities"))
        return true
    }
}

extension StoredSigner {
    /// The address, or the row of a chain that comes in tokens alone.
    var name: String { address ?? (row > 0 ? "#\(row)" : "chain in tokens") }

    /// Takes everything that was decided.
    mutating func take(_ decision: ChainDecision) {
        chain = decision.digest
        key = decision.key
        authority = decision.authority
        constraints = decision.constraints.map { Constraint(der: $0.der, isEnhanced: $0.isEnhanced) }
        validity = decision.validity
        standings = decision.standings.map(\.cause.rawValue)
        subject = decision.subject
    }

    /// True if tokens of the signer count under the regime at a position.
    func counts(under regime: Int) -> Bool {
        standings.indices.contains(regime) && standings[regime] == TrustCause.passed.rawValue
    }

    /// The codes and numbers of the leaf.
    var signsFor: AuthorityList { authority.flatMap { AuthorityList(der: $0) } ?? AuthorityList() }
}
