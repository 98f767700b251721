// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts of unchanged responses that are not written yet, by account and day; thread-safe.
///
/// Most polls change nothing, so a commit for each would be most of the database's work. A program that is killed loses
/// the counts of up to a minute.
final class UnchangedResponses: Sendable {
    private struct Place: Hashable {
        let account: AccountID
        let day: String
    }

    private let counts = Mutex<[Place: Int]>([:])

    /// Counts a response on a day such as `2026-01-31`.
    func record(_ account: AccountID, day: String) {
        counts.withLock { $0[Place(account: account, day: day), default: 0] += 1 }
    }

    /// Writes the counts since the last call; keeps them after a failure.
    func write(to pool: any SQLPool) throws {
        let taken = take()
        if taken.isEmpty { return }
        do {
            try pool.write(.locked) { try Self.add(taken, $0) }
        } catch {
            putBack(taken)
            throw error
        }
    }

    /// Writes the counts on a thread that may wait.
    func write(to pool: any SQLPool) async throws {
        let taken = take()
        if taken.isEmpty { return }
        do {
            try await pool.write(.locked) { try Self.add(taken, $0) }
        } catch {
            putBack(taken)
            throw error
        }
    }

    private func take() -> [Place: Int] {
        counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
    }

    private func putBack(_ taken: [Place: Int]) { counts.withLock { $0.merge(taken, uniquingKeysWith: +) } }

    private static func add(_ counts: [Place: Int], _ database: any SQLConnection) throws {
        // In one order, so that nodes do not wait for each other in a circle.
        for (place, count) in counts.sorted(by: { ($0.key.account.row, $0.key.day) < ($1.key.account.row, $1.key.day) })
        {
            try database.execute(
                """
                INSERT INTO sync_delivery (account, day, delivered, entries, unchanged) VALUES (?, ?, 0, 0, ?)
                ON CONFLICT (account, day) DO UPDATE SET unchanged = sync_delivery.unchanged + excluded.unchanged
                """, [place.account.row, place.day, count])
        }
    }
}
