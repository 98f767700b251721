// SPDX-License-Identifier: Apache-2.0

import CallAccounting

extension LedgerJournal {
    /// Applies what the shared ledger shows for a call that waits for another attempt.
    ///
    /// It changes nothing if the call has gone on meanwhile.
    mutating func applyRedial(_ step: Handover) {
        switch step {
        case .tryElsewhere(let name, as: let next):
            if let call = waiting(name) { leave(call, as: next) }
        case .endWithoutRedial(let name):
            if let call = waiting(name) { mark(call.machine.endsWithoutRedial(), of: call) }
        case .adopt, .lend, .close, .send: break
        }
    }

    private func waiting(_ name: AwaitedRedial.Name) -> LedgerCall? {
        guard let call = open[name.attempt], call.machine.isOpenToRedial,
            call.machine.record.refusedAt == name.refusedAt
        else { return nil }
        return call
    }

    /// Closes a call that goes on as another one, and reports its attempts to that one.
    private mutating func leave(_ call: LedgerCall, as next: AwaitedRedial.Next) {
        let attempts = call.machine.record.attempts
        call.continuedAs = next.call
        close(call) { $0.endsWithoutRedial() }
        handover.ended(call)
        let record = call.machine.record
        handover.leftForRedial()
        redials.leave(record, as: next.attempt)
        report(
            CallUpdate(
                kind: .triedBefore, direction: .inbound, call: next.attempt, counterpart: .earlierAttempt(record.call),
                wallMicroseconds: max(0, record.inviteAt), status: UInt16(clamping: attempts)))
    }

    /// Passes a report on an earlier attempt to the gateway that has the call now; false for any other update.
    mutating func passOn(_ update: CallUpdate) -> Bool {
        guard let update = redials.passedOn(update) else { return false }
        report(update)
        return true
    }
}
