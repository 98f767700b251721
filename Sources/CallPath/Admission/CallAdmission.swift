// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

// Whether a new call may begin: not while the gateway drains, and not past what its trunk may bring (RFC 3261 §21.5.4).

extension SIPGateway {
    /// Counts a new call in, or answers it 503 with the time after which another try makes sense.
    ///
    /// An emergency call and the call back from its centre are never held back (RFC 5031, RFC 7090, RFC 4412).
    ///
    /// - Parameters:
    ///   - trunk: the one that brings the call; nil for a call of the PBX, which no trunk's limits concern.
    ///   - parties: between whom the call is.
    ///   - isProtected: no limit may hold it back.
    /// - Returns: false for one that was refused.
    func admit(
        _ call: CallIdentifier, on trunk: TrunkPeer?, _ parties: CallParties, isProtected: Bool, _ arrival: Arrival
    ) -> Bool {
        if !isProtected {
            if shared.isDraining {
                counters.add(.callsRefusedWhileDraining)
                reject(arrival, Refusal(503, "Service Unavailable", .retryAfter(seconds: 10)), for: .draining)
                return false
            }
            if case .refused(let reason, let seconds) = trunk?.admission.admit(at: arrival.now.milliseconds) {
                counters.add(reason == .rate ? .callsRefusedByRate : .callsRefusedByNumber)
                reject(
                    arrival, Refusal(503, "Service Unavailable", .retryAfter(seconds: seconds)),
                    for: reason == .rate ? .rate : .number)
                return false
            }
        }
        shared.calls.begin(call, on: trunk?.admission.calls, between: parties, at: arrival.now.milliseconds)
        return true
    }
}
