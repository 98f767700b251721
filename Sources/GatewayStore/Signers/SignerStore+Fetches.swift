// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

extension SignerStore {
    /// An import is under way, which goes first.
    package struct ImportRuns: Error {}

    /// The effect of a result on the store.
    package enum FetchEffect: Equatable, Sendable {
        /// The chain is stored, and the state of its fetches.
        case replaced
        /// The state of the fetches is stored alone.
        case recorded
        /// The address was removed meanwhile, and stays removed.
        case gone
        /// The store has no space for the address or its chain.
        case full
        /// The state of the address has changed since the fetch began, such as by an import.
        case overtaken
    }

    /// The effects of results.
    package struct StoredFetches: Equatable, Sendable {
        /// The generation after the change.
        package var generation: Int64
        /// In the order of the results.
        package var effects: [FetchEffect] = []
    }

    /// Seconds for which results of calls wait for an announced import. A killed one ends nothing.
    static let importTime: Int64 = 600

    /// Lets results of calls wait until the `replace` of this value, at most ten minutes.
    ///
    /// Each value has a wait of its own: the end of one import is not the end of another one beside it.
    /// - Parameter now: the present time in seconds since 1970; a further announcement begins the ten minutes anew.
    package func announceImport(at now: Int64) async throws {
        let own = importID
        try await change { database in
            try database.execute(
                sql: "DELETE FROM import_wait WHERE id = ?1 OR until <= ?2 OR until > ?2 + ?3",
                arguments: [own, now, Self.importTime])
            try database.execute(
                sql: "INSERT INTO import_wait VALUES (?, ?)", arguments: [own, now + Self.importTime])
        }
    }

    /// Ends the wait for the import of this value, which was given up.
    package func endImport() async throws {
        let own = importID
        try await change { try Self.endImport(own, in: $0) }
    }

    static func endImport(_ id: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM import_wait WHERE id = ?", arguments: [id])
    }

    /// Whether an announced import is under way. An end beyond ten minutes is that of another clock.
    static func importRuns(in database: Database, at now: Int64) throws -> Bool {
        try Int.fetchOne(
            database, sql: "SELECT 1 FROM import_wait WHERE until > ?1 AND until <= ?1 + ?2",
            arguments: [now, importTime]) != nil
    }

    /// Stores results of fetches as one change.
    ///
    /// A chain replaces that of its address and keeps the row. A result without a chain leaves a stored one in use, and calls
    /// learn only causes and marks that have changed.
    /// - Parameters:
    ///   - generation: that of the contents by which the chains were decided.
    ///   - now: seconds since 1970.
    ///   - limit: the most signers.
    /// - Throws: `ImportRuns`; `Overtaken` after a change by another process; an error of the disk with its remedy.
    package func record(
        _ records: [FetchRecord], decidedAt generation: Int64, at now: Int64, limit: Int
    ) async throws -> StoredFetches {
        try await change { database in
            guard try !Self.importRuns(in: database, at: now) else { throw ImportRuns() }
            guard try Int64.fetchOne(database, sql: "SELECT generation FROM state") == generation else {
                throw Overtaken()
            }
            let rows = FetchRows(database)
            var stored = StoredFetches(generation: generation)
            for record in records { stored.effects.append(try rows.store(record, limit: limit)) }
            if stored.effects.contains(.replaced) {
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

    /// Stores a result whose fetch began with the present state of its address.
    ///
    /// - Parameter limit: the most signers and addresses together.
    func store(_ record: FetchRecord, limit: Int) throws -> SignerStore.FetchEffect {
        let address = record.fetch.address
        let known = try SignerReader.fetch(of: address, in: database)
        guard known == record.known else { return .overtaken }
        if known.chain == nil, try !isListed(address) {
            return try count("signer") + count("unknown_address") < limit ? .gone : .full
        }
        if let signer = record.signer {
            guard try known.chain != nil || count("signer") < limit else { return .full }
            try replace(signer, at: address)
        } else if isChange(record) {
            try Self.countChange(database)
        }
        try write(record.fetch)
        return record.signer == nil ? .recorded : .replaced
    }

    /// Stores a chain in the row of its address.
    private func replace(_ signer: StoredSigner, at address: String) throws {
        var signer = signer
        signer.row =
            try Int64.fetchOne(database, sql: "SELECT id FROM signer WHERE address = ?", arguments: [address]) ?? 0
        try SignerRows(database).insert([signer])
        try database.execute(sql: "DELETE FROM unknown_address WHERE address = ?", arguments: [address])
    }

    /// Whether the call path reads another state: the cause of an address without a certificate, or the mark of a renewal.
    private func isChange(_ record: FetchRecord) -> Bool {
        let (former, present) = (record.known.state, record.fetch)
        if record.known.chain != nil { return (former?.isRenewed ?? false) != present.isRenewed }
        return former?.cause != present.cause || (former?.standings ?? []) != present.standings
    }

    private func isListed(_ address: String) throws -> Bool {
        try Int.fetchOne(database, sql: "SELECT 1 FROM unknown_address WHERE address = ?", arguments: [address]) != nil
    }

    private func count(_ table: String) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
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
                UPDATE fetch_state SET changes = changes + 1;
                """)
    }
}
