// SPDX-License-Identifier: Apache-2.0

package import Branding
package import SIPCore

/// A range of addresses, and perhaps one port, that a peer may send from.
package struct PeerSource: Hashable, Sendable {
    /// Network address; host bits are ignored.
    package let network: PeerAddress
    /// Leading bits that must agree: 0–32 for IPv4, 0–128 for IPv6.
    package let prefixLength: Int
    /// The one port allowed, nil for any.
    package let port: UInt16?

    package init(network: PeerAddress, prefixLength: Int, port: UInt16?) {
        self.network = network
        self.prefixLength = prefixLength
        self.port = port
    }

    /// True when a datagram from there is this peer's.
    package func contains(_ source: PeerAddress) -> Bool {
        guard source.isIPv6 == network.isIPv6, port == nil || port == source.port else { return false }
        if !network.isIPv6 { return Self.agree(source.low << 32, network.low << 32, bits: prefixLength) }
        return Self.agree(source.high, network.high, bits: min(prefixLength, 64))
            && Self.agree(source.low, network.low, bits: max(prefixLength - 64, 0))
    }

    private static func agree(_ left: UInt64, _ right: UInt64, bits: Int) -> Bool {
        bits == 0 || (left ^ right) >> UInt64(64 - bits) == 0
    }
}

/// A carrier's side: where its calls come from, what is believed of them, where calls to it go.
package struct TrunkPeer: Sendable {
    /// Which header names the caller (DESIGN §4).
    package enum IdentityHeader: UInt8, Hashable, Sendable { case pAssertedIdentity, remotePartyID, from }

    package var position: Int
    package var name: String
    package var sources: [PeerSource]
    package var nextHop: PeerAddress
    /// Position of the local socket used towards it.
    package var socket: Int
    /// Its P-Asserted-Identity, Remote-Party-ID and verstat are believed.
    package var isTrusted: Bool
    package var policy: BrandingPolicy
    package var normaliser: NumberNormaliser
    /// Headers to look for the caller in; the first that is there decides.
    package var identityOrder: [IdentityHeader]
    /// Call-Info that is not rich call data (answer-after and the like) is let through.
    package var keepsForeignCallInfo: Bool
    /// Name of the header that tells the PBX which trunk a call came by; nil for none.
    package var trunkHeader: String?
    /// Position of the PBX its calls go to.
    package var pbx: Int

    package init(
        position: Int, name: String, sources: [PeerSource], nextHop: PeerAddress, socket: Int, isTrusted: Bool,
        policy: BrandingPolicy, normaliser: NumberNormaliser, identityOrder: [IdentityHeader],
        keepsForeignCallInfo: Bool, trunkHeader: String?, pbx: Int
    ) {
        self.position = position
        self.name = name
        self.sources = sources
        self.nextHop = nextHop
        self.socket = socket
        self.isTrusted = isTrusted
        self.policy = policy
        self.normaliser = normaliser
        self.identityOrder = identityOrder
        self.keepsForeignCallInfo = keepsForeignCallInfo
        self.trunkHeader = trunkHeader
        self.pbx = pbx
    }
}

/// The side that gets the branded calls.
package struct PBXPeer: Sendable {
    package var position: Int
    package var name: String
    package var sources: [PeerSource]
    package var address: PeerAddress
    /// Position of the local socket used towards it.
    package var socket: Int
    /// Largest datagram it takes, in bytes; decoration is trimmed to stay under it.
    ///
    /// Nil for no limit.
    package var largestDatagram: Int?

    package init(
        position: Int, name: String, sources: [PeerSource], address: PeerAddress, socket: Int, largestDatagram: Int?
    ) {
        self.position = position
        self.name = name
        self.sources = sources
        self.address = address
        self.socket = socket
        self.largestDatagram = largestDatagram
    }
}

/// Who is who: sockets, trunks and PBXs; immutable.
package struct GatewayTopology: Sendable {
    package let sockets: [LocalSocket]
    package let trunks: [TrunkPeer]
    package let pbxs: [PBXPeer]

    /// Which side a datagram came from.
    package enum Peer: Sendable {
        case trunk(TrunkPeer)
        case pbx(PBXPeer)
    }

    package init(sockets: [LocalSocket], trunks: [TrunkPeer], pbxs: [PBXPeer]) {
        self.sockets = sockets
        self.trunks = trunks
        self.pbxs = pbxs
    }

    /// The configured peer that sends from there; nil for a stranger.
    ///
    /// A PBX is looked for first, trunks in their order.
    package func peer(at source: PeerAddress) -> Peer? {
        for pbx in pbxs where pbx.sources.contains(where: { $0.contains(source) }) { return .pbx(pbx) }
        for trunk in trunks where trunk.sources.contains(where: { $0.contains(source) }) { return .trunk(trunk) }
        return nil
    }

    /// The trunk a PBX's call goes to: the one the URI's host names, else the first.
    func trunk(for uri: SIPURI?) -> TrunkPeer? {
        guard let uri, let address = PeerAddress(host: uri.host[...], port: uri.port ?? 5060) else {
            return trunks.first
        }
        return trunks.first { $0.nextHop.hasSameHost(as: address) && $0.nextHop.port == address.port }
            ?? trunks.first { $0.sources.contains { $0.contains(address) } } ?? trunks.first
    }
}
