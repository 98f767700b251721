// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// The element a transport worker drives: reads messages, tells peers from strangers, and hands each message to the
/// shard that keeps its transaction.
///
/// Owned by one worker thread; no call into it waits for anything but a shard another worker holds for the time of one
/// message. The walk of an INVITE: here → `SIPMessage.index` → `SIPGateway.receiveRequest` → `InboundCall` →
/// `CallerIdentity` → `decide` → `Decoration` → `ProxyTransactions.forward`.
package final class GatewayWorker: SIPElement {
    package var outgoing: [OutgoingMessage] = []
    package var filling = 0.0
    /// By the position of the local address: an empty queue says nothing of a full one.
    private var overload: [OverloadGuard] = []
    private var refusalTags = RefusalTags()
    /// Until when an INVITE of those may be repeated: 64 × T1 after the last (RFC 3261 §17.1.1.2); monotonic milliseconds.
    private var refusedUntil: UInt64 = 0
    private static let repetition: UInt64 = 32_000
    private let shards: GatewayShards
    private let shared: GatewayShared
    /// Positions of the shards whose timers this worker runs.
    private let ownShards: [Int]
    private let worker: Int
    private var held: HeldSettings
    /// How many strangers' requests are answered a second: so few that nobody is worth flooding through the gateway.
    private let strangerAnswers = RateLimit(perSecond: 20, burst: 40)
    private var nextSweep: UInt64 = 0
    private var sweeps = 0

    /// Makes the element of one of `count` workers.
    package init(shards: GatewayShards, worker: Int = 0, of count: Int = 1) {
        self.shards = shards
        shared = shards.shared
        self.worker = worker
        held = HeldSettings(shards.shared.settings)
        ownShards = (0..<shards.count).filter { $0 % max(1, count) == worker }
        outgoing.reserveCapacity(64)
    }

    package var nextDeadline: UInt64? {
        var first = UInt64.max
        for position in ownShards {
            first = min(first, shards.shard(at: position).nextDeadline)
        }
        if worker == 0 { first = min(first, nextSweep, shared.probes.nextDeadline ?? .max) }
        return first == .max ? nil : first
    }

    package func fireTimers(at now: Moment) {
        if worker == 0 { houseKeeping(at: now) }
        for position in ownShards {
            let shard = shards.shard(at: position)
            guard shard.nextDeadline <= now.milliseconds else { continue }
            shard.perform(into: &outgoing) { $0.fireTimers(at: now) }
        }
    }

    /// What the first worker does for all: asks targets how they are, and ends calls whose BYE never came.
    private func houseKeeping(at now: Moment) {
        shared.settings.renew(&held)
        let settings = held.settings
        shared.probes.run(into: &outgoing, settings, at: now)
        guard nextSweep <= now.milliseconds else { return }
        nextSweep = now.milliseconds + 1000
        sweeps += 1
        if now.milliseconds > settings.longestCall {
            shared.calls.expire(turn: sweeps, startedBefore: now.milliseconds - settings.longestCall)
        }
    }

    package func exchangeOutgoing(for list: inout [OutgoingMessage]) -> Bool {
        guard !outgoing.isEmpty else { return false }
        swap(&list, &outgoing)
        return true
    }

    package func note(_ trouble: TransportTrouble) {
        switch trouble {
        case .truncated: shared.counters.add(.datagramsTruncated)
        case .unsent: shared.counters.add(.datagramsUnsent)
        }
    }

    package func sendFailed(_ token: DeliveryToken, at now: Moment) {
        if let number = token.probeNumber { return shared.probes.undelivered(number, at: now) }
        shards.shard(of: token.branch).perform(into: &outgoing) { $0.sendFailed(token, at: now) }
    }

    package func cameBack(_ bytes: Span<UInt8>, at now: Moment) {
        shared.settings.renew(&held)
        if let token = ReturnedRequest.token(of: bytes, secret: held.settings.secret) { sendFailed(token, at: now) }
    }

    package func receive(_ bytes: Span<UInt8>, by flow: Flow, at now: Moment) {
        shared.counters.add(.datagramsReceived)
        if isAcknowledgedRefusal(bytes) { return }
        shared.settings.renew(&held)
        let settings = held.settings
        if filling > 0, isOfStranger(flow, settings, at: now) { return shared.counters.add(.strangersDropped) }
        do {
            let message = try SIPMessage.index(bytes, limits: settings.limits)
            handle(Arrival(message: message, flow: flow, now: now), settings)
        } catch {
            refuseMalformed(bytes, by: flow, for: error, settings, at: now)
        }
    }

    /// Answers a peer's request with a header line that is none, where all that the response repeats can be read
    /// (RFC 3261 §21.4.1); drops and counts everything else.
    private func refuseMalformed(
        _ bytes: Span<UInt8>, by flow: Flow, for error: SIPIndexError, _ settings: GatewaySettings, at now: Moment
    ) {
        guard error == .badHeaderLine || error == .nulByte, flow.fault == nil,
            settings.topology.peer(of: flow) != nil,
            let request = MalformedRequest.answerable(bytes, limits: settings.limits)
        else { return shared.counters.add(error) }
        shared.counters.add(.requestsRefused)
        let arrival = Arrival(message: request, flow: flow, now: now)
        let refusal = Refusal(400, "Bad Header Line")
        shared.noteRejection(
            of: request, by: flow, refusal.status, for: .brokenRule, phrase: refusal.phrase, settings, at: now)
        outgoing.append(OwnAnswer.message(to: arrival, refusal, secret: settings.secret))
    }

    /// Whether a message is the ACK of one of the latest refusals of a flood, which ends here.
    private func isAcknowledgedRefusal(_ bytes: Span<UInt8>) -> Bool {
        guard !refusalTags.isEmpty, let tag = LocalMessages.ownTag(ofAcknowledgement: bytes) else { return false }
        return refusalTags.takes(tag)
    }

    /// Whether a message is of nobody the gateway knows, while more comes in than it can read: it is dropped then, since its
    /// answer would take the place of calls.
    private func isOfStranger(_ flow: Flow, _ settings: GatewaySettings, at now: Moment) -> Bool {
        settings.topology.peer(of: flow) == nil && settings.topology.formerPeer(of: flow, at: now) == nil
    }

    /// Whether an INVITE was shed and has come again before its refusal was acknowledged: taken now, a phone would ring for
    /// a caller who has been refused (RFC 3261 §17.2.1).
    private func isRefusedAgain(_ arrival: Arrival, _ branch: Branch, _ settings: GatewaySettings) -> Bool {
        guard arrival.now.milliseconds < refusedUntil else { return false }
        return refusalTags.refused(with: OwnAnswer.tag(for: arrival.message, secret: settings.secret)) == branch
    }

    /// Whether the queue an INVITE was read from asks for its refusal.
    private func asksForRefusal(of flow: Flow, at now: Moment) -> Bool {
        while overload.count <= flow.socket { overload.append(OverloadGuard()) }
        return overload[flow.socket].sheds(at: filling, now: now.milliseconds)
    }

    private func handle(_ arrival: Arrival, _ settings: GatewaySettings) {
        guard let peer = settings.topology.peer(of: arrival.flow) ?? formerPeer(of: arrival, settings) else {
            return meetStranger(arrival, settings)
        }
        if arrival.message.status != nil, shared.probes.takesAnswer(arrival.message, settings, at: arrival.now) {
            return
        }
        if let fault = arrival.flow.fault { return refuse(arrival, for: fault, settings) }
        let branch = branch(of: arrival.message, from: peer, settings)
        if arrival.message.method == .invite, let branch, sheds(arrival, branch, from: peer, settings) { return }
        shards.shard(of: branch ?? Branch(token: 0)).perform(into: &outgoing) { gateway in
            if gateway.settings !== settings { gateway.settings = settings }
            if arrival.message.status == nil {
                gateway.receiveRequest(arrival, branch, from: peer)
            } else {
                gateway.receiveResponse(arrival, branch, from: peer)
            }
        }
    }

    /// Turns a new call away while more comes in than can be carried, before anything else is worked out for it.
    private func sheds(
        _ arrival: Arrival, _ branch: Branch, from peer: GatewayTopology.Peer, _ settings: GatewaySettings
    ) -> Bool {
        guard asksForRefusal(of: arrival.flow, at: arrival.now) || isRefusedAgain(arrival, branch, settings),
            !arrival.message.isInDialog, RequestValidity.canBeAnswered(arrival.message),
            !peer.protects(arrival.message, in: settings.topology), !isKnown(branch)
        else { return false }
        let tag = OwnAnswer.tag(for: arrival.message, secret: settings.secret)
        refuseShed(
            OwnAnswer.message(to: arrival, status: 503, phrase: "Service Unavailable", tag: tag), tag, of: branch,
            by: arrival.flow, at: arrival.now)
        return true
    }

    /// Sends the answer to a shed call, whose ACK is known by its tag.
    ///
    /// It has no Retry-After: the peer would hold back everything for that time (RFC 3261 §21.5.4), not this call alone.
    private func refuseShed(
        _ answer: OutgoingMessage, _ tag: UInt64, of branch: Branch, by flow: Flow, at now: Moment
    ) {
        shared.counters.add(.callsShed)
        shared.noteShed(by: flow, held.settings, at: now)
        refusedUntil = now.milliseconds + Self.repetition
        refusalTags.note(tag, of: branch)
        outgoing.append(answer)
    }

    /// Whether a transaction of that branch is in memory.
    private func isKnown(_ branch: Branch) -> Bool {
        var isKnown = false
        shards.shard(of: branch).perform(into: &outgoing) { isKnown = $0.transactions[branch] != nil }
        return isKnown
    }

    /// The peer of settings before that a message comes from, if it belongs to a call that came through here: a response,
    /// a message of a transaction in memory, or a request with the dialog's sealed note.
    private func formerPeer(of arrival: Arrival, _ settings: GatewaySettings) -> GatewayTopology.Peer? {
        guard settings.topology.former.count > 0,
            let peer = settings.topology.formerPeer(of: arrival.flow, at: arrival.now)
        else { return nil }
        let message = arrival.message
        if message.status != nil { return peer }
        var unused = Splices()
        if message.isInDialog,
            let cookie = RouteSet(
                of: message, sockets: settings.topology.sockets, secret: settings.secret, isFromTrunk: peer.isTrunk,
                into: &unused
            ).cookie, cookie.note.isOf(peer)
        {
            return peer
        }
        return branch(of: message, from: peer, settings).map(isKnown) == true ? peer : nil
    }

    /// The branch that names the message's transaction: a request's is computed, a response brings the gateway's own.
    private func branch(
        of message: SIPMessage, from peer: GatewayTopology.Peer, _ settings: GatewaySettings
    ) -> Branch? {
        guard let via = message.topVia else { return nil }
        if message.status == nil {
            return Branch(of: message, via: via.value, sender: peer.number, secret: settings.secret)
        }
        return via.value.branch.flatMap { Branch(message[$0]) }
    }

    /// A message whose end could not be told on its stream (RFC 3261 §18.3): a request is answered, all else is dropped.
    private func refuse(_ arrival: Arrival, for fault: StreamFault, _ settings: GatewaySettings) {
        shared.counters.add(.requestsRefused)
        guard let method = arrival.message.method, method != .ack else { return }
        let refusal =
            switch fault {
            case .noContentLength: Refusal(400, "Missing Content-Length")
            case .badContentLength: Refusal(400, "Bad Content-Length")
            case .tooLong: Refusal(513, "Message Too Large")
            }
        outgoing.append(OwnAnswer.message(to: arrival, refusal, secret: settings.secret))
        shared.noteRejection(
            of: arrival.message, by: arrival.flow, refusal.status, for: .brokenRule, phrase: refusal.phrase, settings,
            at: arrival.now)
    }

    private func isScanner(_ message: SIPMessage) -> Bool {
        message.headers.contains { $0.name == .userAgent && ScannerSigns.sign(in: message[$0.value]) != nil }
    }

    /// A sender that is neither trunk nor PBX: refused or ignored, and counted; its responses lead nowhere.
    ///
    /// A source can be forged, and the response is longer than the request. So only a request that has all a response
    /// repeats is refused, and only so many a second.
    private func meetStranger(_ arrival: Arrival, _ settings: GatewaySettings) {
        // An answer is what scanners look for: they get none, whatever strangers get otherwise.
        if isScanner(arrival.message) {
            noteStranger(arrival, 0, from: .scanner, settings)
            return shared.counters.add(.scannersDropped)
        }
        guard settings.strangers == .refuse, let method = arrival.message.method, method != .ack,
            RequestValidity.canBeAnswered(arrival.message),
            strangerAnswers.take(at: arrival.now.milliseconds) == nil
        else {
            shared.counters.add(.strangersDropped)
            // The ACK of a 403 is no new message.
            if arrival.message.method != .ack { noteStranger(arrival, 0, from: .unknown, settings) }
            return
        }
        shared.counters.add(.strangersRefused)
        noteStranger(arrival, 403, from: .unknown, settings)
        outgoing.append(OwnAnswer.message(to: arrival, Refusal(403, "Forbidden"), secret: settings.secret))
    }

    private func noteStranger(
        _ arrival: Arrival, _ status: Int, from sender: Rejection.Sender, _ settings: GatewaySettings
    ) {
        shared.noteRejection(
            of: arrival.message, by: arrival.flow, status, for: settings.topology.cause(of: arrival.flow), from: sender,
            settings, at: arrival.now)
    }
}

/// A message with how and when it came.
struct Arrival {
    let message: SIPMessage
    let flow: Flow
    let now: Moment
}
