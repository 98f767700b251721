// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// Writes without which an answer goes out all the same: one that fails is lost, and the log says so.
///
/// At most once a minute: clients poll often, and a full disk refuses each of their writes. Any thread.
final class LostWrites: Sendable {
    /// Seconds between two lines in the log.
    static let pause: Int64 = 60

    private struct State {
        var lost = 0
        /// Seconds since 1970.
        var told: Int64?
    }

    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameter now: seconds since 1970.
    init(logger: Logger, now: @escaping @Sendable () -> Int64) {
        self.logger = logger
        self.now = now
    }

    /// Writes; nil when that failed.
    ///
    /// - Parameter what: what is lost then, in the words of the log.
    @discardableResult
    func attempt<Value: Sendable>(_ what: String, _ write: @Sendable () async throws -> Value) async -> Value? {
        do {
            return try await write()
        } catch {
            if let lost = note() {
                logger.error(
                    "what belongs to answers could not be stored, and they went out without it",
                    metadata: ["lost": "\(what)", "since_last_line": "\(lost)", "error": "\(error)"])
            }
            return nil
        }
    }

    /// How many were lost since the log was told, when it is to be told again.
    private func note() -> Int? {
        let now = now()
        return state.withLock { state in
            state.lost += 1
            // Also when the clock was set back.
            if let told = state.told, told <= now, now < told + Self.pause { return nil }
            defer { state = State(told: now) }
            return state.lost
        }
    }
}
