// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Decides which messages a worker takes while more arrive than it can carry (RFC 3261 §21.5.4).
///
/// New calls are shed with 503. Requests of a dialog, calls that no limit may hold back and retransmissions of known
/// transactions always pass. One worker owns it.
struct OverloadAdmission {
    /// The decision about one message.
    enum Verdict {
        /// The walk goes on.
        case pass
        /// The message ends here without a response.
        case absorbed
        /// The new call ends here with this response.
        case shed(OutgoingMessage)
    }

    /// The filling of the receive queue: 1 is full.
    var filling = 0.0
    /// Whether the queue of a local address is close to shedding calls.
    func isPressed(at socket: Int) -> Bool { socket < guards.count && guards[socket].isPressed }
    /// One guard for each local address, since an empty queue must not hide a full one.
    private var guards: [OverloadGuard] = []
    private var tags = RefusalTags()
    /// Monotonic milliseconds until which a shed INVITE may be retransmitted: 64 × T1 after the last (RFC 3261 §17.1.1.2).
    private var shedUntil: UInt64 = 0
    private static let retransmissionTime: UInt64 = 32_000
    private let shared: GatewayShared

    init(_ shared: GatewayShared) { self.shared = shared }

    /// Decides before a message is indexed.
    ///
    /// The ACK of a shed call is absorbed. While the receive queue fills, so is every message of an unknown peer: a
    /// response to it would take the place of a call.
    mutating func admit(
        _ bytes: Span<UInt8>, by flow: Flow, _ settings: GatewaySettings, at now: Moment
    ) -> Verdict {
        if !tags.isEmpty, let tag = LocalMessages.ownTag(ofAcknowledgement: bytes), tags.takes(tag) { return .absorbed }
        guard filling > 0, settings.topology.peer(of: flow) == nil,
            settings.topology.formerPeer(of: flow, at: now) == nil
        else { return .pass }
        shared.counters.add(.strangersDropped)
        return .absorbed
    }

    /// Decides about an INVITE once its sender and its branch are known.
    ///
    /// The response has no Retry-After: the peer would hold back all calls for that time (RFC 3261 §21.5.4).
    ///
    /// - Parameter isKnown: whether a transaction of the branch is in memory.
    mutating func admit(
        _ invite: Arrival, _ branch: Branch, from peer: GatewayTopology.Peer, _ settings: GatewaySettings,
        isKnown: (Branch) -> Bool
    ) -> Verdict {
        let (message, now) = (invite.message, invite.now)
        guard sheds(invite.flow, at: now) || wasShed(message, branch, settings, at: now), !message.isInDialog,
            RequestValidity.allowsResponse(message), !peer.protects(message, in: settings.topology), !isKnown(branch)
        else { return .pass }
        let tag = OwnResponse.tag(for: message, secret: settings.secret)
        shared.counters.add(.callsShed)
        shared.recordShed(by: invite.flow, settings, at: now)
        shedUntil = now.milliseconds + Self.retransmissionTime
        tags.record(tag, of: branch)
        return .shed(OwnResponse.message(to: invite, status: 503, phrase: "Service Unavailable", tag: tag))
    }

    /// Whether the queue of a local address asks for its next call to be shed; asked once an INVITE.
    private mutating func sheds(_ flow: Flow, at now: Moment) -> Bool {
        while guards.count <= flow.socket { guards.append(OverloadGuard()) }
        return guards[flow.socket].sheds(at: filling, now: now.milliseconds)
    }

    /// Whether an INVITE was shed before and its 503 is not acknowledged yet.
    ///
    /// Taken now, it would ring a phone for a caller who has a 503 already (RFC 3261 §17.2.1).
    private func wasShed(
        _ invite: SIPMessage, _ branch: Branch, _ settings: GatewaySettings, at now: Moment
    ) -> Bool {
        guard now.milliseconds < shedUntil else { return false }
        return tags.refused(with: OwnResponse.tag(for: invite, secret: settings.secret)) == branch
    }
}
