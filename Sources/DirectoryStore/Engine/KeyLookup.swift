// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Looks up the keys of requests in PostgreSQL, all that arrive during one round trip with the next.
///
/// Keys are not cached: another node may revoke a key, and the revocation must take effect at once. Thread-safe.
final class KeyLookup: Sendable {
    private struct Waiting: Sendable {
        let hash: Data
        let now: Int64
        let continuation: CheckedContinuation<Caller?, any Error>
    }

    private struct State {
        var waiting: [Waiting] = []
        var isRunning = false
    }

    private let store: PostgreSQLStore
    private let state = Mutex(State())

    /// Most lookups of one statement.
    private static let most = 1_000

    init(_ store: PostgreSQLStore) { self.store = store }

    /// Finds the owner of a key by its hash; nil for an unknown, revoked or expired key.
    func caller(ofKey hash: Data, now: Int64) async throws -> Caller? {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting.append(Waiting(hash: hash, now: now, continuation: continuation))
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if isFirst { Task { await run() } }
        }
    }

    private func run() async {
        while let group = next() {
            do {
                let hashes = Array(Set(group.map(\.hash)))
                let found = try await store.readEach { try Self.callers(hashes, $0) }
                for waiting in group {
                    let known = found[waiting.hash]
                    let isValid = known.map { $0.expires ?? .max > waiting.now } ?? false
                    waiting.continuation.resume(returning: isValid ? known?.caller : nil)
                }
            } catch {
                for waiting in group { waiting.continuation.resume(throwing: error) }
            }
        }
    }

    /// Takes the lookups that wait; nil ends the round trips.
    private func next() -> [Waiting]? {
        state.withLock { state in
            let group = Array(state.waiting.prefix(Self.most))
            state.waiting.removeFirst(group.count)
            if group.isEmpty { state.isRunning = false }
            return group.isEmpty ? nil : group
        }
    }

    private static func callers(
        _ hashes: [Data], _ database: any SQLConnection
    ) throws -> [Data: (caller: Caller, expires: Int64?)] {
        let query = SQLListQuery([SQLColumn("hash", .bytes)], hashes.map { [.bytes($0)] }) { asked in
            """
            SELECT hash, account, kind, api_id, secret, expires FROM \(asked)
            JOIN api_key USING (hash) LEFT JOIN key_signing ON key_hash = hash WHERE revoked IS NULL
            """
        }
        let rows = try database.rows([query])[0]
        return rows.reduce(into: [:]) { callers, row in
            let hash: Data = row["hash"]
            callers[hash] = (Caller(row, hash: hash), row["expires"])
        }
    }
}
