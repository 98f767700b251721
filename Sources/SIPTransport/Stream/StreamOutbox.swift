// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Synchronization

/// The queue from workers to the event loop of streams; its lock is held for an append or a swap.
final class StreamOutbox: Sendable {
    private let messages = Mutex<[OutgoingMessage]>([])

    /// Adds messages; true when there were none, so that the event loop must be told.
    func append(_ more: [OutgoingMessage]) -> Bool {
        messages.withLock { messages in
            messages += more
            return messages.count == more.count
        }
    }

    /// Takes everything.
    func drain() -> [OutgoingMessage] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
