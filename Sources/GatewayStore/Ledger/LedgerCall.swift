// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Primitives

/// An open call in memory, with its row in the ledger.
final class LedgerCall {
    /// Its row in the ledger; another row in another ledger.
    var row: Int64
    /// The call identifier as text, made once.
    let callID: String
    /// `@exclusivity(unchecked)`: a rule of the machine knows its own values alone, so no two accesses overlap.
    @exclusivity(unchecked) var machine: CallStateMachine
    var shownEvent: Int64?
    var endEvent: Int64?
    /// The clock of its end (`LedgerClock`); nil for the first clock and for an open call.
    var endClock: Int64?
    /// True once the row is in the database.
    var isStored: Bool
    /// True while it waits in the batch.
    var isInBatch = false
    /// Its place in the table of failed calls while it waits for the carrier's next attempt; nil otherwise.
    var redialPair: RedialPair?
    /// True for a call whose end another gateway has stored.
    var isClosedElsewhere = false
    /// The call as which another gateway goes on with this one after another attempt; nil otherwise.
    var continuedAs: CallIdentifier?
    /// Its deadline, and the timer that fires then or before (`CallDeadlines`); nil without a deadline.
    var deadline: Int64?
    var timer: (handle: TimerHandle, at: Int64)?

    /// Identities of the applied updates of other gateways, of which each comes twice.
    var applied: Set<Int> = []

    /// Its identifier in updates: that of the latest attempt.
    var name: CallIdentifier { machine.record.name }

    init(
        row: Int64, callID: String, record: CallRecord, isStored: Bool,
        _ limits: CallStateMachine.Limits = CallStateMachine.Limits()
    ) {
        self.row = row
        self.callID = callID
        machine = CallStateMachine(
            record, awaitsRedial: limits.redial > 0, hasSiblings: limits.siblingReport > 0)
        self.isStored = isStored
    }
}
