// SPDX-License-Identifier: Apache-2.0

public import SIPCore
import Synchronization

/// A message or an event of the streams for a worker.
public enum StreamArrival: Sendable {
    /// A message. It may share its storage with others.
    case message(ArraySlice<UInt8>, Flow)
    /// A message with this token was not delivered.
    case sendFailed(token: DeliveryToken)

    /// Its size in an inbox.
    var bytes: Int { if case .message(let bytes, _) = self { bytes.count } else { 0 } }
}

/// The bounded queue from the event loop of the streams to one worker.
///
/// The first element wakes the worker. Either side holds its lock for an append or a swap only.
public final class StreamInbox: Sendable {
    private struct State {
        var arrivals: [StreamArrival] = []
        /// Bytes of these messages, and of taken ones that are not yet released.
        var bytes = 0
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void
    private let mostBytes: Int

    /// - Parameters:
    ///   - mostBytes: limit of waiting bytes. A connection whose messages do not fit is not read until they do.
    ///   - wake: wakes the worker; any thread.
    public init(mostBytes: Int = 16 << 20, wake: @escaping @Sendable () -> Void) {
        self.mostBytes = mostBytes
        self.wake = wake
    }

    /// Adds messages that arrived together, all or none. False if they do not fit.
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

    /// Adds the report of an undelivered message. Always accepted.
    func reportFailure(token: DeliveryToken) {
        guard token != .none else { return }
        let wasEmpty = state.withLock { state in
            state.arrivals.append(.sendFailed(token: token))
            return state.arrivals.count == 1
        }
        if wasEmpty { wake() }
    }

    /// Swaps the queue for an empty list, whose storage is reused.
    ///
    /// Called on the worker's thread. Its bytes count as waiting until `release`.
    public func exchange(for list: inout [StreamArrival]) {
        state.withLock { swap(&$0.arrivals, &list) }
    }

    /// Releases bytes that the worker has handled.
    public func release(_ bytes: Int) { state.withLock { $0.bytes -= bytes } }

    /// Bytes of waiting messages, taken or not.
    var waitingBytes: Int { state.withLock { $0.bytes } }
}
