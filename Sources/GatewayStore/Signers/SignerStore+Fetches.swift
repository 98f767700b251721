// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

extension SignerStore {
    /// An import by another process is under way, which goes first.
    package struct ImportRuns: Error {}

    /// Results that were stored.
    package struct StoredFetches: Equatable, Sendable {
        /// The generation after the change.
        package var generation: Int64
        /// Addresses whose chains the store had no space for.
        package var leftOut: [String] = []
    }

    /// Seconds for which results of calls wait for an announced import. A killed one ends nothing.
    static let importTime: Int64 = 600

    /// Lets results of calls wait until the import's `replace`, at most ten minutes.
    package func announceImport(at now: Int64) async throws {
        try await change {
            try $0.execute(sql: "UPDATE fetch_state SET import_until = ?", arguments: [now + Self.importTime])
        }
    }

    /// Ends the wait for an import that was given up.
    package func endImport() async throws {
        try await change { try $0.execute(sql: "UPDATE fetch_state SET import_until = 0") }
    }

    /// Stores results of fetches as one change.
    ///
    /// A chain replaces that of its address and keeps the row. A result without a chain leaves a stored one in use. An address
    /// that was removed meanwhile stays removed.
    /// - Parameters:
    ///   - generation: that of the contents by which the chains were decided.
    ///   - now: seconds since 1970.
    ///   - limit: the most signers.
    /// - Throws: `ImportRuns`; `Overtaken` after a change by another process; an error of the disk with its remedy.
    package func record(
        _ records: [FetchRecord], decidedAt generation: Int64, at now: Int64, limit: Int
    ) async throws -> StoredFetches {
        try await change { database in
            let until = try Int64.fetchOne(database, sql: "SELECT import_until FROM fetch_state") ?? 0
            guard until <= now || until > now + Self.importTime else { throw ImportRuns() }
            guard try Int64.fetchOne(database, sql: "SELECT generation FROM state") == generation else {
                throw Overtaken()
            }
            let rows = FetchRows(database)
            var stored = StoredFetches(generation: generation)
            var hasNewSigner = false
            for record in records {
                guard let signer = record.signer else {
                    try rows.record(record.fetch)
                    continue
                }
                guard try rows.replace(signer, record.fetch, limit: limit) else {
                    stored.leftOut.append(record.fetch.address)
                    continue
                }
                hasNewSigner = true
            }
            if hasNewSigner {
                try database.execute(sql: "UPDATE state SET generation = generation + 1")
                stored.generation += 1
            }
            return stored
        }
    }
}

/// Writes states of fetches as rows, inside a transaction of its user.
struct FetchRows {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Stores a chain and its state; false without space.
    func replace(_ signer: StoredSigner, _ fetch: StoredFetch, limit: Int) throws -> Bool {
        var signer = signer
        let row = try Int64.fetchOne(
            database, sql: "SELECT id FROM signer WHERE address = ?", arguments: [fetch.address])
        if row == nil {
            guard try exists("unknown_address", fetch.address) else { return true }
            let present = try Int.fetchOne(database, sql: "SELECT count(*) FROM signer") ?? 0
            guard present < limit else { return false }
        }
        signer.row = row ?? 0
        try SignerRows(database).insert([signer])
        try database.execute(sql: "DELETE FROM unknown_address WHERE address = ?", arguments: [fetch.address])
        try write(fetch)
        return true
    }

    /// Stores the state of an address that is a signer or unknown. One that is neither was removed meanwhile.
    func record(_ fetch: StoredFetch) throws {
        let former = try Row.fetchOne(
            database, sql: "SELECT cause, is_renewed, standings FROM fetch WHERE address = ?",
            arguments: [fetch.address])
        let isSigner = try exists("signer", fetch.address)
        guard try isSigner || exists("unknown_address", fetch.address) else { return }
        try write(fetch)
        let wasRenewed: Bool = former.map { $0["is_renewed"] } ?? false
        let cause: UInt8? = former.flatMap { $0["cause"] }
        let standings: Data = former.map { $0["standings"] } ?? Data()
        // The call path reads the cause of an address without a certificate, and the mark of a renewal.
        let isOther =
            isSigner
            ? wasRenewed != fetch.isRenewed : cause != fetch.cause || standings != Data(fetch.standings)
        if isOther { try Self.countChange(database) }
    }

    private func exists(_ table: String, _ address: String) throws -> Bool {
        try Int.fetchOne(database, sql: "SELECT 1 FROM \(table) WHERE address = ?", arguments: [address]) != nil
    }

    private func write(_ fetch: StoredFetch) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO fetch (address, cause, reason, attempts, next_at, fetched_at, expires_at, etag,
                    last_modified, is_renewed, standings)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                fetch.address, fetch.cause, fetch.reason, fetch.attempts, fetch.nextAt, fetch.fetchedAt,
                fetch.expiresAt,
                fetch.etag, fetch.lastModified, fetch.isRenewed, Data(fetch.standings),
            ])
    }

    /// Counts a change of addresses that the call path knows and that have no certificate.
    static func countChange(_ database: Database) throws {
        try database.execute(sql: "UPDATE fetch_state SET changes = changes + 1")
    }

    /// Removes addresses without a certificate whose fetches have failed, those with the most failures first.
    ///
    /// - Returns: the removed addresses.
    func evict(_ count: Int) throws -> [String] {
        guard count > 0 else { return [] }
        let addresses = try String.fetchAll(
            database,
            sql: """
                SELECT unknown_address.address FROM unknown_address JOIN fetch USING (address)
                WHERE fetch.cause IS NOT NULL ORDER BY fetch.attempts DESC, added_at LIMIT ?
                """, arguments: [count])
        for address in addresses {
            try database.execute(sql: "DELETE FROM unknown_address WHERE address = ?", arguments: [address])
            try database.execute(sql: "DELETE FROM fetch WHERE address = ?", arguments: [address])
        }
        if !addresses.isEmpty { try Self.countChange(database) }
        return addresses
    }

    /// Takes over an import: states of removed addresses leave, and others begin anew where rules have a part in them.
    ///
    /// - Parameter replaced: addresses whose certificates the import has brought, and no host.
    func takeOver(replaced: [String]) throws {
        for address in replaced {
            try database.execute(sql: "DELETE FROM fetch WHERE address = ?", arguments: [address])
        }
        try database.execute(
            sql: """
                DELETE FROM fetch WHERE address NOT IN (SELECT address FROM signer WHERE address IS NOT NULL)
                    AND address NOT IN (SELECT address FROM unknown_address);
                UPDATE fetch SET is_renewed = 0;
                UPDATE fetch SET cause = NULL, reason = '', attempts = 0, next_at = 0, standings = x''
                    WHERE length(standings) > 0;
                UPDATE fetch_state SET changes = changes + 1, import_until = 0;
                """)
    }
}
