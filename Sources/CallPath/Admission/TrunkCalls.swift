// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The number of calls of one trunk in progress; the same object after a reload. Any thread.
public final class TrunkCalls: Sendable {
    private let value = Atomic<Int>(0)

    public init() {}

    public var count: Int { value.load(ordering: .relaxed) }

    /// Changes the number by `difference`.
    func add(_ difference: Int) { value.add(difference, ordering: .relaxed) }
}
