// SPDX-License-Identifier: Apache-2.0

import CallAccounting

/// Sums over some calls: how many there were, reached a phone, were answered, and for how long people talked.
package struct CallSums: Hashable, Sendable {
    package var calls: Int64
    /// Of those, calls that the answered share is of: a phone alerted, or a person answered.
    ///
    /// Left out are calls that a queue or menu took, because no person is known, and those that ended at another phone.
    package var reached: Int64
    /// Of those, calls that a person answered.
    package var answered: Int64
    /// Of those, calls with a known duration.
    package var talks: Int64
    /// The seconds of these calls from 2xx to BYE.
    package var talkSeconds: Int64

    package init(
        calls: Int64 = 0, reached: Int64 = 0, answered: Int64 = 0, talks: Int64 = 0, talkSeconds: Int64 = 0
    ) {
        (self.calls, self.reached, self.answered) = (calls, reached, answered)
        (self.talks, self.talkSeconds) = (talks, talkSeconds)
    }

    /// The sums of one ended call.
    init(_ call: CallRecord) {
        self.init(calls: 1)
        // A 2xx of a machine without an alert before it shows that no person was reached.
        let isReached = call.reachedAt != nil && (call.answeredBy == nil || call.ringingAt != nil)
        guard isReached, call.answeredBy != .system, call.outcome?.isElsewhere != true else { return }
        reached = 1
        guard call.answeredAt != nil, call.answeredBy == nil else { return }
        answered = 1
        guard let seconds = call.callSeconds else { return }
        (talks, talkSeconds) = (1, Int64(seconds))
    }

    package static func += (sums: inout CallSums, more: CallSums) {
        sums.calls += more.calls
        sums.reached += more.reached
        sums.answered += more.answered
        sums.talks += more.talks
        sums.talkSeconds += more.talkSeconds
    }

    static func -= (sums: inout CallSums, less: CallSums) {
        sums += CallSums(
            calls: -less.calls, reached: -less.reached, answered: -less.answered, talks: -less.talks,
            talkSeconds: -less.talkSeconds)
    }
}

extension CallOutcome {
    /// Whether another phone of the same person ended the call.
    fileprivate var isElsewhere: Bool { self == .answeredElsewhere || self == .declinedElsewhere }
}
