// SPDX-License-Identifier: Apache-2.0

import Glibc

extension PostgreSQLSession {
    /// How a transaction sees the work of others.
    package enum Isolation: String, Sendable {
        /// Each statement sees what was committed before it.
        case readCommitted = "BEGIN"
        /// All statements see one state; a conflicting change of it is retried.
        case repeatableRead = "BEGIN ISOLATION LEVEL REPEATABLE READ"
        case serializable = "BEGIN ISOLATION LEVEL SERIALIZABLE"
        /// One state, and no writes.
        case readOnly = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    }

    /// Attempts of a transaction before its error is thrown.
    package static let mostAttempts = 8

    /// Runs `body` as one transaction, again after a conflict (40001, 40P01) or a connection lost before the commit.
    ///
    /// `body` may run several times, so it must have no effects outside of the database. The begin goes with the first
    /// statement. A transaction inside of another is part of it.
    /// - Throws: the last error. `isOutcomeUnknown` is true if the connection was lost during the commit.
    package func transaction<Result>(
        _ isolation: Isolation = .readCommitted, attempts: Int = mostAttempts,
        _ body: (PostgreSQLSession) throws -> Result
    ) throws -> Result {
        guard !isInTransaction else { return try body(self) }
        var attempt = 1
        while true {
            do {
                return try attemptTransaction(isolation, body)
            } catch let error as PostgreSQLError where error.isRetryable && attempt < attempts {
                Self.pause(before: attempt)
                attempt += 1
            }
        }
    }

    /// Runs statements of which each is a transaction of its own, all of them again after a lost connection.
    ///
    /// `body` only reads, so that it can run several times.
    /// - Throws: the last error.
    package func repeating<Result>(
        attempts: Int = mostAttempts, _ body: (PostgreSQLSession) throws -> Result
    ) throws -> Result {
        var attempt = 1
        while true {
            do {
                return try body(self)
            } catch var error as PostgreSQLError {
                // A statement that only reads has no outcome.
                error.isOutcomeUnknown = false
                guard error.isRetryable, !isInTransaction, attempt < attempts else { throw error }
                Self.pause(before: attempt)
                attempt += 1
            }
        }
    }

    /// Runs commands as one transaction in one round trip, again after a conflict.
    ///
    /// - Throws: the last error. `isOutcomeUnknown` is true if the connection was lost meanwhile.
    package func atomically(
        _ commands: [PostgreSQLCommand], attempts: Int = mostAttempts
    ) throws(PostgreSQLError) -> [PostgreSQLRows] {
        var attempt = 1
        while true {
            do throws(PostgreSQLError) {
                return try run(commands)
            } catch {
                guard error.isRetryable, !isInTransaction, attempt < attempts else { throw error }
                Self.pause(before: attempt)
                attempt += 1
            }
        }
    }

    private func attemptTransaction<Result>(
        _ isolation: Isolation, _ body: (PostgreSQLSession) throws -> Result
    ) throws -> Result {
        isInTransaction = true
        pendingBegin = isolation.rawValue
        defer { isInTransaction = false }
        let result: Result
        do {
            result = try body(self)
        } catch {
            rollBack()
            throw error
        }
        // Without a statement there is nothing to commit.
        guard pendingBegin == nil else {
            pendingBegin = nil
            return result
        }
        // From here on a loss leaves the outcome unknown.
        isInTransaction = false
        try execute("COMMIT")
        return result
    }

    private func rollBack() {
        guard pendingBegin == nil else {
            pendingBegin = nil
            return
        }
        // A session that cannot roll back ends, and the server rolls back.
        if isConnected(), (try? execute("ROLLBACK")) == nil { close() }
    }

    /// Waits for up to 2, 4, 8 … 256 ms, so that transactions in conflict part.
    private static func pause(before attempt: Int) {
        usleep(UInt32.random(in: 0...(1_000 << min(attempt, 8))))
    }
}
