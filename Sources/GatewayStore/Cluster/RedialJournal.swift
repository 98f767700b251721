// SPDX-License-Identifier: Apache-2.0

import CallAccounting

/// Failed calls whose further attempts passed other gateways.
struct RedialJournal {
    /// True if the waiting calls differ from those of the last look.
    var isChanged = true

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
