// SPDX-License-Identifier: Apache-2.0

import CallAccounting

/// Updates of the ring that siblings got before they were applied: the call's own gateway may be waiting for them.
struct EarlyReports {
    /// The position in the ring up to which updates were looked at.
    var position: UInt64 = 0
    /// Calls that begin in waiting updates, which are own ones.
    private var begun: Set<CallIdentifier> = []
    private var reported: Set<CallUpdate> = []

    /// Whether an update may be of a call that another gateway has.
    mutating func isOfOther(_ update: CallUpdate) -> Bool {
        guard update.kind != .invite else {
            begun.insert(update.call)
            return false
        }
        return update.calls.allSatisfy { !begun.contains($0) }
    }

    mutating func report(_ update: CallUpdate) { reported.insert(update) }

    /// Whether an update that is applied now was reported.
    mutating func wasReported(_ update: CallUpdate) -> Bool {
        !reported.isEmpty && reported.remove(update) != nil
    }

    /// Forgets what was found up to a position, if all of it has been applied.
    mutating func applied(through applied: UInt64) {
        guard applied >= position, !begun.isEmpty || !reported.isEmpty else { return }
        (begun, reported) = ([], [])
    }
}
