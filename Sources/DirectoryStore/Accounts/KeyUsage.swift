// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// The times at which keys were last used, rounded down to five minutes.
///
/// Requests record them in memory; a background task writes them. Only valid keys are recorded, so their number bounds
/// the size.
final class KeyUsage: Sendable {
    /// Seconds; finer times would reveal a subscriber's calls.
    static let resolution: Int64 = 300

    private struct State {
        var last: [Data: Int64] = [:]
        var unwritten: Set<Data> = []
    }

    private let state = Mutex(State())

    /// Records the use of a key at `now`, in seconds since 1970.
    func record(_ hash: Data, now: Int64) {
        let time = now - now % Self.resolution
        state.withLock { state in
            if state.last[hash] == time { return }
            state.last[hash] = time
            state.unwritten.insert(hash)
        }
    }

    /// Writes the times recorded since the last call.
    func write(to pool: any SQLPool) async throws {
        let recorded = state.withLock { state in
            defer { state.unwritten = [] }
            return state.last.filter { state.unwritten.contains($0.key) }
        }
        if recorded.isEmpty { return }
        try await pool.write(.locked) { database in
            for table in ["api_key", "admin_key"] {
                let statement =
                    "UPDATE \(table) SET last_used = CASE WHEN last_used > ?1 THEN last_used ELSE ?1 END WHERE hash = ?2"
                for (hash, time) in recorded.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                    try database.execute(statement, [time, hash])
                }
            }
        }
    }
}
