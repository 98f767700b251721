// SPDX-License-Identifier: Apache-2.0

public import SIPCore

/// The element that one transport worker drives: it receives messages and hands each to the shard of its transaction.
///
/// Owned by one worker thread. A call waits for nothing but a shard that another worker holds for one message.
/// `RequestWalk.swift` shows what happens to a request, `ResponseWalk.swift` what happens to a response.
public final class GatewayElement: SIPElement {
    public var outgoing: [OutgoingMessage] = []
    let shards: GatewayShards
    let shared: GatewayShared
    var overload: OverloadAdmission
    /// The memory of this worker for signed calls.
    let trust = WorkerTrust()
    var held: HeldSettings
    /// Limits the responses to unknown peers, so that nobody floods a third party through the gateway.
    let unknownPeerResponses = RateLimit(perSecond: 20, burst: 40)
    /// The shards whose timers this worker runs.
    private let ownShards: [GatewayShard]
    private let worker: Int
    private var nextSweep: UInt64 = 0
    private var sweeps = 0
    /// The version of the settings whose targets are probed.
    private var probedVersion: UInt64 = 0
    /// Time of the last message or timer, for traces of what it sends.
    var lastActivity = Moment(milliseconds: 0, wallMicroseconds: 0)

    /// Makes the element of one of `count` workers.
    public init(shards: GatewayShards, worker: Int = 0, of count: Int = 1) {
        self.shards = shards
        shared = shards.shared
        self.worker = worker
        overload = OverloadAdmission(shards.shared)
        held = HeldSettings(shards.shared.settings)
        ownShards = (0..<shards.count).filter { $0 % max(1, count) == worker }.map { shards.shard(at: $0) }
        outgoing.reserveCapacity(64)
    }

    public var filling: Double {
        get { overload.filling }
        set { overload.filling = newValue }
    }

    public var followsPause = false

    public var nextDeadline: UInt64? {
        var first = UInt64.max
        for shard in ownShards { first = min(first, shard.nextDeadline) }
        if worker == 0 { first = min(first, nextSweep, shared.probes.nextDeadline(shared.away)) }
        return first == .max ? nil : first
    }

    public func fireTimers(at now: Moment) {
        lastActivity = now
        shared.settings.renew(&held)
        let settings = held.settings
        if worker == 0 { keepTargetsAndCalls(settings, at: now) }
        // Before the timers, which depend on them.
        shared.calls.takeReports(at: now)
        for shard in ownShards where shard.nextDeadline <= now.milliseconds {
            shard.perform(settings, into: &outgoing) { $0.transactions.fireTimers(at: now) }
        }
    }

    /// Probes targets and ends calls without a BYE; the first worker does so for all.
    private func keepTargetsAndCalls(_ settings: GatewaySettings, at now: Moment) {
        let areNew = probedVersion != held.version
        if areNew || shared.probes.nextDeadline(shared.away) <= now.milliseconds {
            probedVersion = held.version
            shared.probes.run(into: &outgoing, settings, areNew: areNew, shared.away, at: now)
        }
        guard nextSweep <= now.milliseconds else { return }
        nextSweep = now.milliseconds + 1000
        sweeps += 1
        if now.milliseconds > settings.longestCall {
            shared.calls.expire(round: sweeps, startedBefore: now.milliseconds - settings.longestCall)
        }
    }

    public func exchangeOutgoing(for list: inout [OutgoingMessage]) -> Bool {
        guard !outgoing.isEmpty else { return false }
        if shared.trace.isOn { traceSent() }
        swap(&list, &outgoing)
        return true
    }

    public func record(_ trouble: TransportTrouble) {
        switch trouble {
        case .truncated: shared.counters.add(.datagramsTruncated)
        case .unsent: shared.counters.add(.datagramsUnsent)
        }
    }

    public func sendFailed(_ token: DeliveryToken, at now: Moment) {
        lastActivity = now
        if let number = token.probeNumber { return shared.probes.undelivered(number, at: now) }
        shared.settings.renew(&held)
        shards.shard(of: token.branch).perform(held.settings, into: &outgoing) {
            $0.transactions.sendFailed(token, at: now)
        }
    }

    public func cameBack(_ bytes: Span<UInt8>, at now: Moment) {
        shared.settings.renew(&held)
        if let token = ReturnedRequest.token(of: bytes, secret: held.settings.secret) { sendFailed(token, at: now) }
    }

    /// Copies the messages to send for a trace.
    private func traceSent() {
        for message in outgoing { shared.trace.sent(message, at: lastActivity) }
    }

    /// Whether a transaction of that branch is in memory.
    func isKnown(_ branch: Branch) -> Bool {
        var isKnown = false
        shards.shard(of: branch).perform(held.settings, into: &outgoing) { isKnown = $0.transactions[branch] != nil }
        return isKnown
    }
}
