// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Synchronization

/// The queue from workers to the event loop of streams; its lock is held for an append or a swap.
final class StreamOutbox: Sendable {
    private let messages = Mutex<[OutgoingMessage]>([])

    /// Adds a message; true when it is the first, so that the event loop must be told.
    func append(_ message: OutgoingMessage) -> Bool {
        messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
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
