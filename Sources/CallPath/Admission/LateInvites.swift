// SPDX-License-Identifier: Apache-2.0

import SIPCore

// INVITEs that waited in a socket while the process did not run, as under SIGSTOP or without a core.

extension GatewayElement {
    /// Whether an INVITE is dropped after a pause, with a record of it.
    ///
    /// A sender that got no response may have placed the call through another gateway since, and a phone would ring for
    /// nobody. One that still waits sends the INVITE again (Timer A of RFC 3261 §17.1.1.2), over a stream it does not.
    /// An emergency call goes on: rather twice than late.
    func isLate(
        _ arrival: Arrival, _ branch: Branch, from peer: GatewayTopology.Peer, _ settings: GatewaySettings
    ) -> Bool {
        let invite = arrival.message
        guard arrival.flow.connection == 0, !invite.isInDialog, !isKnown(branch),
            !peer.protects(invite, in: settings.topology)
        else { return false }
        shared.counters.add(.lateInvites)
        shared.recordRejection(of: invite, by: arrival.flow, 0, for: .pause, settings, at: arrival.now)
        return true
    }
}
