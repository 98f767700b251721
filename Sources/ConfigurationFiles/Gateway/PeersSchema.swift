// SPDX-License-Identifier: Apache-2.0

import Branding
import Primitives
import SIPCore

/// Reads the sections `pbx` and `trunks` of `herald.yaml`.
struct PeersSchema {
    let root: ConfigurationSection
    let listen: [HeraldConfiguration.Listener]
    private let listenNames: NamePositions
    private let signatures: TrunkSignatureSchema

    /// - Parameter trust: the section `trust`; nil without one, and for one with problems.
    init(
        root: ConfigurationSection, listen: [HeraldConfiguration.Listener], trust: HeraldConfiguration.TrustSettings?
    ) {
        (self.root, self.listen) = (root, listen)
        signatures = TrunkSignatureSchema(trust: trust, hasTrust: root.has("trust"))
        listenNames = NamePositions(listen.map(\.name))
    }

    // MARK: PBX

    func pbxs() -> [HeraldConfiguration.PBX]? {
        if !root.has("pbx") { root.missing("pbx", "[{name: office, address: 192.0.2.20:5060}]") }
        var names: Set<String> = []
        return root.sections("pbx") { position, section in
            let name = name(section, "pbx\(position + 1)", among: &names)
            let targets = targets(section, "address", "192.0.2.20:5060")
            if section.has("targets") { _ = self.position(section, "listen", among: listenNames) }
            let sources = section.list("sources", SourceRange.read)
            let phones = phones(section)
            let takesVerdict = section.bool("attestation_headers", default: false)
            if takesVerdict, !root.has("trust") {
                section.problem("attestation_headers", "needs a section trust with its regimes; see docs/trust.md")
            }
            guard !targets.isEmpty else { return nil }
            return HeraldConfiguration.PBX(
                name: name, targets: targets, isProbed: section.bool("probe", default: true),
                mustRespond: section.has("probe") || targets.count > 1, sources: sources,
                phones: phones, takesVerdict: takesVerdict)
        }
    }

    private func phones(_ section: ConfigurationSection) -> PhoneFamily? {
        guard section.has("phones") else { return nil }
        if !root.has("logos") { section.problem("phones", "needs a logos section, which makes the logos for them") }
        return section.choice("phones", default: PhoneFamily.snom)
    }

    // MARK: Trunks

    /// The treatment of header fields that a peer may not send everywhere.
    private enum KeptOrStripped: String, ConfigurationWord {
        case keep, strip

        var isKept: Bool {
            switch self {
            case .keep: true
            case .strip: false
            }
        }
    }

    func trunks(_ pbx: [HeraldConfiguration.PBX]) -> [HeraldConfiguration.Trunk]? {
        if !root.has("trunks") { root.missing("trunks", "[{name: carrier, sources: [203.0.113.0/24], …}]") }
        var names: Set<String> = []
        var claimed = SourceClaims()
        for pbx in pbx {
            for range in pbx.sources.isEmpty ? pbx.ownSources : pbx.sources {
                claimed.add(.init(owner: "pbx \(pbx.name)", range: range))
            }
        }
        let pbxNames = NamePositions(pbx.map(\.name))
        return root.sections("trunks") { position, section in
            let name = name(section, "trunk\(position + 1)", among: &names)
            let certificateNames = certificateNames(section)
            if certificateNames.isEmpty {
                if !section.has("sources") { section.missing("sources", "[203.0.113.0/24]") }
                if section.isEmptyList("sources") { section.problem("sources", "must not be empty") }
            }
            let sources = section.list("sources", SourceRange.read)
            let targets = nextHops(section, sources, isKnownByCertificate: !certificateNames.isEmpty)
            let listener = listen.firstIndex { $0.name == section.string("listen") } ?? 0
            claim(sources, section, name, listener, certificateNames, &claimed)
            if section.has("targets") { _ = self.position(section, "listen", among: listenNames) }
            let isProbed = section.bool("probe", default: targets.count > 1)
            let isTrusted = section.bool("trusted", default: false)
            let region = region(section)
            let policy = section.choice("policy", default: BrandingPolicy.standard)
            let brands = section.choice("brands", default: BrandMode.on)
            let identity = section.choices("identity", default: IdentityHeader.allCases)
            let callInfo = section.choice("foreign_call_info", default: isTrusted ? KeptOrStripped.keep : .strip)
            let carrierName = section.choice("carrier_name", default: CarrierNamePolicy.replace)
            let withheld = section.choice("withheld_identity", default: isTrusted ? KeptOrStripped.keep : .strip)
            let header = trunkHeader(section)
            let limits = Self.limits(section)
            let emergencyNumbers = TrunkIdentitySchema.emergencyNumbers(section)
            let phoneContexts = TrunkIdentitySchema.phoneContexts(section)
            let attestationHeaders = TrunkIdentitySchema.attestationHeaders(section)
            let signatures = self.signatures.read(section)
            let target = self.position(section, "pbx", among: pbxNames)
            let pbxListener = pbxListener(section, toReach: target < pbx.count ? pbx[target] : nil)
            guard !targets.isEmpty, !sources.isEmpty || !certificateNames.isEmpty else { return nil }
            return HeraldConfiguration.Trunk(
                name: name, sources: sources, certificateNames: certificateNames, targets: targets, isProbed: isProbed,
                listener: listener,
                pbxListener: pbxListener, region: region, isTrusted: isTrusted, policy: policy, brands: brands,
                identity: identity, keepsForeignCallInfo: callInfo.isKept,
                carrierName: carrierName, takesWithheldIdentity: withheld.isKept, trunkHeader: header,
                emergencyNumbers: emergencyNumbers, phoneContexts: phoneContexts,
                attestationHeaders: attestationHeaders, signatures: signatures, pbx: target, limits: limits)
        }
    }

    private static let noWildcard = "wildcards match no SIP domain (RFC 5922 §7.2); write the complete name"

    private func certificateNames(_ section: ConfigurationSection) -> [String] {
        let names = section.list("certificate_names") { text throws(AddressProblem) in text.lowercased() }
        for (position, name) in names.enumerated() where name.contains("*") {
            section.problem("certificate_names", element: position, Self.noWildcard)
        }
        if !names.isEmpty, !listen.contains(where: { $0.tls?.asksForCertificate ?? false }) {
            section.problem(
                "certificate_names", "need a listen entry with transport: tls and client_certificate: true")
        }
        return names
    }

    /// Reads the limits of a trunk or a route.
    static func limits(_ section: ConfigurationSection) -> HeraldConfiguration.TrunkLimits {
        var limits = HeraldConfiguration.TrunkLimits()
        section.within("limits") { section in
            func limit(_ key: String, _ most: Int) -> Int? {
                let value = section.integer(key, default: 0, in: 0...most)
                return value == 0 ? nil : value
            }
            limits.callsPerSecond = limit("calls_per_second", 100_000)
            limits.burst = limit("burst", 1_000_000)
            limits.calls = limit("calls", 1_000_000)
        }
        return limits
    }

    /// Returns the configured next hops, or else the first source if it is a single address.
    private func nextHops(
        _ section: ConfigurationSection, _ sources: [SourceRange], isKnownByCertificate: Bool
    ) -> [HeraldConfiguration.Target] {
        if section.has("next_hop") || section.has("targets") {
            return targets(section, "next_hop", "203.0.113.5:5060")
        }
        guard let first = sources.first else {
            // A missing or unreadable `sources` is reported elsewhere.
            if isKnownByCertificate, section.isEmptyList("sources") || !section.has("sources") {
                section.missing("next_hop", "203.0.113.5:5060 (the default needs a source)")
            }
            return []
        }
        guard first.isSingle else {
            section.missing("next_hop", "203.0.113.5:5060 (the first source is a range, which cannot be a destination)")
            return []
        }
        let address = EndpointAddress(
            host: first.host, port: first.port ?? 5060, isIPv6: first.isIPv6, hasPort: first.port != nil)
        let listener = listener(section, toReach: address, "next_hop")
        return [HeraldConfiguration.Target(address: usualPort(address, listener), listener: listener)]
    }

    /// Returns the listener for the trunk's calls to the PBX.
    ///
    /// It must reach at least one target. Calls to other targets use the targets' own listeners.
    private func pbxListener(_ section: ConfigurationSection, toReach pbx: HeraldConfiguration.PBX?) -> Int? {
        guard section.has("pbx_listen") else { return nil }
        let position = position(section, "pbx_listen", among: listenNames)
        guard position < listen.count, listen[position].name == section.string("pbx_listen") else { return nil }
        let entry = listen[position]
        let targets = pbx?.targets.filter { $0.listener < listen.count } ?? []
        let isOfUse = targets.contains { target in
            listen[target.listener].transport == entry.transport
                && (target.address.isName || target.address.isIPv6 == entry.address.isIPv6)
        }
        if let target = targets.first, !isOfUse {
            section.problem(
                "pbx_listen",
                "\"\(entry.name)\" (\(entry.transport.word), \(entry.address)) does not reach \(target.address) by "
                    + "\(listen[target.listener].transport.word); name a listen entry of the same transport and family"
            )
        }
        return position
    }

    private func region(_ section: ConfigurationSection) -> Region? {
        guard let text = section.string("region") else { return nil }
        if let region = Region(text) { return region }
        let nearest = text.uppercased() == "UK" ? "GB" : text.uppercased()
        let hint = Region(nearest) == nil ? "" : "; did you mean \"\(nearest)\"?"
        section.problem(
            "region", "\"\(text)\" is not a country with a numbering plan (two letters, such as AU or DE)\(hint)")
        return nil
    }

    /// `true` selects the default name; other text is the operator's name.
    private func trunkHeader(_ section: ConfigurationSection) -> String? {
        guard let text = section.string("trunk_header"), text != "false" else { return nil }
        if text == "true" { return "X-Herald-Trunk" }
        let isToken = text.utf8.allSatisfy {
            (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
        }
        guard isToken, text.utf8.count <= 64, text.lowercased().hasPrefix("x-"), text.utf8.count > 2 else {
            section.problem("trunk_header", "must be true, false, or a header name that begins with X-")
            return nil
        }
        return text
    }

    // MARK: Both

    /// Returns the target of a key, or the targets of the list `targets`.
    private func targets(
        _ section: ConfigurationSection, _ key: String, _ example: String
    ) -> [HeraldConfiguration.Target] {
        guard section.has("targets") else {
            if !section.has(key) { section.missing(key, example) }
            return target(section, key).map { [$0] } ?? []
        }
        if section.has(key) {
            section.problem(key, "cannot be combined with targets; use one of them")
        }
        // An entry inherits missing values from its group.
        let largest = largestDatagram(section)
        let certificateName = certificateName(section)
        var addresses: Set<EndpointAddress> = []
        let targets = section.sections("targets") { _, entry -> HeraldConfiguration.Target? in
            if !entry.has("address") { entry.missing("address", example) }
            guard var target = target(entry, "address", usual: section) else { return nil }
            if !addresses.insert(target.address).inserted {
                entry.problem("address", "an earlier entry has \(target.address)")
            }
            target.largestDatagram = entry.has("max_datagram") ? target.largestDatagram : largest
            target.certificateName = target.certificateName ?? certificateName
            target.priority = entry.integer("priority", default: 0, in: 0...65_535)
            target.weight = entry.integer("weight", default: 1, in: 0...65_535)
            return target
        }
        if let targets, targets.count > 16 { section.problem("targets", "must have at most 16 entries") }
        return targets ?? []
    }

    /// Returns the address with the default port of its transport: 5061 for TLS (RFC 3261 §19.1.2).
    private func usualPort(_ address: EndpointAddress, _ listener: Int) -> EndpointAddress {
        guard !address.hasPort, listener < listen.count, listen[listener].transport == .tls else { return address }
        return EndpointAddress(
            host: address.host, port: 5061, isIPv6: address.isIPv6, isName: address.isName, hasPort: false)
    }

    private func target(
        _ section: ConfigurationSection, _ key: String, usual outer: ConfigurationSection? = nil
    ) -> HeraldConfiguration.Target? {
        let address = address(section, key)
        // A list entry inherits the group's listener.
        let usual = outer.flatMap { outer in listen.firstIndex { $0.name == outer.string("listen") } } ?? 0
        let listener = listener(section, toReach: address, key, usual: usual)
        let (largest, certificateName) = (largestDatagram(section), certificateName(section))
        guard let address else { return nil }
        return HeraldConfiguration.Target(
            address: usualPort(address, listener), listener: listener, largestDatagram: largest,
            certificateName: certificateName)
    }

    private func certificateName(_ section: ConfigurationSection) -> String? {
        let name = section.string("certificate_name")
        if name?.contains("*") ?? false { section.problem("certificate_name", Self.noWildcard) }
        return name
    }

    /// Returns bytes; nil means no limit.
    private func largestDatagram(_ section: ConfigurationSection) -> Int? {
        let largest = section.integer("max_datagram", default: 0, in: 0...65_535)
        if (1..<1_300).contains(largest) {
            section.problem("max_datagram", "must be 0 for no limit, or 1300 to 65535 bytes")
        }
        return largest == 0 ? nil : largest
    }

    /// Reports sources that never match because an earlier peer covers them.
    ///
    /// PBXs precede trunks. Trunks may share a source if their listeners or certificates differ.
    private func claim(
        _ sources: [SourceRange], _ section: ConfigurationSection, _ name: String, _ listener: Int,
        _ certificateNames: [String], _ claimed: inout SourceClaims
    ) {
        let claims = sources.map { range in
            SourceClaims.Claim(
                owner: "trunk \(name)", range: range, listener: listener, certificateNames: Set(certificateNames))
        }
        for (position, claim) in claims.enumerated() {
            guard let other = claimed.first(covering: claim) else { continue }
            section.problem(
                "sources", element: position,
                "\(claim.range) already belongs to \(other.owner) (\(other.range)); add ports to both, "
                    + (other.listener == nil
                        ? "or narrow one" : "narrow one, or give each trunk a listen entry of its own"))
        }
        for claim in claims { claimed.add(claim) }
    }

    private func name(_ section: ConfigurationSection, _ usual: String, among names: inout Set<String>) -> String {
        let name = section.string("name", form: WordForm.name, WordForm.isName) ?? usual
        if !names.insert(name).inserted { section.problem("name", "an earlier entry is named \"\(name)\"") }
        return name
    }

    private func address(_ section: ConfigurationSection, _ key: String) -> EndpointAddress? {
        let address = section.parsed(key) { text throws(AddressProblem) in
            try EndpointAddress.read(text, defaultPort: 5060, allowsNames: true)
        }
        if let address, address.isWildcard {
            section.problem(key, "\(address.host) cannot be a destination")
            return nil
        }
        return address
    }

    /// Returns the position of the listener used towards a peer.
    private func listener(
        _ section: ConfigurationSection, toReach peer: EndpointAddress?, _ peerKey: String, usual: Int = 0
    ) -> Int {
        let position =
            section.has("listen") ? position(section, "listen", among: listenNames) : usual
        if let peer, !peer.isName, position < listen.count, listen[position].address.isIPv6 != peer.isIPv6 {
            section.problem(
                section.has("listen") ? "listen" : peerKey,
                "\(peer) cannot be reached from \(listen[position].address); name a listen entry of the same family")
        }
        return position
    }

    /// Returns the position of the entry named by a key; 0 if the key is absent.
    private func position(_ section: ConfigurationSection, _ key: String, among entries: NamePositions) -> Int {
        guard let name = section.string(key) else { return 0 }
        if let position = entries[name] { return position }
        section.problem(key, "no entry is named \"\(name)\"" + NearestName.hint(name, among: entries.names))
        return 0
    }
}
