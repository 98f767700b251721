// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// One session and its Dispatch queue, which is its thread.
package final class PostgreSQLLane: Sendable {
    let queue = DispatchQueue(label: "herald.postgresql")
    let connections = Atomic<Int>(0)
    private let session: Mutex<PostgreSQLSession>

    /// Makes the session; it connects with its first statement.
    package init(_ address: PostgreSQLAddress, application: String, timeLimit: Duration) {
        session = Mutex(PostgreSQLSession(address, application: application, timeLimit: timeLimit))
    }

    /// Runs `body` on the session's thread, after earlier ones; does not wait.
    package func run(_ body: @escaping @Sendable (PostgreSQLSession) -> Void) {
        queue.async { [self] in _ = use(body) }
    }

    /// Runs `body` on the calling thread, one at a time.
    func use<Result: Sendable>(
        _ body: @Sendable (PostgreSQLSession) throws -> Result
    ) -> Swift.Result<Result, any Error> {
        session.withLock { session in
            // A server that was restarted has closed idle connections, and the next statement would fail.
            _ = session.isConnected()
            defer { connections.store(session.connections, ordering: .relaxed) }
            return Swift.Result { try body(session) }
        }
    }
}
