// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts from zero, for scripts with a different response each time.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}
