// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Host
import Logging
import Synchronization

/// The calls of a recorder as far as they concern other gateways, beside its `LedgerJournal`.
///
/// It reports what passes here, applies what passed elsewhere, and moves calls. Its changes are stored in the transaction
/// of the batch, and wait with it. On the thread that has the journal.
final class ClusterJournal {
    private let exchange: RecorderCluster
    /// Whether other gateways get what passes here of their calls through a shared ledger.
    private(set) var isShared = false
    private var hasSiblings = false
    /// The last batch of siblings' updates that had arrived before the end of the ring was read.
    private var arrived: UInt64 = 0
    /// Applied updates for the siblings of the gateway.
    var reported: [ReportedUpdate] = []
    /// Updates that were reported to siblings before they were applied.
    private var early = EarlyReports()
    /// Updates of siblings.
    var foreign = ForeignJournal()
    /// Calls that have moved between gateways.
    var handover: HandoverJournal
    /// Calls whose further attempts other gateways have.
    var redials = RedialJournal()
    /// This part's changes, which the transaction of the batch stores.
    var batch = ClusterBatch()

    /// - Parameters:
    ///   - adopted: identifiers of the calls that were ever taken over.
    ///   - open: the calls in progress.
    init(_ exchange: RecorderCluster, adopted: Set<String> = [], open: [LedgerCall] = []) {
        self.exchange = exchange
        handover = HandoverJournal(adopted: adopted, open: open)
    }

    /// Begins a look at the ring or a transaction.
    func begin(arrived: UInt64, hasSiblings: Bool, isShared: Bool, adopts: Bool) {
        (self.arrived, self.hasSiblings, self.isShared) = (arrived, hasSiblings, isShared)
        if adopts, handover.kept == nil { handover.kept = KeptUpdates() }
    }

    /// Reports the waiting updates of calls that other gateways have, which need them before this ledger does.
    ///
    /// - Parameter read: passes the updates after a position, and returns the position reached.
    func look(_ journal: LedgerJournal, _ read: (UInt64, (CallUpdate) -> Void) -> UInt64) {
        defer { haveApplied(journal) }
        guard hasSiblings, !journal.isRefused, journal.clockSteps.isEmpty else { return }
        var found: [CallUpdate] = []
        early.position = read(max(early.position, journal.batch.position)) { update in
            if early.isOfOther(update), journal.call(of: update) == nil { found.append(update) }
        }
        for update in found {
            early.report(update)
            reported.append(ReportedUpdate(update: update, isOwn: false))
        }
    }

    /// Applies what has arrived before the ring is read.
    func willRead(into journal: inout LedgerJournal) {
        if let (batch, steps) = exchange.nextSteps() { apply(steps, of: batch, to: &journal) }
        foreign.append(exchange.updates(through: arrived))
    }

    /// Reports an update of the ring to the siblings; false for an update of a call that another gateway has.
    func take(_ update: CallUpdate, isOpen: Bool) -> Bool {
        let isOwn = isOpen || update.kind == .invite && !handover.isAway(update.call)
        if hasSiblings, isOwn || !early.wasReported(update) {
            reported.append(ReportedUpdate(update: update, isOwn: isOwn))
        }
        guard !isOwn else { return true }
        handover.kept?.append(ForeignUpdate(seenHere: update))
        if isShared { batch.signals.append(update) }
        return false
    }

    /// Hands the applied updates to the siblings.
    func haveApplied(_ journal: LedgerJournal) {
        early.applied(through: journal.batch.position)
        exchange.report(reported)
        reported = []
    }

    /// Applies the other updates of siblings once the ring has been read to its end, and corrects calls that have ended.
    ///
    /// - Parameter now: microseconds since 1970.
    /// - Returns: whether calls may end by their deadlines.
    func haveRead(_ journal: inout LedgerJournal, of recorder: OutcomeRecorder, now: Int64) throws -> Bool {
        applyForeign(through: arrived, now: now, to: &journal)
        try correctEnded(&journal, of: recorder, now: now)
        return exchange.mayAssumeEnds(now: SteadyClock.microseconds)
    }

    /// Forgets what a transaction has stored.
    func stored() {
        handover.moved.calls += batch.adopted.count
        handover.moved.events += batch.takenEvents.count
        batch = ClusterBatch()
    }

    /// Ends a transaction: the effect of everything that was applied is stored.
    func end(_ journal: LedgerJournal) {
        exchange.haveStored(foreign, handover, isShared ? awaitedRedials(journal) : [])
    }

    /// Shifts times by a step of the clock.
    func clockWasSet(_ step: ClockStep) {
        for call in handover.away.values {
            _ = call.machine.clockWasSet(by: step.microseconds, now: step.noticedAt)
        }
        for place in batch.signals.indices { batch.signals[place].wallMicroseconds &+= step.microseconds }
    }

    /// Moves to another ledger, which does not know which calls were taken over.
    func move(_ journal: inout LedgerJournal) {
        for place in batch.takenEvents.indices { batch.takenEvents[place].id = journal.newEvent() }
        let isNew = Set(batch.adopted.map(\.call.callID))
        batch.adopted += journal.open.values.filter { !isNew.contains($0.callID) }.compactMap { call in
            handover.origin(of: call).map { (call, $0) }
        }
        (batch.corrected, foreign.late) = ([], [])
    }

    /// Corrects calls that have ended by what other gateways have reported since.
    private func correctEnded(_ journal: inout LedgerJournal, of recorder: OutcomeRecorder, now: Int64) throws {
        let reports = foreign.lateReports(now: now)
        guard !reports.isEmpty else { return }
        do {
            let corrections = try recorder.database.ledger.read { try LateReports($0).corrections(by: reports) }
            foreign.lookedFor(reports, now: now)
            for (call, record) in corrections {
                let wasReached = call.machine.record.isReached
                call.machine = CallStateMachine(record)
                batch.corrected.append(call)
                if record.isReached, !wasReached { journal.reached(call) }
            }
            guard !corrections.isEmpty else { return }
            recorder.shared.withLock { $0.corrected += corrections.count }
            recorder.log.notice(
                "calls that had ended were corrected by messages that another gateway reported late",
                metadata: ["calls": "\(corrections.count)"])
        } catch {
            journal.refused()
            throw error
        }
    }
}

/// The content of one transaction that concerns other gateways, beside the `LedgerBatch`.
struct ClusterBatch {
    /// Ended calls that a late report has corrected.
    var corrected: [LedgerCall] = []
    /// Calls taken over from other gateways, with the gateway.
    var adopted: [(call: LedgerCall, gateway: String)] = []
    /// Events taken over from other gateways.
    var takenEvents: [(id: Int64, row: ForeignRow)] = []
    /// Updates of calls that other gateways have, for the shared ledger.
    var signals: [CallUpdate] = []

    var isEmpty: Bool { corrected.isEmpty && takenEvents.isEmpty && signals.isEmpty }
}
