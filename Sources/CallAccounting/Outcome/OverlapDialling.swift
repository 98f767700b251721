// SPDX-License-Identifier: Apache-2.0

import Branding

// Overlap dialling (RFC 3578 §3.1): an exchange with only the first digits sends an INVITE, and 484 asks for more
// digits (RFC 3261 §21.4.22). The INVITEs share Call-ID and From tag and are one call.

extension CallRecord {
    /// True if 484 has asked for more digits and the next INVITE of the call brings them.
    ///
    /// The next called user begins with the digits so far. An outbound call keeps only the number, and an incomplete
    /// number decides nothing.
    package func isIncomplete(before next: CallRecord) -> Bool {
        guard refusedAt != nil, status == 484 else { return false }
        if direction == .inbound, !subscriber.isEmpty, next.subscriber.hasPrefix(subscriber) { return true }
        guard let destination, let further = next.destination else { return direction == .outbound }
        return further.description.hasPrefix(destination.description)
    }
}
