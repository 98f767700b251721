// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A clock that stands still until it is moved.
package final class ManualTime: Sendable {
    /// The time at first: 2026-01-01T00:00:00Z.
    package static let start: Int64 = 1_767_225_600

    private let now = Mutex(start)

    package init() {}

    /// Seconds since 1970.
    package var seconds: Int64 {
        get { now.withLock { $0 } }
        set { now.withLock { $0 = newValue } }
    }
}
