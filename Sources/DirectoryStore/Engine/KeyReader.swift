// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB

/// Reads keys on a connection of its own, on the calling thread.
///
/// Keys are not cached: a command beside the server may revoke a key, and the revocation must take effect at once. One
/// prepared statement over a primary key takes less time than the thread change of a pool reader, and writers do not
/// block it.
final class KeyReader: Sendable {
    private let connection: DatabaseQueue
    private let damage: DamageRecord

    init(path: String, _ damage: DamageRecord) throws {
        self.damage = damage
        var configuration = Configuration()
        configuration.qos = .default  // the package's own asks for a niceness below 0
        configuration.readonly = true
        connection = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Runs statements that are a transaction each.
    func read<Value>(_ work: (any SQLConnection) throws -> Value) throws -> Value {
        try damage.watching { try connection.unsafeRead { try work(SQLiteConnection($0)) } }
    }
}
