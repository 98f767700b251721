// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// The content of one transaction: the changes of some updates, and the ring position after them.
struct LedgerBatch {
    var calls: [LedgerCall] = []
    var events: [(id: Int64, event: OutcomeEvent)] = []
    /// Outbound calls that reached the other side, which may be returns.
    var reachedOutbound: [LedgerCall] = []
    /// Calls whose INVITE has another time: after a step of the clock, or by the report of a sibling.
    var retimed: [LedgerCall] = []
    /// Calls whose called parties have changed: more digits, another number that rings, another one that answered.
    var renumbered: [LedgerCall] = []
    /// Ended calls that a late report has corrected.
    var corrected: [LedgerCall] = []
    /// Steps of the clock.
    var clocks: [LedgerClock] = []
    /// Calls taken over from other gateways, with the gateway.
    var adopted: [(call: LedgerCall, gateway: String)] = []
    /// Events taken over from other gateways.
    var takenEvents: [(id: Int64, row: ForeignRow)] = []
    /// Callers of ended calls that were not in the index.
    var unknownCallers: [E164Number] = []
    /// Updates of calls that other gateways have, for the shared ledger.
    var signals: [CallUpdate] = []
    /// Position in the ring up to which the batch has been read.
    var position: UInt64
    var updates = 0

    var isEmpty: Bool {
        updates == 0 && calls.isEmpty && corrected.isEmpty && clocks.isEmpty && takenEvents.isEmpty && signals.isEmpty
    }
}
