// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Synchronization

/// The queue from the workers to the event loop of the streams. Its lock is held for an append or a swap only.
final class StreamOutbox: Sendable {
    private let messages = Mutex<[OutgoingMessage]>([])

    /// Adds messages. True if the queue was empty, so that the event loop must be woken.
    func append(_ more: [OutgoingMessage]) -> Bool {
        messages.withLock { messages in
            messages += more
            return messages.count == more.count
        }
    }

    /// Takes all messages.
    func drain() -> [OutgoingMessage] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
