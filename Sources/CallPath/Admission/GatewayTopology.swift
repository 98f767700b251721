// SPDX-License-Identifier: Apache-2.0

package import Branding
package import SIPCore

/// A trunk: the sources of its calls, the trust in them, and the targets of calls to it.
///
/// Immutable. A class, so that passing it along the walk of a message costs one reference count.
package final class TrunkPeer: Sendable {
    /// Headers that may name the caller.
    package enum IdentityHeader: UInt8, Hashable, Sendable { case pAssertedIdentity, remotePartyID, from }

    /// The treatment of the carrier's own name.
    package enum CarrierName: UInt8, Hashable, Sendable {
        /// The brand's name replaces it.
        case replace
        /// It stays; the brand's name is written only where the carrier sent none.
        case fill
        /// Names stay as received; only logo and reason are added.
        case keep
    }

    /// Its number in route cookies and call updates, over reloads and restarts; derived from its name.
    package let mark: UInt16
    package let name: String
    package let sources: [PeerSource]
    /// Names of which its TLS certificate must carry one; empty when no certificate is required.
    package let certificateNames: [String]
    /// The targets of the PBX's calls.
    package let targets: TargetGroup
    /// Host names of its targets, in lower case, as a PBX addresses its carrier.
    let hosts: [ArraySlice<UInt8>]
    /// Position of the local socket it sends to.
    package let socket: Int
    /// Position of the local socket its calls leave by towards the PBX; nil for the one of the PBX's target.
    package let pbxSocket: Int?
    /// Whether its P-Asserted-Identity, Remote-Party-ID and verstat are trusted.
    package let isTrusted: Bool
    package let policy: BrandingPolicy
    package let normaliser: NumberNormaliser
    /// The headers that may name the caller, in order; the first present one decides.
    package let identityOrder: [IdentityHeader]
    /// Whether Call-Info other than rich call data (answer-after and the like) passes.
    package let keepsForeignCallInfo: Bool
    package let carrierName: CarrierName
    /// Whether it gets the identity of a PBX's caller that withholds the number.
    package let takesWithheldIdentity: Bool
    /// The emergency numbers of its region.
    package let emergencyNumbers: EmergencyNumbers
    /// Headers with a carrier's attestation, in lower case.
    ///
    /// For an untrusted trunk those of all trunks, which are removed.
    let attestationHeaders: [ArraySlice<UInt8>]
    /// Name of the header with the trunk's name for the PBX; nil for none.
    package let trunkHeader: String?
    /// That header field with the trunk's name and its line end; empty for none.
    let trunkHeaderLine: [UInt8]
    /// The PBX of its calls.
    package let pbx: PBXPeer
    /// Its limits and its calls in progress.
    package let admission: TrunkAdmission
    /// The state of its registrar; nil where it is not watched.
    let registrar: RegistrarStanding?

    package init(
        name: String, sources: [PeerSource], targets: TargetGroup, socket: Int, isTrusted: Bool,
        policy: BrandingPolicy, normaliser: NumberNormaliser, identityOrder: [IdentityHeader],
        keepsForeignCallInfo: Bool, trunkHeader: String?, pbx: PBXPeer, certificateNames: [String] = [],
        pbxSocket: Int? = nil, carrierName: CarrierName = .replace, takesWithheldIdentity: Bool = true,
        admission: TrunkAdmission = TrunkAdmission(), hosts: [String] = [],
        emergencyNumbers: EmergencyNumbers? = nil, attestationHeaders: [String] = [],
        registrar: RegistrarStanding? = nil
    ) {
        self.emergencyNumbers = emergencyNumbers ?? EmergencyNumbers(region: normaliser.region)
        self.attestationHeaders = attestationHeaders.map { Array($0.lowercased().utf8)[...] }
        self.registrar = registrar
        self.hosts = hosts.map { Array($0.lowercased().utf8)[...] }
        mark = Self.mark(of: name)
        self.name = name
        self.sources = sources
        self.targets = targets
        self.socket = socket
        self.isTrusted = isTrusted
        self.policy = policy
        self.normaliser = normaliser
        self.identityOrder = identityOrder
        self.keepsForeignCallInfo = keepsForeignCallInfo
        self.trunkHeader = trunkHeader
        trunkHeaderLine = trunkHeader.map { Array("\($0): \(name)\r\n".utf8) } ?? []
        self.pbx = pbx
        self.certificateNames = certificateNames
        self.pbxSocket = pbxSocket
        self.carrierName = carrierName
        self.takesWithheldIdentity = takesWithheldIdentity
        self.admission = admission
    }

    /// The mark of a trunk's name; two names of one configuration may share one only by a chance of 1 in 65,536.
    package static func mark(of name: String) -> UInt16 {
        // FNV-1a, folded to 16 bits. The mark needs no secrecy: the route cookie is sealed.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return UInt16(truncatingIfNeeded: hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48)
    }

    /// True when a message that arrived this way is the trunk's.
    func sends(_ flow: Flow, anyPort: Bool) -> Bool {
        if !certificateNames.isEmpty {
            guard let names = flow.certificate?.names, certificateNames.contains(where: names.contains) else {
                return false
            }
            if sources.isEmpty { return true }
        }
        return sources.contains { $0.contains(flow.source, anyPort: anyPort) }
    }
}

/// A PBX, which gets the branded calls.
///
/// Immutable. A class for the same reason as `TrunkPeer`.
package final class PBXPeer: Sendable {
    package let name: String
    /// Its number among PBXs, derived from its name.
    let mark: UInt16
    package let sources: [PeerSource]
    /// The targets of its calls.
    package let targets: TargetGroup
    /// Largest message every target takes, in bytes; decoration is trimmed to stay under it.
    ///
    /// Nil for no limit. The smallest of all targets, so that a call can go on to another one as it is.
    let largestDatagram: Int?

    package init(name: String, sources: [PeerSource], targets: TargetGroup) {
        self.name = name
        mark = TrunkPeer.mark(of: name)
        self.sources = sources
        self.targets = targets
        largestDatagram = targets.targets.compactMap(\.largestDatagram).min()
    }
}

/// The local sockets and all peers; immutable.
package struct GatewayTopology: Sendable {
    package let sockets: [LocalSocket]
    package let trunks: [TrunkPeer]
    package let pbxs: [PBXPeer]
    /// Peers of former settings that may still have calls.
    package private(set) var former = FormerPeers()
    /// Whether any local address is one of TCP or TLS.
    let hasStreams: Bool
    /// The trunk headers of all trunks, each once.
    let trunkHeaders: [ArraySlice<UInt8>]
    /// The emergency numbers of all trunks.
    let emergencyNumbers: EmergencyNumbers

    /// The sender of a message.
    package enum Peer: Sendable {
        case trunk(TrunkPeer)
        case pbx(PBXPeer)
    }

    package init(sockets: [LocalSocket], trunks: [TrunkPeer], pbxs: [PBXPeer]) {
        self.sockets = sockets
        self.trunks = trunks
        self.pbxs = pbxs
        emergencyNumbers = EmergencyNumbers(of: trunks.map(\.emergencyNumbers))
        hasStreams = sockets.contains { $0.transport.isReliable }
        trunkHeaders = Set(trunks.compactMap { $0.trunkHeader?.lowercased() }).sorted().map { Array($0.utf8)[...] }
    }

    /// The same topology with the former peers of the one it replaces.
    ///
    /// - Parameters:
    ///   - now: milliseconds of the monotonic clock.
    ///   - longestCall: milliseconds for which a former peer may still have calls.
    package func succeeding(_ old: GatewayTopology, at now: UInt64, longestCall: UInt64) -> GatewayTopology {
        var next = self
        next.former = .left(by: old, for: self, at: now, longestCall: longestCall)
        return next
    }

    /// The configured peer that sends this way; nil for an unknown peer.
    ///
    /// PBXs come first, then trunks in their order. Of trunks that share a source, the trunk of the receiving socket wins. A
    /// stream has an ephemeral source port, so its port does not count if no source matches with it. Without a matching
    /// source, a peer with a target at that address matches: targets send their responses from there.
    package func peer(of flow: Flow) -> Peer? {
        let isStream = isStream(flow)
        return peer(of: flow, anyPort: false) ?? (isStream ? peer(of: flow, anyPort: true) : nil)
            ?? peer(withTargetAt: flow.source, anyPort: isStream, by: flow.socket)
    }

    /// The former peer that sends this way; its messages are accepted only for calls it has.
    func formerPeer(of flow: Flow, at now: Moment) -> Peer? {
        former.peer(of: flow, isStream: isStream(flow), at: now.milliseconds)
    }

    private func isStream(_ flow: Flow) -> Bool {
        sockets.indices.contains(flow.socket) && sockets[flow.socket].transport.isReliable
    }

    private func peer(withTargetAt address: PeerAddress, anyPort: Bool, by socket: Int) -> Peer? {
        for pbx in pbxs where pbx.targets.stand(at: address, anyPort: anyPort) { return .pbx(pbx) }
        var found: TrunkPeer?
        for trunk in trunks
        where trunk.certificateNames.isEmpty && trunk.targets.stand(at: address, anyPort: anyPort) {
            if trunk.socket == socket { return .trunk(trunk) }
            if found == nil { found = trunk }
        }
        return found.map { .trunk($0) }
    }

    private func peer(of flow: Flow, anyPort: Bool) -> Peer? {
        for pbx in pbxs where pbx.sources.contains(where: { $0.contains(flow.source, anyPort: anyPort) }) {
            return .pbx(pbx)
        }
        var found: TrunkPeer?
        for trunk in trunks where trunk.sends(flow, anyPort: anyPort) {
            if trunk.socket == flow.socket { return .trunk(trunk) }
            if found == nil { found = trunk }
        }
        return found.map { .trunk($0) }
    }

    /// The configured peer at an address to send to; its certificate is checked when the connection opens.
    ///
    /// - Parameter now: nil to leave out former peers.
    func peer(at address: PeerAddress, orFormerAt now: Moment? = nil) -> Peer? {
        if let peer = peer(of: Flow(source: address, socket: -1)) { return peer }
        let named = trunks.first { trunk in
            trunk.targets.stand(at: address, anyPort: false)
                || trunk.sources.contains { $0.contains(address, anyPort: false) }
        }
        return named.map { .trunk($0) } ?? now.flatMap { former.peer(at: address, at: $0.milliseconds) }
    }

    /// Whether a peer may send from an address, whatever its port and before it shows a certificate.
    package func mayBePeer(at address: PeerAddress) -> Bool {
        func stands(_ sources: [PeerSource], _ group: TargetGroup) -> Bool {
            sources.contains { $0.contains(address, anyPort: true) } || group.stand(at: address, anyPort: true)
        }
        return pbxs.contains { stands($0.sources, $0.targets) } || trunks.contains { stands($0.sources, $0.targets) }
            || former.mayBePeer(at: address)
    }

    /// The trunk of a PBX's call: by the URI's host, else by the receiving socket, else the first.
    func trunk(for uri: SIPURI?, from flow: Flow) -> TrunkPeer? {
        if let uri, let address = PeerAddress(host: uri.host, port: uri.port ?? 5060) {
            let named =
                trunks.first { $0.targets.targets.contains { $0.address == address } }
                ?? trunks.first { $0.sources.contains { $0.contains(address, anyPort: true) } }
            if let named { return named }
        }
        if let uri, let named = trunks.first(where: { $0.hosts.contains { HostName.same(uri.host, $0) } }) {
            return named
        }
        return trunks.first { $0.pbxSocket == flow.socket } ?? trunks.first
    }

    /// The trunk with the mark of a route cookie or a call update.
    func trunk(mark: Int, at now: Moment) -> TrunkPeer? {
        trunks.first { Int($0.mark) == mark } ?? former.trunk(mark: mark, at: now.milliseconds)
    }

    /// The local socket to an address of a peer: the dialog's own if it has the wanted transport and family, else that of a
    /// target there, else any socket that has them.
    ///
    /// - Parameter usual: used where nothing else matches.
    func socket(
        toReach address: PeerAddress, among group: TargetGroup, by transport: SIPTransportKind?,
        ofDialog own: Int? = nil, otherwise usual: Int
    ) -> Int {
        let there = group.targets.first { target in
            target.address == address && transport.map { sockets[target.socket].transport == $0 } ?? true
        }
        let target = there ?? group.targets.first { $0.address == address }
        let usual = own ?? usual
        let wanted =
            target.map { sockets[$0.socket].transport } ?? transport
            ?? (sockets.indices.contains(usual) ? sockets[usual].transport : .udp)
        let fits =
            sockets.indices.contains(usual) && sockets[usual].transport == wanted
            && sockets[usual].address.isIPv6 == address.isIPv6
        if fits, own != nil || target == nil { return usual }
        if let target { return target.socket }
        return sockets.first { $0.transport == wanted && $0.address.isIPv6 == address.isIPv6 }?.position ?? usual
    }
}
