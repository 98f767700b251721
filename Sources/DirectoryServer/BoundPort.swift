// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The port of a listening server, for callers that wait for it.
final class BoundPort: Sendable {
    private struct State {
        var port: Int?
        var isOver = false
        var waiting: [CheckedContinuation<Int?, Never>] = []
    }

    private let state = Mutex(State())

    /// The port; nil before the server listens, and after it ended without one.
    var current: Int? { state.withLock { $0.port } }

    /// Waits until the server listens or has ended.
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

    /// Sets the port and resumes all waiting callers.
    func announce(_ port: Int?) { settle { $0.port = port } }

    /// Resumes all waiting callers after the end of the server.
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
