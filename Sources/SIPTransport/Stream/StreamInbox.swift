// SPDX-License-Identifier: Apache-2.0

package import SIPCore
import Synchronization

/// An event from a stream for a worker.
package enum StreamArrival: Sendable {
    /// A message.
    ///
    /// Its bytes may share a buffer with other messages.
    case message(ArraySlice<UInt8>, Flow)
    /// A message with this token was not delivered.
    case sendFailed(token: DeliveryToken)

    /// Its size for the limit of an inbox.
    var bytes: Int { if case .message(let bytes, _) = self { bytes.count } else { 0 } }
}

/// A bounded queue from stream threads to one worker.
///
/// Wakes the worker when it becomes non-empty.
///
/// Its lock is held only for an append or a swap.
package final class StreamInbox: Sendable {
    private struct State {
        var arrivals: [StreamArrival] = []
        /// Bytes of queued messages, and of messages that the worker has taken and not yet handled.
        var bytes = 0
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void
    private let mostBytes: Int

    /// - Parameters:
    ///   - mostBytes: limit of queued bytes. A connection whose messages do not fit is not read until they do.
    ///   - wake: wakes the worker; called on any thread.
    package init(mostBytes: Int = 16 << 20, wake: @escaping @Sendable () -> Void) {
        self.mostBytes = mostBytes
        self.wake = wake
    }

    /// Adds all messages of a read, or none.
    ///
    /// False if the queue has no capacity for them.
    func offer(_ messages: [StreamArrival]) -> Bool {
        let bytes = messages.reduce(0) { $0 + $1.bytes }
        let taken: (isTaken: Bool, wasEmpty: Bool) = state.withLock { state in
            guard state.bytes == 0 || state.bytes + bytes <= mostBytes else { return (false, false) }
            let wasEmpty = state.arrivals.isEmpty
            state.arrivals += messages
            state.bytes += bytes
            return (true, wasEmpty)
        }
        if taken.wasEmpty { wake() }
        return taken.isTaken
    }

    /// Adds a failed delivery.
    ///
    /// Ignores the limit.
    func reportFailure(token: DeliveryToken) {
        guard token != .none else { return }
        let wasEmpty = state.withLock { state in
            state.arrivals.append(.sendFailed(token: token))
            return state.arrivals.count == 1
        }
        if wasEmpty { wake() }
    }

    /// Swaps the queue with an empty list, which keeps its capacity; for the worker thread only.
    ///
    /// The bytes count as queued until `release`.
    package func exchange(for list: inout [StreamArrival]) {
        state.withLock { swap(&$0.arrivals, &list) }
    }

    /// Releases bytes of messages that the worker has handled.
    package func release(_ bytes: Int) { state.withLock { $0.bytes -= bytes } }

    /// Bytes of queued messages and of messages not yet handled.
    var waitingBytes: Int { state.withLock { $0.bytes } }
}
