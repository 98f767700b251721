// SPDX-License-Identifier: Apache-2.0

package import Branding
import Synchronization

/// Counts the requests for names by result, since the start of the gateway.
///
/// Any thread. The call path never takes its lock.
package final class NamesCounters: Sendable {
    /// The result of one request.
    package enum Result: Hashable, Sendable {
        case matched
        /// The caller has no brand.
        case unmatched(PassThroughReason)
        /// The client is not in `doors.names.allow`.
        case notAllowed
        /// The request is no request for a name.
        case invalid
        /// The connection was closed for want of a place.
        case crowded

        /// The result as the value of a label: `matched`, a reason, `not_allowed`, `invalid`, or `crowded`.
        package var label: String {
            switch self {
            case .matched: "matched"
            case .unmatched(let reason): reason.description
            case .notAllowed: "not_allowed"
            case .invalid: "invalid"
            case .crowded: "crowded"
            }
        }
    }

    private let counts = Mutex<[Result: UInt64]>([:])

    /// Creates counters at zero.
    package init() {}

    /// Counts a request.
    package func add(_ result: Result) { counts.withLock { $0[result, default: 0] += 1 } }

    /// The results that occurred, with `matched` in any case, in the order of their labels.
    package var all: [(label: String, count: UInt64)] {
        let counts = counts.withLock { $0 }.merging([.matched: 0]) { count, _ in count }
        return counts.map { (label: $0.key.label, count: $0.value) }.sorted { $0.label < $1.label }
    }
}
