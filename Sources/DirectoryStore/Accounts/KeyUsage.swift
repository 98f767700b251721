// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Synchronization

/// When keys were last used, to the last five minutes: noted in memory while requests wait, written by `Housekeeping`.
///
/// Only good keys are noted, so its size is bounded by their number.
final class KeyUsage: Sendable {
    /// Seconds; finer times would say more of a subscriber's calls than of the key.
    static let resolution: Int64 = 300

    private struct State {
        var last: [Data: Int64] = [:]
        var unwritten: Set<Data> = []
    }

    private let state = Mutex(State())

    /// Notes that a key was used at `now`, in seconds since 1970.
    func note(_ hash: Data, now: Int64) {
        let time = now - now % Self.resolution
        state.withLock { state in
            if state.last[hash] == time { return }
            state.last[hash] = time
            state.unwritten.insert(hash)
        }
    }

    /// Writes what was noted since the last time.
    func write(to pool: DatabasePool) async throws {
        let noted = state.withLock { state in
            defer { state.unwritten = [] }
            return state.last.filter { state.unwritten.contains($0.key) }
        }
        if noted.isEmpty { return }
        try await pool.write { database in
            for table in ["api_key", "admin_key"] {
                let statement = try database.cachedStatement(
                    sql: "UPDATE \(table) SET last_used = max(coalesce(last_used, 0), ?) WHERE hash = ?")
                for (hash, time) in noted { try statement.execute(arguments: [time, hash]) }
            }
        }
    }
}
