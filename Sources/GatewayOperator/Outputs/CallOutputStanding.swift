// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts and the present problem of one output of ended calls; any thread.
final class CallOutputStanding: Sendable {
    private struct State {
        var sent: UInt64 = 0
        var failed: UInt64 = 0
        var problem: String?
    }

    private let state = Mutex(State())

    var sent: UInt64 { state.withLock { $0.sent } }
    var failed: UInt64 { state.withLock { $0.failed } }
    /// The reason why no call goes out; nil when the last attempt was good.
    var problem: String? { state.withLock { $0.problem } }

    /// Adds a round that ended without an error.
    func add(_ round: CallOutputRound) {
        state.withLock { state in
            state.sent += UInt64(round.sent)
            state.failed += UInt64(round.failed)
            if round.sent > 0 { state.problem = nil }
        }
    }

    /// Adds a round in which no call went out.
    func add(problem: String) {
        state.withLock { state in
            state.failed += 1
            state.problem = problem
        }
    }

    /// Forgets the problem, because the output has other settings or is gone.
    func settle() { state.withLock { $0.problem = nil } }
}
