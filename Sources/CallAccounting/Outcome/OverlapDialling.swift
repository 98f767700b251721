// SPDX-License-Identifier: Apache-2.0

import Branding

// Overlap dialling: an exchange that has only the first digits sends an INVITE for each few, with one Call-ID and From tag,
// and 484 asks for more (RFC 3578 §3.1, RFC 3261 §21.4.22). All of it is one call.

extension CallRecord {
    /// True where 484 has asked for more digits and the next INVITE of the call brings them.
    ///
    /// The next called user begins with the digits so far. A called number that is no number yet says nothing either way; an
    /// outbound call keeps no other form of it.
    package func isIncomplete(before next: CallRecord) -> Bool {
        guard refusedAt != nil, status == 484 else { return false }
        if direction == .inbound, !subscriber.isEmpty, next.subscriber.hasPrefix(subscriber) { return true }
        guard let destination, let further = next.destination else { return direction == .outbound }
        return further.description.hasPrefix(destination.description)
    }
}
