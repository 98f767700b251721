// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
package import SIPCore
import Synchronization

/// The calls that have begun and not ended, for limits per trunk, for draining, and by target.
///
/// A call may come by several branches: forked upstream, or a copy by another path (RFC 3261 §8.2.2.2). The call
/// has failed when its last branch has.
///
/// Kept in shards, each under a lock held for some stores. A call takes about 60 bytes. Calls above the capacity are not
/// counted, so that memory does not grow. A restart begins at 0, also with calls in progress. Any thread.
package final class CallsInProgress: Sendable {
    private struct Entry {
        /// Nil for calls that count for no trunk.
        let trunk: TrunkCalls?
        /// Nil for calls without a route that has limits.
        let route: TrunkCalls?
        let parties: CallParties?
        /// The target it was sent to; nil before the first one.
        var target: TargetState?
        /// Monotonic seconds.
        let began: UInt32
        /// INVITEs of it that have no final response yet.
        var branches: UInt16 = 1
        var isAnswered = false
        /// A response of its target passed a sibling gateway.
        var hasRespondedElsewhere = false
        /// Why a branch failed while others were alive; status 0 for none.
        var failure = CallFailure(status: 0)
    }

    private final class Shard: Sendable {
        let calls = Mutex<[CallIdentifier: Entry]>([:])
    }

    private let shards = (0..<64).map { _ in Shard() }
    private let total = Atomic<Int>(0)
    /// Messages of calls that passed sibling gateways, until a worker takes their reports.
    private let reports = Mutex<[(call: CallIdentifier, report: SiblingReport)]>([])
    /// Calls whose rejection passed a sibling gateway, and whose INVITE may still wait for a response here.
    private let rejectedElsewhere = Mutex<Set<CallIdentifier>>([])
    private static let mostRejected = 65_536
    private let capacity: Int

    /// Makes an empty table for at most `capacity` calls.
    package init(capacity: Int = 1_000_000) { self.capacity = capacity }

    /// Calls in progress.
    package var count: Int { total.load(ordering: .relaxed) }

    /// Counts a call that begins at a monotonic time in milliseconds; one that is known already has a branch more.
    ///
    /// - Parameter parties: between whom the call is; nil where everybody may end it.
    package func begin(
        _ call: CallIdentifier, on trunk: TrunkCalls?, _ route: TrunkCalls? = nil,
        between parties: CallParties? = nil, at milliseconds: UInt64
    ) {
        guard count < capacity else { return }
        let entry = Entry(
            trunk: trunk, route: route, parties: parties, began: UInt32(truncatingIfNeeded: milliseconds / 1000))
        let isNew = shard(of: call).calls.withLock { calls in
            guard let branches = calls[call]?.branches else {
                calls[call] = entry
                return true
            }
            calls[call]?.branches = branches == .max ? branches : branches + 1
            return false
        }
        if isNew { add(1, entry) }
    }

    /// Counts a call for the target it is sent to, and no more for the one before.
    ///
    /// A call above the capacity counts as sent, and never as in progress.
    package func send(_ call: CallIdentifier, to target: TargetState) {
        let (isKnown, former): (Bool, TargetState?) = shard(of: call).calls.withLock { calls in
            guard let place = calls.index(forKey: call) else { return (false, nil) }
            let former = calls.values[place].target
            calls.values[place].target = target
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
    package func answered(_ call: CallIdentifier) {
        shard(of: call).calls.withLock { $0[call]?.isAnswered = true }
    }

    /// Records that a branch of a call has failed.
    ///
    /// - Returns: the reason why the call has failed, if this was its last branch; nil while it goes on. A merged request
    ///   (482) is the reason only if no other branch has a reason.
    package func failed(_ call: CallIdentifier, _ failure: CallFailure) -> CallFailure? {
        let (result, ended): (CallFailure?, Entry?) = shard(of: call).calls.withLock { calls in
            guard var entry = calls[call] else { return (failure, nil) }
            guard !entry.isAnswered else { return (nil, nil) }
            entry.branches -= 1
            if failure.status != 482 || entry.failure.status == 0 { entry.failure = failure }
            calls[call] = entry.branches == 0 ? nil : entry
            return entry.branches == 0 ? (entry.failure, entry) : (nil, nil)
        }
        if let ended { add(-1, ended) }
        return result
    }

    /// Counts a call that has ended; one that is not known means nothing.
    package func end(_ call: CallIdentifier) {
        if let entry = shard(of: call).calls.withLock({ $0.removeValue(forKey: call) }) { add(-1, entry) }
    }

    /// Ends the call a BYE names, or the other one it may name when its direction is not known.
    package func end(either call: CallIdentifier, or other: CallIdentifier?) {
        end(call)
        if let other { end(other) }
    }

    /// A message of a call that passed a sibling gateway.
    package enum SiblingReport: Sendable {
        /// A 18x or 2xx.
        case responded
        /// A final response above 299.
        case rejected
        /// A BYE.
        case ended
    }

    /// Leaves reports for the next worker that looks; any thread but a worker's.
    package func leave(_ reported: [(call: CallIdentifier, report: SiblingReport)]) {
        reports.withLock { $0 += reported }
    }

    /// Takes the reports that were left; a worker never waits for the thread that leaves them.
    func takeReports() {
        let taken = reports.withLockIfAvailable { reports in
            defer { reports = [] }
            return reports
        }
        for (call, report) in taken ?? [] {
            switch report {
            case .responded: shard(of: call).calls.withLock { $0[call]?.hasRespondedElsewhere = true }
            case .rejected: rejected(call)
            case .ended: end(call)
            }
        }
    }

    private func rejected(_ call: CallIdentifier) {
        guard let entry = shard(of: call).calls.withLock({ $0.removeValue(forKey: call) }) else { return }
        add(-1, entry)
        rejectedElsewhere.withLock { calls in
            if calls.count >= Self.mostRejected { calls = [] }
            calls.insert(call)
        }
    }

    /// Whether a response to the call's INVITE passed a sibling gateway, as far as this one knows.
    ///
    /// A phone rings or has been answered, or the call is over: the silence of the target here means nothing.
    func isCarriedElsewhere(_ call: CallIdentifier) -> Bool {
        takeReports()
        if shard(of: call).calls.withLock({ $0[call]?.hasRespondedElsewhere ?? false }) { return true }
        return rejectedElsewhere.withLock { $0.remove(call) != nil }
    }

    /// Ends the calls of one shard that began before a time: their BYE never came.
    ///
    /// - Parameter turn: a number that grows by one each time. It selects the shard; 64 calls of this function cover all.
    /// - Returns: how many were ended.
    @discardableResult
    package func expire(round: Int, startedBefore milliseconds: UInt64) -> Int {
        let limit = UInt32(truncatingIfNeeded: milliseconds / 1000)
        let shard = shards[abs(round) % shards.count]
        let gone = shard.calls.withLock { calls in
            let gone = calls.filter { $0.value.began < limit }
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
package struct CallParties: Hashable, Sendable {
    private let trunk: UInt16
    private let pbx: UInt64

    package init(trunk: UInt16, pbx: UInt64) {
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
package struct CallFailure: Hashable, Sendable {
    package let status: UInt16
    package var q850Cause: UInt16 = 0
    package var sipCause: UInt16 = 0

    package init(status: UInt16, q850Cause: UInt16 = 0, sipCause: UInt16 = 0) {
        self.status = status
        self.q850Cause = q850Cause
        self.sipCause = sipCause
    }
}
