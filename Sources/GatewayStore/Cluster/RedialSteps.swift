// SPDX-License-Identifier: Apache-2.0

import CallAccounting

/// Failed calls whose further attempts passed other gateways.
struct RedialJournal {
    /// Calls that go on elsewhere by their latest attempt, with what was known of attempts before them.
    private var left: [CallIdentifier: (next: CallIdentifier, earlier: [CallIdentifier])] = [:]
    /// Most of them in memory: some minutes of a carrier whose every call fails.
    private static let most = 4_096

    mutating func leave(_ record: CallRecord, as next: CallIdentifier) {
        if left.count >= Self.most { left = [:] }
        left[record.name] = (next, record.earlierAttempts)
    }

    /// The report of an attempt before a call that has gone on elsewhere, for the call that it has become; nil if it is
    /// known there, and for any other update.
    func passedOn(_ update: CallUpdate) -> CallUpdate? {
        guard update.kind == .triedBefore, case .earlierAttempt(let earlier) = update.counterpart,
            let call = left[update.call], !call.earlier.contains(earlier)
        else { return nil }
        var update = update
        update.call = call.next
        return update
    }
}

extension ClusterJournal {
    /// The failed calls that wait for another attempt.
    func awaitedRedials(_ journal: LedgerJournal) -> [AwaitedRedial] {
        journal.failed.values.compactMap { AwaitedRedial($0.machine.record, window: journal.limits.redial) }
    }

    /// Applies what the shared ledger shows for a call that waits for another attempt.
    ///
    /// It changes nothing if the call has gone on meanwhile.
    func applyRedial(_ step: Handover, to journal: inout LedgerJournal) {
        switch step {
        case .tryElsewhere(let name, as: let next):
            if let call = journal.waiting(name) { leave(call, as: next, &journal) }
        case .endWithoutRedial(let name):
            if let call = journal.waiting(name) { journal.mark(call.machine.endsWithoutRedial(), of: call) }
        case .adopt, .lend, .close, .send: break
        }
    }

    /// Closes a call that goes on as another one, and reports its attempts to that one.
    private func leave(_ call: LedgerCall, as next: AwaitedRedial.Next, _ journal: inout LedgerJournal) {
        let attempts = call.machine.record.attempts
        call.continuedAs = next.call
        journal.close(call) { $0.endsWithoutRedial() }
        handover.ended(call)
        let record = call.machine.record
        handover.moved.redials += 1
        redials.leave(record, as: next.attempt)
        report(
            CallUpdate(
                kind: .triedBefore, direction: .inbound, call: next.attempt, counterpart: .earlierAttempt(record.call),
                wallMicroseconds: max(0, record.inviteAt), status: UInt16(clamping: attempts)), &journal)
    }

    /// Passes a report on an earlier attempt to the gateway that has the call now; false for any other update.
    func passOn(_ update: CallUpdate, _ journal: inout LedgerJournal) -> Bool {
        guard let update = redials.passedOn(update) else { return false }
        report(update, &journal)
        return true
    }
}

extension LedgerJournal {
    fileprivate func waiting(_ name: AwaitedRedial.Name) -> LedgerCall? {
        guard let call = open[name.attempt], call.machine.isOpenToRedial,
            call.machine.record.refusedAt == name.refusedAt
        else { return nil }
        return call
    }
}
