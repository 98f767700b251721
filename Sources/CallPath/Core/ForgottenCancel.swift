// SPDX-License-Identifier: Apache-2.0

import SIPCore

// The CANCEL of an INVITE that this gateway does not have: it was restarted, or a sibling forwarded the INVITE.

extension ProxyCore {
    /// Sends the CANCEL to each target with the branch of each attempt that the INVITE may have had there.
    ///
    /// The other gateway chose by what it knew of the targets, and went on to the next after a failure (RFC 3261 §16.7 step
    /// 5). A target without that INVITE responds with 481 (§9.2), which is not forwarded.
    func cancelAttempts(_ onward: borrowing OnwardRequest, _ branch: Branch, from peer: GatewayTopology.Peer) {
        guard let group = onward.group, let request = try? SIPMessage.index(onward.bytes, limits: settings.limits)
        else { return }
        for attempt in 0..<UInt8(min(group.targets.count, RequestForwarding.mostCancelledAttempts)) {
            for target in group.targets.prefix(TargetGroup.mostTried) {
                let hop = hop(to: target, by: peer.pbxSocket)
                guard
                    let bytes = RequestForwarding.cancelling(
                        request, branch: branch, attempt: attempt, by: settings.topology.sockets[hop.socket])
                else { return }
                transactions.outgoing.append(
                    OutgoingMessage(bytes: bytes, destination: hop.address, socket: hop.socket))
            }
        }
    }
}
