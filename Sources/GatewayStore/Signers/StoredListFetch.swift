// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// The state of the fetches of one list: a row of `signers.sqlite`. Times are seconds since 1970.
package struct StoredListFetch: Equatable, Sendable {
    /// The address, as the configuration has it.
    package var address: String
    /// The SHA-256 of the list that the host has sent last and that was taken in; empty before the first one.
    package var digest: [UInt8] = []
    /// The reason of the last failure for the operator; empty after a success.
    package var reason = ""
    /// Failures in a row.
    package var attempts = 0
    /// The time of the next fetch.
    package var nextAt: Int64
    /// The time of the last successful fetch; nil before the first one.
    package var fetchedAt: Int64?
    /// The validators of the list with the digest.
    package var etag: String?
    package var lastModified: String?

    package init(address: String, nextAt: Int64 = 0) {
        self.address = address
        self.nextAt = nextAt
    }
}

extension SignerReader {
    /// States of fetches of lists by address.
    package func listFetches() async throws -> [String: StoredListFetch] {
        try await explained { try await database.read { try Self.listFetches(of: $0) } }
    }

    static func listFetches(of database: Database) throws -> [String: StoredListFetch] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT address, digest, reason, attempts, next_at, fetched_at, etag, last_modified FROM list_fetch
                """)
        let states = rows.map { row -> StoredListFetch in
            var state = StoredListFetch(address: row[0], nextAt: row[4])
            let digest: Data = row[1]
            state.digest = Array(digest)
            (state.reason, state.attempts) = (row[2], row[3])
            (state.fetchedAt, state.etag, state.lastModified) = (row[5], row[6], row[7])
            return state
        }
        return Dictionary(states.map { ($0.address, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

extension SignerStore {
    /// Stores the state of the fetches of a list.
    package func record(_ state: StoredListFetch) async throws {
        try await change { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO list_fetch VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    state.address, Data(state.digest), state.reason, state.attempts, state.nextAt, state.fetchedAt,
                    state.etag, state.lastModified,
                ])
        }
    }
}
