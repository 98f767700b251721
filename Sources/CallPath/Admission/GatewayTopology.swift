// SPDX-License-Identifier: Apache-2.0

package import Branding
package import SIPCore

/// A carrier's side: where its calls come from, what is believed of them, where calls to it go.
///
/// Immutable; a class, so that handing it along the walk of a message costs one count and not one for each of its parts.
package final class TrunkPeer: Sendable {
    /// Which header names the caller.
    package enum IdentityHeader: UInt8, Hashable, Sendable { case pAssertedIdentity, remotePartyID, from }

    /// What happens to a name the carrier sent itself.
    package enum CarrierName: UInt8, Hashable, Sendable {
        /// The brand's name takes its place.
        case replace
        /// It stays; the brand's name is written only where the carrier sent none at all.
        case fill
        /// Names stay as they came; only logo and reason are added.
        case keep
    }

    /// Names it in dialog notes and call signals, over reloads and restarts; made of its name.
    package let mark: UInt16
    package let name: String
    package let sources: [PeerSource]
    /// Names one of which its TLS certificate must carry; empty when none is asked for.
    package let certificateNames: [String]
    /// Where the PBX's calls go.
    package let targets: TargetGroup
    /// Names its targets are configured by, in lower case: a PBX calls its carrier by one.
    let hosts: [ArraySlice<UInt8>]
    /// Position of the local socket it sends to.
    package let socket: Int
    /// Position of the local socket its calls leave by towards the PBX; nil for the one of the PBX's target.
    package let pbxSocket: Int?
    /// Its P-Asserted-Identity, Remote-Party-ID and verstat are believed.
    package let isTrusted: Bool
    package let policy: BrandingPolicy
    package let normaliser: NumberNormaliser
    /// Headers to look for the caller in; the first that is there decides.
    package let identityOrder: [IdentityHeader]
    /// Call-Info that is not rich call data (answer-after and the like) is let through.
    package let keepsForeignCallInfo: Bool
    package let carrierName: CarrierName
    /// Who a PBX's caller is, is told to it even where that caller withholds the number.
    package let takesWithheldIdentity: Bool
    /// The numbers by which help is called where it is.
    package let emergencyNumbers: EmergencyNumbers
    /// Headers in which a carrier says how it attests a caller, in lower case; of an untrusted trunk those of all trunks,
    /// which it may not bring.
    let attestationHeaders: [ArraySlice<UInt8>]
    /// Name of the header that tells the PBX which trunk a call came by; nil for none.
    package let trunkHeader: String?
    /// That header field with the trunk's name and its line end; empty for none.
    let trunkHeaderLine: [UInt8]
    /// The PBX its calls go to.
    package let pbx: PBXPeer
    /// What it may bring at most, and how much of it is there.
    package let admission: TrunkAdmission
    /// What was seen of its registrar; nil where nobody wants to know.
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
        // FNV-1a, folded to 16 bits: a mark is no secret, its seal in the dialog note is.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return UInt16(truncatingIfNeeded: hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48)
    }

    /// True when a message that came this way is the trunk's.
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

/// The side that gets the branded calls.
///
/// Immutable; a class for the same reason as `TrunkPeer`.
package final class PBXPeer: Sendable {
    package let name: String
    /// Tells it from other PBXs; made of its name.
    let mark: UInt16
    package let sources: [PeerSource]
    /// Where calls are sent.
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

/// Who is who: sockets, trunks and PBXs; immutable.
package struct GatewayTopology: Sendable {
    package let sockets: [LocalSocket]
    package let trunks: [TrunkPeer]
    package let pbxs: [PBXPeer]
    /// Who was configured before and still has calls.
    package private(set) var former = FormerPeers()
    /// Whether any local address is one of TCP or TLS.
    let hasStreams: Bool
    /// The header names by which PBXs tell trunks apart, each once.
    let trunkHeaders: [ArraySlice<UInt8>]
    /// The emergency numbers of all trunks.
    let emergencyNumbers: EmergencyNumbers

    /// Which side a message came from.
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

    /// The same, with what it remembers of the topology whose place it takes.
    ///
    /// - Parameters:
    ///   - now: milliseconds of the monotonic clock.
    ///   - longestCall: for how many milliseconds a peer that is left may still have calls.
    package func succeeding(_ old: GatewayTopology, at now: UInt64, longestCall: UInt64) -> GatewayTopology {
        var next = self
        next.former = .left(by: old, for: self, at: now, longestCall: longestCall)
        return next
    }

    /// The configured peer that sends this way; nil for a stranger.
    ///
    /// A PBX is looked for first, then trunks in their order; of trunks that share a source, the one whose socket it
    /// came in by. A stream comes from a port of the moment, so where no source fits with its port, ports do not count.
    /// Where no source fits at all, one of whose targets it is: what is asked of a target is answered from there.
    package func peer(of flow: Flow) -> Peer? {
        let isStream = isStream(flow)
        return peer(of: flow, anyPort: false) ?? (isStream ? peer(of: flow, anyPort: true) : nil)
            ?? peer(withTargetAt: flow.source, anyPort: isStream, by: flow.socket)
    }

    /// The peer that sent this way under settings before; what it sends is taken only where it belongs to a call it has.
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

    /// The configured peer at an address out of a header, where something is to be sent: a certificate is shown then.
    ///
    /// - Parameter now: nil where nobody counts who was configured before.
    func peer(at address: PeerAddress, orFormerAt now: Moment? = nil) -> Peer? {
        if let peer = peer(of: Flow(source: address, socket: -1)) { return peer }
        let named = trunks.first { trunk in
            trunk.targets.stand(at: address, anyPort: false)
                || trunk.sources.contains { $0.contains(address, anyPort: false) }
        }
        return named.map { .trunk($0) } ?? now.flatMap { former.peer(at: address, at: $0.milliseconds) }
    }

    /// Whether an address is one a peer may come from, whatever its port and before it shows a certificate.
    package func mayBePeer(at address: PeerAddress) -> Bool {
        func stands(_ sources: [PeerSource], _ group: TargetGroup) -> Bool {
            sources.contains { $0.contains(address, anyPort: true) } || group.stand(at: address, anyPort: true)
        }
        return pbxs.contains { stands($0.sources, $0.targets) } || trunks.contains { stands($0.sources, $0.targets) }
            || former.mayBePeer(at: address)
    }

    /// The trunk a PBX's call goes to: the one the URI's host names, else the one whose calls leave by the socket the
    /// call came in by, else the first.
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

    /// The trunk a dialog note or a call signal names.
    func trunk(mark: Int, at now: Moment) -> TrunkPeer? {
        trunks.first { Int($0.mark) == mark } ?? former.trunk(mark: mark, at: now.milliseconds)
    }

    /// The local socket that reaches an address of a peer: the one by which the whole dialog goes, if it speaks the
    /// transport and family that are wanted, else the one of a target there, else one that does speak them.
    ///
    /// - Parameter usual: used where nothing fits.
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
