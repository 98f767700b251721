// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore
import Synchronization

/// Copies messages and decisions for traces, beside the way of the messages.
///
/// Switched off it costs one relaxed load a message. Switched on, a worker copies at most 8 KiB a message into a ring and never
/// waits: a full ring drops the copy and counts it. Any thread writes; one thread reads.
package final class TraceTap: Sendable {
    private let isEnabled = Atomic<Bool>(false)
    private let ring: TraceRing

    /// - Parameter capacity: records that wait for the reader.
    package init(capacity: Int = 1024) { ring = TraceRing(capacity: capacity) }

    /// Whether workers copy.
    package var isOn: Bool { isEnabled.load(ordering: .relaxed) }

    /// Records that found the ring full.
    package var dropped: UInt64 { ring.dropped }

    /// Switches the copying on or off; the first time allocates 8 MiB, which stay.
    package func set(_ enabled: Bool) {
        if enabled { ring.reserve() }
        isEnabled.store(enabled, ordering: .relaxed)
    }

    /// Takes the oldest record; nil if there is none.
    ///
    /// One reader at a time.
    package func take() -> TraceRecord? { ring.take() }

    /// Copies a message that has arrived, before anything rejects it.
    func received(_ bytes: Span<UInt8>, by flow: Flow, _ topology: GatewayTopology, at now: Moment) {
        var head = TraceRing.Head()
        head.kind = .received
        head.wallMicroseconds = now.wallMicroseconds
        head.address = flow.source
        head.socket = flow.socket
        head.connection = flow.connection
        head.peer = (topology.peer(of: flow) ?? topology.formerPeer(of: flow, at: now))?.number ?? 0
        ring.append(head, bytes)
    }

    /// Copies a message on its way to a socket.
    func sent(_ message: OutgoingMessage, _ topology: GatewayTopology, at now: Moment) {
        var head = TraceRing.Head()
        head.kind = .sent
        head.wallMicroseconds = now.wallMicroseconds
        head.address = message.destination
        head.socket = message.socket
        head.connection = message.connection
        let flow = Flow(source: message.destination, socket: message.socket, connection: message.connection)
        let peer = topology.peer(of: flow) ?? topology.peer(at: message.destination, orFormerAt: now)
        head.peer = peer?.number ?? 0
        ring.append(head, message.bytes.span)
    }

    /// Copies the decision on an INVITE with its evidence.
    func decided(_ context: InboundContext, _ decorated: DecoratedInvite, _ evidence: DecisionEvidence) {
        var head = TraceRing.Head()
        head.kind = .decided
        head.wallMicroseconds = context.arrival.now.wallMicroseconds
        head.address = context.arrival.flow.source
        head.decision = TracedDecision(context, decorated, evidence)
        guard let callID = context.invite.first(.callID) else { return }
        let message = context.invite.bytes
        ring.append(head, message.span.extracting(callID.value)) { brand in
            if let entry = decorated.entry { context.index.append(.name, of: entry, to: &brand) }
        }
    }
}

extension TracedDecision {
    fileprivate init(_ context: InboundContext, _ decorated: DecoratedInvite, _ evidence: DecisionEvidence) {
        reason = decorated.entry == nil ? decorated.reason : nil
        caller = evidence.isWithheld ? nil : context.identity.number
        self.evidence = evidence
    }
}

extension GatewayTopology {
    /// A configured peer in a trace.
    package struct TracedPeer: Hashable, Sendable {
        package let name: String
        package let isTrunk: Bool
    }

    /// The peer with the number of a trace record; nil for an unknown peer.
    package func tracedPeer(_ number: UInt64) -> TracedPeer? {
        for peer in peers where peer.number == number {
            switch peer {
            case .trunk(let trunk): return TracedPeer(name: trunk.name, isTrunk: true)
            case .pbx(let pbx): return TracedPeer(name: pbx.name, isTrunk: false)
            }
        }
        return nil
    }
}
