// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore
import Synchronization

/// Copies messages and decisions for traces, beside the way of the messages.
///
/// Switched off it costs one relaxed load a message. Switched on, a worker copies at most 8 KiB a message into a ring and never
/// waits: a full ring drops the copy and counts it. Any thread writes; one thread reads.
public final class TraceTap: Sendable {
    /// Records that wait for the reader unless the configuration has another number.
    public static let usualCapacity = 8192

    private let isEnabled = Atomic<Bool>(false)
    private let ring = AtomicLazyReference<TraceRing>()

    public init() {}

    /// Whether workers copy.
    public var isOn: Bool { isEnabled.load(ordering: .relaxed) }

    /// Records that found the ring full.
    public var dropped: UInt64 { ring.load()?.dropped ?? 0 }

    /// Switches the copying on.
    ///
    /// - Parameter capacity: records that wait for the reader; counts at the first call, which allocates 2 KiB for each.
    public func start(capacity: Int = usualCapacity) {
        if ring.load() == nil { _ = ring.storeIfNil(TraceRing(capacity: capacity)) }
        isEnabled.store(true, ordering: .releasing)
    }

    /// Switches the copying off; the memory stays.
    public func stop() { isEnabled.store(false, ordering: .relaxed) }

    /// Copies the oldest record into one whose memory is reused; false if there is none. One reader at a time.
    public func take(into record: inout TraceRecord) -> Bool { ring.load()?.take(into: &record) ?? false }

    /// Copies a message that has arrived, before anything rejects it.
    func received(_ bytes: Span<UInt8>, by flow: Flow, _ topology: GatewayTopology, at now: Moment) {
        var head = TraceRing.Head()
        head.kind = .received
        head.wallMicroseconds = now.wallMicroseconds
        head.milliseconds = now.milliseconds
        head.address = flow.source
        head.socket = flow.socket
        head.connection = flow.connection
        // The reader has no certificate; it looks up all other peers.
        if flow.certificate != nil {
            head.certified = (topology.peer(of: flow) ?? topology.formerPeer(of: flow, at: now))?.number ?? 0
        }
        ring.load()?.append(head, bytes)
    }

    /// Copies a message on its way to a socket.
    func sent(_ message: OutgoingMessage, at now: Moment) {
        var head = TraceRing.Head()
        head.kind = .sent
        head.wallMicroseconds = now.wallMicroseconds
        head.milliseconds = now.milliseconds
        head.address = message.destination
        head.socket = message.socket
        head.connection = message.connection
        ring.load()?.append(head, message.bytes.span)
    }

    /// Copies the decision on an INVITE with its evidence.
    func decided(_ context: borrowing InboundContext, _ decorated: DecoratedInvite, _ evidence: DecisionEvidence) {
        var head = TraceRing.Head()
        head.kind = .decided
        head.wallMicroseconds = context.arrival.now.wallMicroseconds
        head.address = context.arrival.flow.source
        guard let callID = context.invite.first(.callID) else { return }
        let (message, index) = (context.invite.bytes, context.index)
        let traced = TracedDecision(context, decorated, evidence)
        ring.load()?.append(head, message.span.extracting(callID.value)) { decision, brand in
            decision = traced
            decorated.appendName(in: index, to: &brand)
        }
    }
}

extension TracedDecision {
    fileprivate init(_ context: borrowing InboundContext, _ decorated: DecoratedInvite, _ evidence: DecisionEvidence) {
        reason = decorated.reason
        caller = evidence.isWithheld ? nil : context.identity.number
        self.evidence = evidence
        guard let signed = context.signed, let verdict = TrustEvidence(context, decorated) else { return }
        signature = TracedSignature(
            signed.verdict, verdict, called: context.called.number, isWithheld: evidence.isWithheld)
    }
}

extension GatewayTopology {
    /// A configured peer in a trace.
    public struct TracedPeer: Hashable, Sendable {
        public let name: String
        public let isTrunk: Bool
    }

    /// The peer at the far end of a traced message; nil for an unknown peer.
    public func tracedPeer(of record: TraceRecord) -> TracedPeer? {
        switch peer(of: record) {
        case .trunk(let trunk): TracedPeer(name: trunk.name, isTrunk: true)
        case .pbx(let pbx): TracedPeer(name: pbx.name, isTrunk: false)
        case nil: nil
        }
    }

    /// The name of the customer of a call, by the traced request that begins it; nil for a call without one.
    public func customer(of record: TraceRecord, _ facts: TraceFacts) -> String? {
        guard routes.hasCustomers else { return nil }
        return switch peer(of: record) {
        case .trunk(let trunk): facts.customer(on: trunk, routes)?.name
        case .pbx(let pbx):
            facts.customer(
                of: pbx, on: trunk(for: nil, from: Flow(source: record.address, socket: record.socket)), routes)?.name
        case nil: nil
        }
    }

    /// True if the peer of an address may change with time, because a reload has removed peers.
    public var hasFormerPeers: Bool { former.count > 0 }

    private func peer(of record: TraceRecord) -> Peer? {
        if let number = record.certified { return peers.first { $0.number == number } }
        let now = Moment(milliseconds: record.milliseconds, wallMicroseconds: record.wallMicroseconds)
        let flow = Flow(source: record.address, socket: record.socket, connection: record.connection)
        if let peer = peer(of: flow) { return peer }
        return record.kind == .sent ? peer(at: record.address, orFormerAt: now) : formerPeer(of: flow, at: now)
    }
}
