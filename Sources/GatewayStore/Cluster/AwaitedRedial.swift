// SPDX-License-Identifier: Apache-2.0

import Branding
package import CallAccounting

/// A call that failed before any phone rang, and waits for the carrier's next attempt at any gateway.
package struct AwaitedRedial: Hashable, Sendable {
    /// Names the call and the failure that it waits after.
    ///
    /// A later failure is another wait, so what was found for an earlier one changes nothing.
    package struct Name: Hashable, Sendable {
        /// The identifier of the latest attempt.
        package let attempt: CallIdentifier
        /// Time of the failure, microseconds since 1970.
        package let refusedAt: Int64

        package init(attempt: CallIdentifier, refusedAt: Int64) {
            (self.attempt, self.refusedAt) = (attempt, refusedAt)
        }
    }

    /// The call as which it goes on.
    package struct Next: Hashable, Sendable {
        package let call: CallIdentifier
        /// The identifier of its latest attempt.
        package let attempt: CallIdentifier

        package init(call: CallIdentifier, attempt: CallIdentifier) { (self.call, self.attempt) = (call, attempt) }
    }

    package let name: Name
    package let callID: String
    /// The caller's digits.
    package let caller: UInt64
    /// Digits of the called number, else the called PBX user.
    package let called: String
    package let customer: String?
    /// `matched`, or the reason for a call without a brand.
    package let decision: String
    /// Time of the INVITE of the latest attempt, microseconds since 1970.
    package let beganAt: Int64
    /// End of the time in which an INVITE of the same pair is another attempt.
    package let until: Int64

    /// Nil for a call that does not wait, or without a certain pair of numbers.
    ///
    /// - Parameter window: microseconds after the failure in which another attempt continues the call.
    package init?(_ record: CallRecord, window: Int64) {
        guard record.direction == .inbound, let caller = record.caller, !record.called.isEmpty,
            let refusedAt = record.refusedAt
        else { return nil }
        name = Name(attempt: record.name, refusedAt: refusedAt)
        callID = record.call.description
        self.caller = caller.digits
        called = record.destination.map { "\($0.digits)" } ?? record.subscriber
        (customer, decision) = (record.customer, record.decision)
        beganAt = record.attemptAt ?? record.inviteAt
        until = refusedAt &+ window
    }
}
