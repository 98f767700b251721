// SPDX-License-Identifier: Apache-2.0

public import CallAccounting
public import SIPCore
import Synchronization

/// The calls that have begun and not ended, for limits per trunk, for draining, and by target.
///
/// A call may come by several branches: forked upstream, or a copy by another path (RFC 3261 §8.2.2.2). The call
/// has failed when its last branch has.
///
/// Kept in shards, each under a lock held for some stores. A call takes about 60 bytes. Calls above the capacity are not
/// counted, so that memory does not grow. A restart begins at 0, also with calls in progress. Any thread.
public final class CallsInProgress: Sendable {
    private struct Entry {
        /// Nil for calls that count for no trunk.
        let trunk: TrunkCalls?
        /// Nil for calls without a route that has limits.
        let route: TrunkCalls?
        let parties: CallParties?
        /// The target it was sent to; nil before the first one.
        var target: TargetState?
        /// Monotonic milliseconds.
        let began: UInt64
        /// INVITEs of it that have no final response yet.
        var branches: UInt16 = 1
        /// Those of them that the caller has cancelled.
        var cancelled: UInt16 = 0
        /// INVITEs that came while others had no final response.
        var forks: UInt16 = 0
        var isAnswered = false
        /// A 18x of its target passed a sibling gateway.
        var ringsElsewhere = false
        /// A 2xx of its target passed a sibling gateway.
        var isAnsweredElsewhere = false
        /// Why a branch failed while others were alive; status 0 for none.
        var failure = CallFailure(status: 0)
    }

    private final class Shard: Sendable {
        let calls = Mutex<[CallIdentifier: Entry]>([:])
    }

    private let shards = (0..<64).map { _ in Shard() }
    private let total = Atomic<Int>(0)
    /// Messages of calls that passed sibling gateways, until a worker takes their reports.
    private let reports = Mutex<[SiblingReport]>([])
    /// The latest calls that ended at a sibling gateway, in two generations; workers alone use them.
    private let endedElsewhere = Mutex<(new: Set<CallIdentifier>, old: Set<CallIdentifier>)>(([], []))
    /// Calls of one generation.
    private static let mostEnded = 65_536
    private let capacity: Int

    /// Makes an empty table for at most `capacity` calls.
    public init(capacity: Int = 1_000_000) { self.capacity = capacity }

    /// Calls in progress.
    public var count: Int { total.load(ordering: .relaxed) }

    /// Counts a call that begins at a monotonic time in milliseconds; one that is known already has a branch more.
    ///
    /// - Parameter parties: between whom the call is; nil where everybody may end it.
    public func begin(
        _ call: CallIdentifier, on trunk: TrunkCalls?, _ route: TrunkCalls? = nil,
        between parties: CallParties? = nil, at milliseconds: UInt64
    ) {
        let isFull = count >= capacity
        let entry = Entry(
            trunk: trunk, route: route, parties: parties, began: milliseconds)
        let isNew = shard(of: call).calls.withLock { calls in
            guard let place = calls.index(forKey: call) else {
                if isFull { return false }
                calls[call] = entry
                return true
            }
            if calls.values[place].branches < .max {
                calls.values[place].branches += 1
                calls.values[place].forks += 1
            }
            return false
        }
        if isNew { add(1, entry) }
    }

    /// Counts a call for the target it is sent to, and no more for the one before.
    ///
    /// A call above the capacity counts as sent, and never as in progress.
    public func send(_ call: CallIdentifier, to target: TargetState) {
        let (isKnown, former): (Bool, TargetState?) = shard(of: call).calls.withLock { calls in
            guard let place = calls.index(forKey: call) else { return (false, nil) }
            let former = calls.values[place].target
            calls.values[place].target = target
            // The phones of the target before do not ring any more.
            if former !== target { calls.values[place].ringsElsewhere = false }
            return (true, former)
        }
        // Another branch of a forked call has the same target.
        guard former !== target else { return }
        former?.addOpenCalls(-1)
        if isKnown { target.addOpenCalls(1) }
        target.countCall()
    }

    /// False for a call that is known to be between others, whom a peer's BYE or CANCEL does not concern.
    func mayBe(_ call: CallIdentifier, of peer: GatewayTopology.Peer) -> Bool {
        shard(of: call).calls.withLock { $0[call]?.parties?.include(peer) ?? true }
    }

    /// Records that a branch of a call was answered: the call lasts until its BYE, whatever the other branches get.
    ///
    /// - Returns: whether the call had several branches at once, perhaps to several numbers.
    @discardableResult
    public func answered(_ call: CallIdentifier) -> Bool {
        shard(of: call).calls.withLock { calls in
            guard let place = calls.index(forKey: call) else { return false }
            calls.values[place].isAnswered = true
            return calls.values[place].forks > 0
        }
    }

    /// Records that the caller has cancelled a branch of a call; false while other branches go on.
    public func cancelled(_ call: CallIdentifier) -> Bool {
        shard(of: call).calls.withLock { calls in
            guard let place = calls.index(forKey: call) else { return true }
            let entry = calls.values[place]
            guard entry.cancelled < entry.branches else { return true }
            calls.values[place].cancelled += 1
            return entry.cancelled + 1 == entry.branches
        }
    }

    /// Records that a branch of a call has failed.
    ///
    /// - Returns: the reason why the call has failed, if this was its last branch; nil while it goes on. A branch whose phone
    ///   rang is the reason before others, and a merged request (482) only if no other branch has a reason.
    public func failed(_ call: CallIdentifier, _ failure: CallFailure) -> CallFailure? {
        let (result, ended): (CallFailure?, Entry?) = shard(of: call).calls.withLock { calls in
            guard var entry = calls[call] else { return (failure, nil) }
            guard !entry.isAnswered else { return (nil, nil) }
            entry.branches -= 1
            if failure.isCancelled, entry.cancelled > 0 { entry.cancelled -= 1 }
            if failure.weight >= entry.failure.weight { entry.failure = failure }
            calls[call] = entry.branches == 0 ? nil : entry
            return entry.branches == 0 ? (entry.failure, entry) : (nil, nil)
        }
        if let ended { add(-1, ended) }
        return result
    }

    /// Takes back a branch that the gateway has rejected, as if it had never come.
    ///
    /// - Returns: the reason why the call has failed, if all its other branches failed while this one counted; nil otherwise.
    public func withdraw(_ call: CallIdentifier) -> CallFailure? {
        let ended: Entry? = shard(of: call).calls.withLock { calls in
            guard var entry = calls[call] else { return nil }
            if entry.branches > 0 { entry.branches -= 1 }
            if entry.forks > 0 { entry.forks -= 1 }
            let isOver = entry.branches == 0 && !entry.isAnswered
            calls[call] = isOver ? nil : entry
            return isOver ? entry : nil
        }
        guard let ended else { return nil }
        add(-1, ended)
        return ended.failure.status == 0 ? nil : ended.failure
    }

    /// Counts a call that has ended; one that is not known means nothing.
    public func end(_ call: CallIdentifier) {
        guard let entry = shard(of: call).calls.withLock({ $0.removeValue(forKey: call) }) else { return }
        add(-1, entry)
        if entry.ringsElsewhere || entry.isAnsweredElsewhere { rememberEnd(of: call) }
    }

    /// A message of a call that passed a sibling gateway.
    public struct SiblingReport: Sendable {
        public enum Message: Sendable {
            /// 180 to 199.
            case alerting
            /// A 2xx.
            case answered
            /// A response above 299 that asks for no other attempt.
            case rejected
            case bye
        }

        let call: CallIdentifier
        let message: Message
        /// By the clock of this gateway, in microseconds since 1970.
        let at: Int64

        public init(_ message: Message, of call: CallIdentifier, at time: Int64) {
            (self.call, self.message, at) = (call, message, time)
        }
    }

    /// Leaves reports for the next worker that looks; any thread but a worker's.
    public func leave(_ reported: [SiblingReport]) { reports.withLock { $0 += reported } }

    /// Takes the reports that were left; a worker never waits for the thread that leaves them.
    func takeReports(at now: Moment) {
        let taken = reports.withLockIfAvailable { reports in
            defer { reports = [] }
            return reports
        }
        for report in taken ?? [] { take(report, at: now) }
    }

    /// Largest error of a report's time, in milliseconds.
    private static let reportError: Int64 = 100

    private func take(_ report: SiblingReport, at now: Moment) {
        let age = (now.wallMicroseconds - report.at) / 1000
        let time = Int64(clamping: now.milliseconds) - age + Self.reportError
        let isOver = shard(of: report.call).calls.withLock { calls in
            // An earlier attempt with the same identifier.
            guard let entry = calls[report.call], time >= Int64(clamping: entry.began) else { return false }
            switch report.message {
            case .alerting: calls[report.call]?.ringsElsewhere = true
            case .answered: calls[report.call]?.isAnsweredElsewhere = true
            // Of a re-INVITE, if the call was answered.
            case .rejected: return !entry.isAnswered && !entry.isAnsweredElsewhere
            case .bye: return true
            }
            return false
        }
        guard isOver else { return }
        end(report.call)
        rememberEnd(of: report.call)
    }

    private func rememberEnd(of call: CallIdentifier) {
        endedElsewhere.withLock { ended in
            if ended.new.count >= Self.mostEnded { ended = ([], ended.new) }
            ended.new.insert(call)
        }
    }

    /// Whether a phone rings for the call's only INVITE, as a sibling gateway reports.
    func ringsElsewhere(_ call: CallIdentifier) -> Bool {
        shard(of: call).calls.withLock { calls in
            guard let entry = calls[call] else { return false }
            return entry.ringsElsewhere && entry.branches == 1
        }
    }

    /// Whether the call's INVITE got its final response through a sibling gateway.
    func isDecidedElsewhere(_ call: CallIdentifier) -> Bool {
        let isAnswered = shard(of: call).calls.withLock { calls in
            calls[call].map { $0.isAnsweredElsewhere && $0.branches == 1 }
        }
        return isAnswered ?? endedElsewhere.withLock { $0.new.contains(call) || $0.old.contains(call) }
    }

    /// Ends the calls of one shard that began before a time: their BYE never came.
    ///
    /// - Parameter turn: a number that grows by one each time. It selects the shard; 64 calls of this function cover all.
    /// - Returns: how many were ended.
    @discardableResult
    public func expire(round: Int, startedBefore milliseconds: UInt64) -> Int {
        let shard = shards[abs(round) % shards.count]
        let gone = shard.calls.withLock { calls in
            let gone = calls.filter { $0.value.began < milliseconds }
            for call in gone.keys { calls[call] = nil }
            return Array(gone.values)
        }
        for entry in gone { add(-1, entry) }
        return gone.count
    }

    private func shard(of call: CallIdentifier) -> Shard { shards[Int(call.low % UInt64(shards.count))] }

    private func add(_ difference: Int, _ entry: Entry) {
        total.add(difference, ordering: .relaxed)
        entry.trunk?.add(difference)
        entry.route?.add(difference)
        entry.target?.addOpenCalls(difference)
    }
}

/// The two sides of a call: the mark of its trunk and the key of its PBX.
public struct CallParties: Hashable, Sendable {
    private let trunk: UInt16
    private let pbx: UInt64

    public init(trunk: UInt16, pbx: UInt64) {
        self.trunk = trunk
        self.pbx = pbx
    }

    func include(_ peer: GatewayTopology.Peer) -> Bool {
        switch peer {
        case .trunk(let trunk): self.trunk == trunk.mark
        case .pbx(let pbx): self.pbx == pbx.key
        }
    }
}

/// A final response above 299, and the causes in its Reason (RFC 3326).
public struct CallFailure: Hashable, Sendable {
    public let status: UInt16
    public var q850Cause: UInt16 = 0
    public var sipCause: UInt16 = 0
    /// A 180 came before it.
    public var rang = false
    /// A 180 or 183 came before it.
    public var alerted = false
    /// The caller's CANCEL came before it.
    public var isCancelled = false
    /// The gateway's own: a timeout, or no target.
    public var isOwn = false

    /// Orders the failures of a call's branches: the account of the call needs the end of the branch whose phone rang.
    ///
    /// A 183 of one branch would prove a display together with the end of another one.
    fileprivate var weight: Int {
        guard status != 0 else { return 0 }
        let ending = CallEnding(
            status: status, q850Cause: q850Cause, sipCause: sipCause, rang: rang, alerted: alerted)
        if ending.hasRung { return 4 }
        return alerted ? 3 : status == 482 ? 1 : 2
    }
}
