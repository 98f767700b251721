// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// The destination of a trunk's request by its called number: a route with its PBX, or the trunk's PBX.
struct CalledRoute: ~Copyable {
    /// The Request-URI; nil if it is malformed.
    let uri: SIPURI?
    /// The called number; nil when unclear.
    let number: E164Number?
    /// Nil where no route matches.
    let route: CallRoute?
    let pbx: PBXPeer

    /// Reads the called number and finds its route.
    init(of request: SIPMessage, on trunk: TrunkPeer, _ routes: CallRoutes) {
        uri = SIPURI(request.bytes, request.requestURI)
        number = CalledNumber.of(request, uri, on: trunk, from: routes.source)
        route = routes.route(of: number)
        pbx = route?.pbx ?? trunk.pbx
    }

    var customer: CallCustomer? { route?.customer }

    /// Whether the call has a brand, or would have, by trunk and route.
    func brands(on trunk: TrunkPeer) -> BrandMode { trunk.brands.joined(with: route?.brands ?? .on) }

    /// The attestation that the call needs for a brand.
    func policy(on trunk: TrunkPeer) -> BrandingPolicy { route?.policy ?? trunk.policy }
}

extension GatewayTopology {
    /// Whether a target is up that some call of a trunk could go to.
    public func isFit(_ trunk: TrunkPeer, at now: UInt64) -> Bool {
        trunk.pbx.targets.isFit(at: now) || routes.routes.contains { $0.pbx?.targets.isFit(at: now) ?? false }
    }
}
