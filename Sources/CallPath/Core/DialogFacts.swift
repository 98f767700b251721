// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Facts of a dialog's first INVITE that later messages of the dialog need.
///
/// They travel as the payload of the route cookie, so a restart does not lose them.
struct DialogFacts: Hashable, Sendable {
    /// The mark of the trunk.
    let trunk: Int
    /// True when the trunk placed the call.
    let isInbound: Bool
    /// True when the initial INVITE left with a brand.
    let isBranded: Bool
    /// True when the brand's name replaced the carrier's, false when only logo and reason were added.
    let isNamed: Bool
    /// Digits of the number the name belongs to; 0 where no name was written.
    let caller: UInt64
    /// True when a header of its own asserted that number, so that From alone does not show it.
    let isAsserted: Bool
    /// The mark of the customer whose brand the name is; 0 without customers, and where no name was written.
    let customer: UInt32
    /// The age of the secret that names the call, see `Secret.aged`; sealed by none.
    let sealAge: Int

    init(
        trunk: UInt16, isInbound: Bool, isBranded: Bool, isNamed: Bool = false, caller: UInt64 = 0,
        isAsserted: Bool = false, customer: UInt32 = 0, sealAge: Int = 0
    ) {
        self.trunk = Int(trunk)
        self.isInbound = isInbound
        self.isBranded = isBranded
        self.isNamed = isNamed
        self.caller = isNamed ? caller : 0
        self.isAsserted = isNamed && isAsserted
        self.customer = isNamed ? customer : 0
        self.sealAge = sealAge
    }

    /// Reads what `payload` wrote.
    ///
    /// The trunk's mark is above four flags. The customer's mark has the twelve bits above the trunk and the fourteen above
    /// the caller.
    init(_ payload: RouteCookie.Payload, sealAge: Int = 0) {
        self.init(
            trunk: UInt16(truncatingIfNeeded: payload.mark >> 4), isInbound: payload.mark & 2 != 0,
            isBranded: payload.mark & 1 != 0, isNamed: payload.mark & 4 != 0,
            caller: payload.value & Self.callerBits, isAsserted: payload.mark & 8 != 0,
            customer: payload.mark >> 20 | UInt32(truncatingIfNeeded: payload.value >> 50) << 12, sealAge: sealAge)
    }

    /// The facts as the route cookie carries them.
    var payload: RouteCookie.Payload {
        let flags: UInt32 = (isBranded ? 1 : 0) | (isInbound ? 2 : 0) | (isNamed ? 4 : 0) | (isAsserted ? 8 : 0)
        return RouteCookie.Payload(
            mark: UInt32(truncatingIfNeeded: trunk) << 4 | flags | customer << 20,
            value: caller | UInt64(customer >> 12) << 50)
    }

    /// Whether it belongs to a test call, of which no account has anything.
    var isTest: Bool { trunk == Int(TrunkPeer.testMark) }

    /// E.164 numbers are below 10^15, which is below 2^50.
    private static let callerBits: UInt64 = 1 << 50 - 1

    /// Whether the dialog belongs to the peer that sends a request in it: another trunk gains nothing by its cookie.
    func isOf(_ peer: GatewayTopology.Peer) -> Bool {
        if case .trunk(let sender) = peer { trunk == Int(sender.mark) } else { true }
    }
}

extension GatewayTransaction {
    /// Facts of the dialog that the request belongs to or begins.
    var dialog: DialogFacts { DialogFacts(payload) }
}

extension RouteCookie {
    /// Facts of the dialog that the cookie belongs to.
    var dialog: DialogFacts { DialogFacts(payload, sealAge: sealAge) }

    /// The end of the dialog that a request of this peer is for.
    func end(oppositeOf peer: GatewayTopology.Peer) -> DialogEnd { dialog.isInbound == peer.isTrunk ? target : origin }
}

extension RouteSet {
    /// Reads the Route fields of a peer's request; a cookie serves only the side of the dialog it was made for.
    init(
        of message: SIPMessage, from peer: GatewayTopology.Peer, _ settings: GatewaySettings,
        into splices: inout Splices
    ) {
        let isTrunk = peer.isTrunk
        self.init(of: message, sockets: settings.topology.sockets, secret: settings.secret, into: &splices) {
            DialogFacts($0).isInbound == isTrunk
        }
    }
}
