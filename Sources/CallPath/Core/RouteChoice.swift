// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

extension ProxyCore {
    /// Finds the destination of a new call; rejects the call with 404 if no route matches and the routes demand one.
    ///
    /// An emergency call, and the callback from its centre, always has a destination (RFC 5031, RFC 7090).
    func route(_ arrival: Arrival, from trunk: TrunkPeer, isProtected: Bool) -> CalledRoute? {
        let routes = settings.topology.routes
        let called = CalledRoute(of: arrival.message, on: trunk, routes)
        guard called.route == nil, routes.unmatched == .reject, !isProtected else { return called }
        counters.add(.callsWithoutRoute)
        reject(arrival, FailureResponse(404, "Not Found"), for: .noRoute)
        return nil
    }
}
