// SPDX-License-Identifier: Apache-2.0

public import Branding
public import SIPCore

extension GatewayTopology {
    /// The destination of a trunk's call to a user, for an operator's order.
    public struct Destination: Sendable {
        /// Nil when it is not certain which number the user is.
        public let number: E164Number?
        /// Nil where no route matches.
        public let route: CallRoute?
        public let pbx: PBXPeer
        /// Whether such a call gets 404.
        public let isRejected: Bool
    }

    /// The destination of an INVITE of a trunk by its called number.
    public func destination(of invite: SIPMessage, on trunk: TrunkPeer) -> Destination {
        let called = CalledRoute(of: invite, on: trunk, routes)
        return Destination(
            number: called.number, route: called.route, pbx: called.pbx,
            isRejected: called.route == nil && routes.unmatched == .reject)
    }

    /// Whether an INVITE of a trunk is an emergency call, or asks for the priority of one.
    public func isEmergency(_ invite: SIPMessage, on trunk: TrunkPeer) -> Bool {
        CallFacts(of: invite, isTrusted: trunk.isTrusted, trunk.emergencyNumbers).isEmergency
            || EmergencyCall.holds(invite, trunk.emergencyNumbers)
    }
}
