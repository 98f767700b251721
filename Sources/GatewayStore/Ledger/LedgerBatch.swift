// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// The content of one transaction: the changes of some updates, and the ring position after them.
struct LedgerBatch {
    var calls: [LedgerCall] = []
    var events = EventRows()
    /// Outbound calls that reached the other side, which may be returns.
    var reachedOutbound: [LedgerCall] = []
    /// Calls whose INVITE has another time, mostly after a step of the clock.
    var retimed: [LedgerCall] = []
    /// Calls whose called parties have changed: more digits, another number that rings, another one that answered.
    var renumbered: [LedgerCall] = []
    /// Steps of the clock.
    var clocks: [LedgerClock] = []
    /// Callers of ended calls that were not in the index, each with the customer of the call.
    var unknownCallers: [(caller: E164Number, customer: String?)] = []
    /// Position in the ring up to which the batch has been read.
    var position: UInt64
    var updates = 0

    var isEmpty: Bool { updates == 0 && calls.isEmpty && clocks.isEmpty }
}
