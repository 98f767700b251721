// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Synchronization

/// Counts the progress of each event loop that serves connections, for a watchdog.
///
/// A task on each loop counts once a second. A loop that no longer turns stops its count. Any thread.
package final class EventLoopProgress: Sendable {
    private let counts: [Count]

    private final class Count: Sendable {
        let value = Atomic<UInt64>(1)
    }

    /// Starts to count.
    package init() {
        let counts = MultiThreadedEventLoopGroup.singleton.makeIterator().map { loop in
            let count = Count()
            loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { [weak count] task in
                guard let count else { return task.cancel() }
                count.value.wrappingAdd(1, ordering: .relaxed)
            }
            return count
        }
        self.counts = counts
    }

    /// The count of each loop.
    package var values: [UInt64?] { counts.map { $0.value.load(ordering: .relaxed) } }
}
