// SPDX-License-Identifier: Apache-2.0

import CallAccounting

/// Updates of siblings between their arrival and the end of the drain that applies them.
struct ForeignJournal {
    /// Waiting updates, the latest first; of one time, the last to arrive first.
    private(set) var waiting: [ForeignUpdate] = []
    /// Updates whose call was not open at their time; the INVITE may have a later time by another clock.
    private(set) var early: [ForeignUpdate] = []
    /// Their calls: most are of other gateways, and the begin of a call costs one look.
    private var earlyCalls: Set<CallIdentifier> = []
    /// Reports that may correct calls that have ended.
    var late: [LateReport] = []
    /// Time of the last search for their calls; microseconds since 1970.
    private var searchedAt = Int64.min
    /// A report that took longer, in microseconds, may be of a call that ended before `EndedCalls` begins.
    static let usualDelay: Int64 = 10_000_000
    /// Least time between two searches, and the number of reports that does not wait for it.
    private static let searchPause: Int64 = 10_000_000
    private static let mostUnsearched = 50_000
    /// The last batch that was applied, and its updates that belonged to an open call.
    var batch: UInt64 = 0
    var applied = 0

    mutating func append(_ updates: [ForeignUpdate]) {
        guard !updates.isEmpty else { return }
        // Messages of one look at the socket have one time, so their order is that of their arrival. The sort is stable.
        waiting = (updates.reversed() + waiting).sorted { $0.update.wallMicroseconds > $1.update.wallMicroseconds }
    }

    /// Takes the next update with a time up to `time`.
    mutating func next(before time: Int64) -> ForeignUpdate? {
        guard let last = waiting.last, last.update.wallMicroseconds <= time else { return nil }
        return waiting.removeLast()
    }

    mutating func keep(_ update: ForeignUpdate) {
        early.append(update)
        earlyCalls.insert(update.update.call)
    }

    /// Takes the early updates of a call that begins.
    mutating func takeEarly(of call: CallIdentifier) -> [ForeignUpdate] {
        guard earlyCalls.remove(call) != nil else { return [] }
        let found = early.filter { $0.update.call == call }
        early.removeAll { $0.update.call == call }
        return found
    }

    /// The late reports whose calls are looked for now: those with a row, and at most every ten seconds the others.
    ///
    /// A gateway that is behind for long would cause a search of the ledger each second.
    func lateReports(now: Int64) -> [LateReport] {
        let isDue = !(0..<Self.searchPause).contains(now &- searchedAt) || late.count >= Self.mostUnsearched
        return isDue ? late : late.filter { $0.row != nil }
    }

    /// Drops late reports that were looked for.
    mutating func lookedFor(_ reports: [LateReport], now: Int64) {
        if reports.contains(where: { $0.row == nil }) { searchedAt = now }
        late = reports.count == late.count ? [] : late.filter { $0.row == nil }
    }

    /// Takes everything that is left, the earliest first.
    mutating func rest() -> [ForeignUpdate] {
        defer { (waiting, early, earlyCalls) = ([], [], []) }
        return early + waiting.reversed()
    }
}

extension ClusterJournal {
    /// Applies the waiting early updates of a call that begins.
    ///
    /// An INVITE that waited in a socket is later than the call that a sibling has carried meanwhile.
    func began(_ name: CallIdentifier, in journal: inout LedgerJournal) {
        for report in foreign.takeEarly(of: name) { applyForeign(report, to: &journal) }
    }

    /// Applies updates of siblings up to a time, so that updates of one call keep their order across gateways.
    func applyForeign(before time: Int64, to journal: inout LedgerJournal) {
        while let update = foreign.next(before: time) {
            if !applyForeign(update, to: &journal) { foreign.keep(update) }
        }
    }

    /// Applies all waiting updates of siblings once the ring has been read.
    ///
    /// - Parameter now: microseconds since 1970.
    func applyForeign(through batch: UInt64, now: Int64, to journal: inout LedgerJournal) {
        for report in foreign.rest() where !applyForeign(report, to: &journal) {
            handover.kept?.append(report)
            keepLate(report.update, of: journal, now: now)
        }
        foreign.batch = batch
    }

    /// Keeps a 18x or 2xx of a call that has ended, or that is old enough to be of one.
    ///
    /// Most updates without an open call are of other gateways' calls in progress. They arrive within seconds.
    private func keepLate(_ update: CallUpdate, of journal: LedgerJournal, now: Int64) {
        guard update.kind == .provisional || update.kind == .answered else { return }
        for call in update.calls {
            let row = journal.ended.row(of: call)
            guard row != nil || now - update.wallMicroseconds >= ForeignJournal.usualDelay else { continue }
            var report = update
            report.call = call
            foreign.late.append(LateReport(update: report, row: row))
        }
    }

    /// Applies an update that a sibling has seen, to a call that is open here; false for any other call.
    ///
    /// The INVITE of a call that a sibling placed is in that sibling's ledger. A BYE that was read before the 2xx of a sibling
    /// arrived looked like a CANCEL, so the 2xx ends the call at its time.
    @discardableResult
    func applyForeign(_ report: ForeignUpdate, to journal: inout LedgerJournal) -> Bool {
        let update = report.update
        guard let call = journal.call(of: update) else { return passOn(update, &journal) }
        guard call.applied.insert(report.identity).inserted else { return true }
        foreign.applied += 1
        let beganAt = call.machine.record.inviteAt
        journal.mark(call.machine.receive(foreign: update), of: call)
        if call.machine.record.inviteAt != beganAt { journal.batch.retimed.append(call) }
        let record = call.machine.record
        if update.kind == .answered, record.endedAt == nil, let endedAt = record.cancelledAt,
            let answeredAt = record.answeredAt, answeredAt < endedAt
        {
            var end = update
            (end.kind, end.counterpart, end.wallMicroseconds) = (.bye, .none, endedAt)
            journal.mark(call.machine.receive(end), of: call)
        }
        return true
    }
}
