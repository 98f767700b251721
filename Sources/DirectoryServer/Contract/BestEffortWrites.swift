// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// Best-effort writes: the response is sent even if such a write fails, and the log reports the loss.
///
/// The log gets at most one line a minute, because clients poll often and a full disk refuses each of their writes.
/// Thread-safe.
final class BestEffortWrites: Sendable {
    /// Seconds between two log lines.
    static let pause: Int64 = 60

    private struct State {
        var lost = 0
        /// Seconds since 1970.
        var lastLine: Int64?
    }

    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())
    private let counters: ServerCounters

    /// - Parameter now: seconds since 1970.
    init(counters: ServerCounters = ServerCounters(), logger: Logger, now: @escaping @Sendable () -> Int64) {
        self.counters = counters
        self.logger = logger
        self.now = now
    }

    /// Runs a write; nil after a failure.
    ///
    /// - Parameter what: the name of the write in the log.
    @discardableResult
    func attempt<Value: Sendable>(_ what: String, _ write: @Sendable () async throws -> Value) async -> Value? {
        do {
            return try await write()
        } catch {
            counters.addLostWrite()
            if let lost = countLoss() {
                logger.error(
                    "write failed; the response was sent without it",
                    metadata: ["lost": "\(what)", "since_last_line": "\(lost)", "error": "\(error)"])
            }
            return nil
        }
    }

    /// Counts a lost write; returns the count since the last log line when a line is due.
    private func countLoss() -> Int? {
        let now = now()
        return state.withLock { state in
            state.lost += 1
            // A clock that was set back also makes a line due.
            if let lastLine = state.lastLine, lastLine <= now, now < lastLine + Self.pause { return nil }
            defer { state = State(lastLine: now) }
            return state.lost
        }
    }
}
