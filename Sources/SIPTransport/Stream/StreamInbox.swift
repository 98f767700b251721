// SPDX-License-Identifier: Apache-2.0

package import SIPCore
import Synchronization

/// What streams hand to a worker.
package enum StreamArrival: Sendable {
    /// A message, which may share its room with others.
    case message(ArraySlice<UInt8>, Flow)
    /// A message sent with this token was not delivered.
    case sendFailed(token: DeliveryToken)

    /// What it counts for in an inbox.
    var bytes: Int { if case .message(let bytes, _) = self { bytes.count } else { 0 } }
}

/// The queue from the threads of streams to one worker, bounded; the worker is woken when it is no longer empty.
///
/// Its lock is held for an append or a swap, by either side.
package final class StreamInbox: Sendable {
    private struct State {
        var arrivals: [StreamArrival] = []
        /// Of these, and of those the worker has taken and is not done with.
        var bytes = 0
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void
    private let mostBytes: Int

    /// - Parameters:
    ///   - mostBytes: what may wait; a connection whose messages do not fit is not read until they do.
    ///   - wake: wakes the worker; any thread.
    package init(mostBytes: Int = 16 << 20, wake: @escaping @Sendable () -> Void) {
        self.mostBytes = mostBytes
        self.wake = wake
    }

    /// Adds messages that came together, all or none; false when there is no room for them now.
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

    /// Adds the news of a message that was not delivered; always taken.
    func reportFailure(token: DeliveryToken) {
        guard token != .none else { return }
        let wasEmpty = state.withLock { state in
            state.arrivals.append(.sendFailed(token: token))
            return state.arrivals.count == 1
        }
        if wasEmpty { wake() }
    }

    /// Gives everything for an empty list, whose room is used for the next; the worker's thread.
    ///
    /// It counts as waiting until it is released.
    package func exchange(for list: inout [StreamArrival]) {
        state.withLock { swap(&$0.arrivals, &list) }
    }

    /// Hears that the worker is done with so many bytes of what it took.
    package func release(_ bytes: Int) { state.withLock { $0.bytes -= bytes } }

    /// Bytes of messages that wait, taken or not.
    var waitingBytes: Int { state.withLock { $0.bytes } }
}
