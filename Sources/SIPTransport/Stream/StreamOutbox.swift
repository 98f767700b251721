// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Synchronization

/// A queue from workers to the event loop of the streams.
///
/// Its lock is held only for an append or a swap.
final class StreamOutbox: Sendable {
    private let messages = Mutex<[OutgoingMessage]>([])

    /// Adds messages.
    ///
    /// True if the queue was empty, so that the caller must wake the event loop.
    func append(_ more: [OutgoingMessage]) -> Bool {
        messages.withLock { messages in
            messages += more
            return messages.count == more.count
        }
    }

    /// Removes and returns all messages.
    func drain() -> [OutgoingMessage] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
