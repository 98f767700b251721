// SPDX-License-Identifier: Apache-2.0

package import SIPCore
import Synchronization

/// What streams hand to a worker.
package enum StreamArrival: Sendable {
    case message([UInt8], Flow)
    /// A message sent with this token was not delivered.
    case sendFailed(token: DeliveryToken)
}

/// The queue from the threads of streams to one worker, bounded; the worker is woken when it is no longer empty.
///
/// Its lock is held for an append or a swap, by either side.
package final class StreamInbox: Sendable {
    private struct State {
        var arrivals: [StreamArrival] = []
        var bytes = 0
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void
    private let mostBytes: Int

    /// - Parameters:
    ///   - mostBytes: what may wait; a connection whose message does not fit is not read until it does.
    ///   - wake: wakes the worker; any thread.
    package init(mostBytes: Int = 16 << 20, wake: @escaping @Sendable () -> Void) {
        self.mostBytes = mostBytes
        self.wake = wake
    }

    /// Adds a message; false when there is no room for it now.
    func offer(_ bytes: [UInt8], _ flow: Flow) -> Bool {
        let taken: (isTaken: Bool, wasEmpty: Bool) = state.withLock { state in
            guard state.bytes + bytes.count <= mostBytes || state.arrivals.isEmpty else { return (false, false) }
            state.arrivals.append(.message(bytes, flow))
            state.bytes += bytes.count
            return (true, state.arrivals.count == 1)
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

    /// Takes everything; the worker's thread.
    package func drain() -> [StreamArrival] {
        state.withLock { state in
            defer { state = State() }
            return state.arrivals
        }
    }
}
