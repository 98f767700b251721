// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB

/// Reads keys on a connection of its own, on the thread that asks.
///
/// Keys are not cached: a key may be revoked by a command beside the server, and must stop at once. One prepared statement
/// over a primary key takes less time than the change of threads that a reader of the pool costs, and no writer makes
/// it wait.
final class KeyReader: Sendable {
    private let connection: DatabaseQueue

    init(path: String) throws {
        var configuration = Configuration()
        configuration.qos = .default  // the package's own asks for a niceness below 0
        configuration.readonly = true
        connection = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Reads with statements that are each a transaction of their own.
    func read<Value>(_ work: (Database) throws -> Value) throws -> Value { try connection.unsafeRead(work) }
}
