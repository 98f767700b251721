// SPDX-License-Identifier: Apache-2.0

package import CallPath
import Synchronization

/// Counts the requests at the redirect door by result, since the start of the gateway.
///
/// Any thread. The call path never takes its lock.
package final class RedirectCounters: Sendable {
    private let counts = Mutex<[RedirectEvent: UInt64]>([:])

    /// Creates counters at zero.
    package init() {}

    /// Counts a datagram.
    package func add(_ event: RedirectEvent) { counts.withLock { $0[event, default: 0] += 1 } }

    /// Returns the count of a result.
    package func count(_ event: RedirectEvent) -> UInt64 { counts.withLock { $0[event] ?? 0 } }

    /// The results that occurred, in the order of their labels.
    package var all: [(label: String, count: UInt64)] {
        counts.withLock { $0 }.map { (label: $0.key.label, count: $0.value) }.sorted { $0.label < $1.label }
    }
}
