// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the reports of calls by result, since the start of the gateway. Any thread.
package final class OutcomeCounters: Sendable {
    /// The result of one report.
    package enum Result: String, CaseIterable, Sendable {
        /// Stored, and a phone showed the name.
        case shown
        /// Stored, with a name that no phone is known to have shown.
        case matched
        /// Stored without a brand.
        case unbranded
        /// Repeated, or of a call that is stored.
        case known
        /// A record of FreeSWITCH that is no call of the trunk.
        case ignored
        /// The client is not in `doors.outcomes.allow`.
        case notAllowed = "not_allowed"
        case invalid
        /// Above the rate of its client.
        case limited
        /// Not stored in time; the client repeats it.
        case notStored = "not_stored"
        /// The connection was closed for want of a place.
        case crowded
    }

    private let counts = Mutex<[Result: UInt64]>([:])

    package init() {}

    package func add(_ result: Result) { counts.withLock { $0[result, default: 0] += 1 } }

    /// The results that occurred, in the order of their labels.
    package var all: [(label: String, count: UInt64)] {
        counts.withLock { $0 }.map { (label: $0.key.rawValue, count: $0.value) }.sorted { $0.label < $1.label }
    }
}
