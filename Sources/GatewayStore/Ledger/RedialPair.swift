// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// Customer, caller, destination and decision, which two attempts of one call have in common.
struct RedialPair: Hashable {
    let customer: String?
    let caller: E164Number
    let called: String
    let reason: PassThroughReason?

    /// Nil for calls without a certain pair: outbound, withheld, or with unknown destination. Nil for a rejected call, which
    /// no attempt continues.
    init?(_ record: CallRecord) {
        guard record.direction == .inbound, !record.isRejected, let caller = record.caller, !record.called.isEmpty
        else { return nil }
        (customer, self.caller, called, reason) = (record.customer, caller, record.called, record.reason)
    }
}
