// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// Facts of an INVITE that exclude branding for any caller.
struct CallFacts {
    /// No To tag, no Replaces: a call that begins here (RFC 3261 §12, RFC 3891 §3).
    let isInitial: Bool
    let hasReplaces: Bool
    /// An emergency call, a call back from one, or one with resource priority (RFC 5031, RFC 7090, RFC 4412).
    let isEmergency: Bool
    /// True when it has the gateway's own Via: it passed here before (RFC 5393 §4).
    let isSpiral: Bool

    init(of invite: SIPMessage, from trunk: TrunkPeer, sockets: [LocalSocket]) {
        isInitial = !invite.isInDialog
        hasReplaces = invite.has(.replaces)
        isEmergency = Self.isEmergency(invite, trunk.emergencyNumbers)
        isSpiral = invite.anyVia { $0?.isOwn(in: invite, sockets: sockets) ?? false }
    }

    /// True for calls that no limit holds back: calls to an emergency service (RFC 5031).
    ///
    /// From a trusted sender also the callback of such a service and calls with resource priority (RFC 7090, RFC 4412).
    ///
    /// Anybody can write those fields, and `Priority: emergency` is the caller's own (RFC 3261 §20.26).
    static func isProtected(_ invite: SIPMessage, isTrusted: Bool, _ numbers: EmergencyNumbers) -> Bool {
        if EmergencyCall.isMeant(by: invite, numbers) { return true }
        guard isTrusted else { return false }
        return invite.has(.resourcePriority)
            || invite.first(.priority).map { invite[$0.value].equalsIgnoringCase("psap-callback") } ?? false
    }

    /// True for calls that are never branded.
    static func isEmergency(_ invite: SIPMessage, _ numbers: EmergencyNumbers) -> Bool {
        if invite.has(.resourcePriority) || EmergencyCall.isMeant(by: invite, numbers) { return true }
        guard let field = invite.first(.priority) else { return false }
        let priority = invite[field.value]
        return priority.equalsIgnoringCase("psap-callback") || priority.equalsIgnoringCase("emergency")
    }
}
