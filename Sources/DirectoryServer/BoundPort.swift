// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The port a server listens on, for whoever waits to know it.
final class BoundPort: Sendable {
    private struct State {
        var port: Int?
        var isOver = false
        var waiting: [CheckedContinuation<Int?, Never>] = []
    }

    private let state = Mutex(State())

    /// The port once it is known; nil before, and when the server ended without one.
    var current: Int? { state.withLock { $0.port } }

    /// Waits until the port is known, or the server has ended without one.
    func wait() async -> Int? {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if state.port == nil, !state.isOver {
                    state.waiting.append(continuation)
                    return false
                }
                return true
            }
            if isSettled { continuation.resume(returning: current) }
        }
    }

    /// Tells the port to all who wait and will ask.
    func announce(_ port: Int?) { settle { $0.port = port } }

    /// Lets nobody wait any longer.
    func end() { settle { $0.isOver = true } }

    private func settle(_ change: (inout State) -> Void) {
        let (port, waiting) = state.withLock { state in
            change(&state)
            defer { state.waiting = [] }
            return (state.port, state.waiting)
        }
        for continuation in waiting { continuation.resume(returning: port) }
    }
}
