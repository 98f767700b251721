// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Host
import Synchronization

/// A bounded number of sessions for the requests of a server program.
///
/// Each session has a Dispatch queue, which is its thread. `run` suspends its task and blocks no thread of Swift's pool.
/// Requests above the number of sessions wait in the order of arrival; above `mostWaiting` they are refused.
package final class PostgreSQLPool: Sendable {
    /// Sessions and requests of the pool, for metrics.
    package struct Load: Sendable, Hashable {
        package var sessions = 0
        package var inUse = 0
        package var waiting = 0
        /// Connections made since start.
        package var connections = 0
        /// Requests refused because too many waited.
        package var refused = 0
        /// Requests that waited for a session since start.
        package var waited = 0
    }

    private struct State {
        var free: [Int]
        var waiters: [@Sendable (Int) -> Void] = []
        var refused = 0
        var waited = 0
    }

    package let address: PostgreSQLAddress
    private let lanes: [PostgreSQLLane]
    private let mostWaiting: Int
    private let state: Mutex<State>

    /// Makes the pool; sessions connect with their first statements.
    ///
    /// - Parameters:
    ///   - sessions: the largest number of connections, at least 1.
    ///   - mostWaiting: requests that wait for a session before further ones are refused.
    package init(
        _ address: PostgreSQLAddress, sessions: Int = 8, mostWaiting: Int = 1_000, application: String = "herald",
        timeLimit: Duration = .seconds(30)
    ) {
        self.address = address
        self.mostWaiting = mostWaiting
        lanes = (0..<max(sessions, 1)).map { _ in
            PostgreSQLLane(address, application: application, timeLimit: timeLimit)
        }
        // The last one used is the next one used, so that few connections serve a quiet server.
        state = Mutex(State(free: Array((0..<max(sessions, 1)).reversed())))
    }

    /// Runs `body` with a session on the session's thread.
    ///
    /// - Throws: an error of `body`, or `PostgreSQLError` with the cause `busy`.
    package func run<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSession) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { done in
            let isTaken = acquire { lane in
                self.lanes[lane].queue.async {
                    let result = self.lanes[lane].use(body)
                    self.release(lane)
                    done.resume(with: result)
                }
            }
            if !isTaken { done.resume(throwing: refusal) }
        }
    }

    /// Runs `body` with a session on the calling thread, which must not be one of Swift's task pool.
    ///
    /// - Throws: an error of `body`, or `PostgreSQLError` with the cause `busy`.
    package func runBlocking<Result: Sendable>(
        _ body: @Sendable (PostgreSQLSession) throws -> Result
    ) throws -> Result {
        let waiter = PoolWaiter()
        guard acquire({ waiter.give($0) }) else { throw refusal }
        let lane = waiter.wait()
        defer { release(lane) }
        return try lanes[lane].use(body).get()
    }

    /// The present load.
    package var load: Load {
        let connections = lanes.reduce(0) { $0 + $1.connections.load(ordering: .relaxed) }
        return state.withLock { state in
            Load(
                sessions: lanes.count, inUse: lanes.count - state.free.count, waiting: state.waiters.count,
                connections: connections, refused: state.refused, waited: state.waited)
        }
    }

    private var refusal: PostgreSQLError {
        PostgreSQLError(.busy, "\(mostWaiting) requests wait for a session", server: address.description)
    }

    /// Passes a free session to `use` now or later; false if too many wait.
    private func acquire(_ use: @escaping @Sendable (Int) -> Void) -> Bool {
        enum Step { case use(Int), waits, refused }
        let step: Step = state.withLock { state in
            if let lane = state.free.popLast() { return .use(lane) }
            guard state.waiters.count < mostWaiting else {
                state.refused += 1
                return .refused
            }
            state.waiters.append(use)
            state.waited += 1
            return .waits
        }
        if case .use(let lane) = step { use(lane) }
        if case .refused = step { return false }
        return true
    }

    private func release(_ lane: Int) {
        let next: (@Sendable (Int) -> Void)? = state.withLock { state in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.free.append(lane)
            return nil
        }
        next?(lane)
    }
}

/// A thread that waits for a session.
private final class PoolWaiter: Sendable {
    private let lane = Mutex<Int?>(nil)
    private let bell = SteadyBell()

    func give(_ lane: Int) {
        self.lane.withLock { $0 = lane }
        bell.ring()
    }

    func wait() -> Int {
        while true {
            if let lane = lane.withLock({ $0 }) { return lane }
            _ = bell.wait(.seconds(1))
        }
    }
}
