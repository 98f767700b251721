// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// Facts of an INVITE that exclude branding, or limits.
struct CallFacts {
    /// An emergency call, a call back from one, or one with resource priority (RFC 5031, RFC 7090, RFC 4412).
    ///
    /// Such calls are never branded.
    let isEmergency: Bool
    /// True for calls that no limit holds back: calls to an emergency service (RFC 5031).
    ///
    /// From a trusted sender also the callback of such a service and calls with resource priority (RFC 7090, RFC 4412).
    /// Anybody can write those fields, and `Priority: emergency` is the caller's own (RFC 3261 §20.26).
    let isProtected: Bool

    init(of invite: SIPMessage, isTrusted: Bool, _ numbers: EmergencyNumbers) {
        let priority = invite.first(.priority).map { invite[$0.value] }
        let isMeant = EmergencyCall.isMeant(by: invite, numbers)
        let isCallback = invite.has(.resourcePriority) || priority?.equalsIgnoringCase("psap-callback") == true
        isProtected = isMeant || isTrusted && isCallback
        isEmergency = isMeant || isCallback || priority?.equalsIgnoringCase("emergency") == true
    }
}

extension GatewaySettings {
    /// True for a call that has passed here before, as the branch in the gateway's own Via proves (RFC 5393 §4).
    func isSpiral(_ invite: SIPMessage) -> Bool {
        guard let pass = EarlierPass(of: invite, sockets: topology.sockets) else { return false }
        return topology.hasPeer { pass.isProven(sender: $0.number, secret: secret) }
    }
}
