// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

// Admission of new calls: none while the gateway drains, and none above the limits of its trunk or its route (RFC 3261 §21.5.4).

extension ProxyCore {
    /// Counts a new call, or rejects it with 503 and Retry-After.
    ///
    /// An emergency call and the callback from its centre are always admitted (RFC 5031, RFC 7090, RFC 4412).
    ///
    /// - Parameters:
    ///   - trunk: the trunk that brings the call; nil for a call of the PBX, which has no limits.
    ///   - route: the route of the called number; nil for none.
    ///   - parties: the two sides of the call.
    ///   - isProtected: whether no limit may hold it back.
    /// - Returns: false for a rejected call.
    func admit(
        _ call: CallIdentifier, on trunk: TrunkPeer?, _ route: CallRoute?, _ parties: CallParties, isProtected: Bool,
        _ arrival: Arrival
    ) -> Bool {
        if !isProtected {
            if shared.isDraining {
                counters.add(.callsRefusedWhileDraining)
                reject(arrival, FailureResponse(503, "Service Unavailable", .retryAfter(seconds: 10)), for: .draining)
                return false
            }
            // The route first: its refusal takes nothing of the trunk's rate.
            let verdict =
                route?.admission?.admit(at: arrival.now.milliseconds).orNil
                ?? trunk?.admission.admit(at: arrival.now.milliseconds)
            if case .refused(let reason, let seconds) = verdict {
                counters.add(reason == .rate ? .callsRefusedByRate : .callsRefusedByNumber)
                reject(
                    arrival, FailureResponse(503, "Service Unavailable", .retryAfter(seconds: seconds)),
                    for: reason == .rate ? .rate : .number)
                return false
            }
        }
        shared.calls.begin(
            call, on: trunk?.admission.calls, route?.admission?.calls, between: parties, at: arrival.now.milliseconds)
        return true
    }
}
