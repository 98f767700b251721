// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GRDB
package import Trust

/// Reads the stored signers, with or without a running gateway.
///
/// Opens the file read-only. Safe from any thread.
package struct SignerReader: Sendable {
    private let database: any DatabaseReader
    private let path: String

    /// Opens the signers in a gateway's state folder.
    ///
    /// - Throws: `HeraldDatabaseError` without signers, or for those of an older or newer program.
    package init(folder: String) throws(HeraldDatabaseError) {
        path = HeraldDatabase.signersPath(in: folder)
        database = try HeraldDatabase.signersReader(folder: folder)
    }

    /// Everything in the file but temporary chains.
    ///
    /// - Throws: `HeraldDatabaseError` with path, cause and remedy, as each function here.
    package func contents() throws(HeraldDatabaseError) -> StoredTrust { try read { try Self.contents(of: $0) } }

    /// Chains that calls have brought and that are no signers, the newest first.
    ///
    /// Without certificates, and with the negative of their rows as in the snapshot.
    package func temporaryChains() throws(HeraldDatabaseError) -> [StoredSigner] {
        try read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT -id, NULL, chain, NULL, NULL, key, authority, constraints, not_before, not_after, standings,
                        subject, 0
                    FROM temporary_chain ORDER BY id DESC
                    """)
            return rows.map { row in
                var chain = Self.signer(row, [:])
                chain.certificates = []
                return chain
            }
        }
    }

    /// Rules, certificates of authorities and lists: everything that a decision on one chain needs.
    package func authorities() async throws -> StoredTrust {
        try await explained { try await database.read { try Self.authorities(of: $0) } }
    }

    /// Times of the imports of the revocation lists, by which another set of lists is recognised without reading it.
    package func revocationImports() async throws -> [Int64] {
        try await explained {
            try await database.read {
                try Int64.fetchAll($0, sql: "SELECT imported_at FROM revocation_list ORDER BY signer")
            }
        }
    }

    /// Addresses without a certificate.
    package func unknownAddresses() async throws -> [String] {
        try await explained {
            try await database.read { try String.fetchAll($0, sql: "SELECT address FROM unknown_address") }
        }
    }

    /// Addresses whose last fetch failed, with the time before which nothing is fetched.
    package func pauses() async throws -> [(address: String, until: Int64)] {
        try await explained {
            try await database.read { database in
                try Row.fetchAll(database, sql: "SELECT address, next_at FROM fetch WHERE cause IS NOT NULL").map {
                    (address: $0[0], until: $0[1])
                }
            }
        }
    }

    /// Certificates whose refresh is due and that count under some of these regimes, the oldest ones first.
    ///
    /// An ended certificate is left out, and one that no regime accepts: a call that names its address has it fetched.
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - regimes: the names of the regimes that fetch.
    package func dueRefreshes(at now: Int64, limit: Int, under regimes: [String]) async throws -> [DueRefresh] {
        try await explained { try await database.read { try Self.due($0, now, limit, regimes) } }
    }

    private static func due(
        _ database: Database, _ now: Int64, _ limit: Int, _ regimes: [String]
    ) throws -> [DueRefresh] {
        let state = try Row.fetchOne(database, sql: "SELECT regimes FROM state")
        let names = state.flatMap { DecidedRules(stored: bytes($0, 0)) }?.names ?? []
        let positions = names.indices.filter { regimes.contains(names[$0]) }
        guard !positions.isEmpty else { return [] }
        let counts = positions.map { "substr(signer.standings, \($0 + 1), 1) = ?3" }.joined(separator: " OR ")
        let passed = TrustCause.passed.rawValue
        return try Row.fetchAll(
            database,
            sql: """
                SELECT address, signer.standings FROM fetch JOIN signer USING (address)
                WHERE next_at <= ?1 AND not_after >= ?1 AND (\(counts)) ORDER BY next_at LIMIT ?2
                """, arguments: [now, limit, Data([passed])]
        ).map { row in
            let standings = bytes(row, 1)
            let accepting = positions.filter { standings.indices.contains($0) && standings[$0] == passed }
            return DueRefresh(address: row[0], regimes: accepting.map { names[$0] })
        }
    }

    /// The state of the fetches of an address, and the chain that is stored for it.
    package func fetch(of address: String) async throws -> KnownFetch {
        try await explained { try await database.read { try Self.fetch(of: address, in: $0) } }
    }

    static func fetch(of address: String, in database: Database) throws -> KnownFetch {
        let state = try Row.fetchOne(database, sql: fetchColumns + "WHERE address = ?", arguments: [address])
        let chain = try Row.fetchOne(
            database, sql: "SELECT chain, not_before, not_after, standings FROM signer WHERE address = ?",
            arguments: [address])
        return KnownFetch(
            state: state.map(Self.state),
            chain: chain.map { row in
                let (first, last): (Int64, Int64) = (row[1], row[2])
                return KnownFetch.Chain(
                    digest: bytes(row, 0), validity: first...max(first, last), standings: bytes(row, 3))
            })
    }

    /// Counts and times.
    package func figures() throws(HeraldDatabaseError) -> SignerFigures { try read { try Self.figures(of: $0) } }

    /// The signers as the call path reads them, from the decided columns alone: no certificate is parsed.
    ///
    /// `regimeSet` of the snapshot is that of the stored rules; 0 for rules without names.
    package func snapshot() throws(HeraldDatabaseError) -> TrustSnapshot { try present().signers }

    /// The figures and the signers of one moment.
    package func present() throws(HeraldDatabaseError) -> (figures: SignerFigures, signers: TrustSnapshot) {
        try read { database in
            let figures = try Self.figures(of: database)
            return (figures, try Self.snapshot(of: database, figures))
        }
    }

    /// A number that differs from that of an earlier call if another connection has changed the file in between.
    package func version() async throws -> Int64 {
        try await explained {
            try await database.read { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
        }
    }

    /// The figures, and the signers if they are others than those of `known`.
    ///
    /// - Parameter mayWait: whether signers stay as they are if calls alone have brought others.
    /// - Throws: `HeraldDatabaseError` with path, cause and remedy.
    package func changes(
        since known: SignerFigures?, mayWait: Bool = false
    ) async throws -> (figures: SignerFigures, signers: TrustSnapshot?) {
        try await explained {
            try await database.read { database -> (figures: SignerFigures, signers: TrustSnapshot?) in
                let figures = try Self.figures(of: database)
                if let known, figures.hasSignersOf(known) || mayWait && figures.generation == known.generation {
                    return (figures, nil)
                }
                return (figures, try Self.snapshot(of: database, figures))
            }
        }
    }

    private func explained<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let error as DatabaseError {
            throw HeraldDatabaseError(reading: error, path: path)
        }
    }

    private func read<Value>(_ work: (Database) throws -> Value) throws(HeraldDatabaseError) -> Value {
        do {
            return try database.read(work)
        } catch {
            throw HeraldDatabaseError(reading: error, path: path)
        }
    }

    // MARK: Lists

    /// States of fetches of lists by address.
    package func listFetches() async throws -> [String: StoredListFetch] {
        try await explained { try await database.read { try Self.listFetches(of: $0) } }
    }

    private static func listFetches(of database: Database) throws -> [String: StoredListFetch] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT address, digest, reason, attempts, next_at, fetched_at, etag, last_modified FROM list_fetch
                """)
        let states = rows.map { row -> StoredListFetch in
            var state = StoredListFetch(address: row[0], nextAt: row[4])
            state.digest = bytes(row, 1)
            (state.reason, state.attempts) = (row[2], row[3])
            (state.fetchedAt, state.etag, state.lastModified) = (row[5], row[6], row[7])
            return state
        }
        return Dictionary(states.map { ($0.address, $0) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Snapshot

    private static func figures(of database: Database) throws -> SignerFigures {
        let state = try Row.fetchOne(database, sql: "SELECT generation, regimes, decided_at FROM state")
        func count(_ table: String) throws -> Int {
            try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
        }
        let added = try Int64.fetchOne(
            database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'temporary_chain'")
        let changes = try Int64.fetchOne(database, sql: "SELECT changes FROM fetch_state")
        let lists = try Row.fetchAll(database, sql: "SELECT regime, expires FROM authority_list ORDER BY regime")
        return SignerFigures(
            generation: state?["generation"] ?? 0, temporaryAdded: added ?? 0,
            fetchChanges: changes ?? 0,
            regimes: state.map { bytes($0, 1) } ?? [], decidedAt: state?["decided_at"] ?? 0,
            signers: try count("signer"), unknown: try count("unknown_address"),
            lists: lists.map { SignerFigures.ListEnd(regime: $0[0], expires: $0[1]) })
    }

    private static func snapshot(of database: Database, _ figures: SignerFigures) throws -> TrustSnapshot {
        var signers = SignerList(capacity: figures.signers)
        let rules = DecidedRules(stored: figures.regimes)
        // In the order of the rows: those of temporary chains are negative, so none is that of a signer.
        try add(
            to: &signers, database,
            """
            SELECT -id, NULL, chain, key, authority, constraints, not_before, not_after, standings, subject
            FROM temporary_chain ORDER BY id DESC
            """)
        try addUnfetched(to: &signers, database, rules?.names.count ?? 0)
        try add(
            to: &signers, database,
            """
            SELECT id, address, chain, key, authority, constraints, not_before, not_after, standings, subject
            FROM signer ORDER BY id
            """)
        return TrustSnapshot(
            generation: figures.snapshotGeneration, regimeSet: rules?.regimeSet ?? 0, signers)
    }

    /// Adds addresses without a certificate that counts, with their cause under each of `count` regimes.
    ///
    /// No token is checked by one, so no record names its row.
    private static func addUnfetched(to signers: inout SignerList, _ database: Database, _ count: Int) throws {
        let rows = try LedgerStatement(
            database,
            """
            SELECT address, cause, standings FROM fetch WHERE cause IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM signer WHERE signer.address = fetch.address)
            """)
        let none: [UInt8] = []
        while try rows.row({ row -> Void in
            let cause = UInt8(truncatingIfNeeded: row.integer(1) ?? 0)
            let decided = row.bytes(2) ?? []
            guard decided.isEmpty || decided.count == count else { return }
            let standings = decided.isEmpty ? Array(repeating: cause, count: count) : decided
            let address = row.bytes(0) ?? []
            signers.add(
                row: 0, address: address.span.bytes, chain: none.span.bytes, key: none.span.bytes,
                authority: none.span.bytes, validity: 0...0, standings: standings.span.bytes, isRenewed: false,
                subject: none.span.bytes)
        }) != nil {}
    }

    /// Adds the signers of a query.
    private static func add(to signers: inout SignerList, _ database: Database, _ query: String) throws {
        let renewed = Set(try String.fetchAll(database, sql: "SELECT address FROM fetch WHERE is_renewed"))
        let rows = try LedgerStatement(database, query)
        while try rows.row({ row -> Void in
            let isRenewed = !renewed.isEmpty && row.text(1).map(renewed.contains) ?? false
            let (first, last) = (row.integer(6) ?? 0, row.integer(7) ?? 0)
            // A span borrows of a name.
            let (address, chain, key) = (row.bytes(1) ?? [], row.bytes(2) ?? [], row.bytes(3) ?? [])
            let (authority, standings, subject) = (row.bytes(4) ?? [], row.bytes(8) ?? [], row.bytes(9) ?? [])
            signers.add(
                row: row.integer(0) ?? 0, address: address.span.bytes, chain: chain.span.bytes, key: key.span.bytes,
                authority: authority.span.bytes, constraints: claimConstraints(row), validity: first...max(first, last),
                standings: standings.span.bytes, isRenewed: isRenewed, subject: subject.span.bytes)
        }) != nil {}
    }

    private static func claimConstraints(_ row: LedgerRow) -> [ClaimConstraints] {
        guard let packed = row.bytes(5) else { return [] }
        return constraints(packed).compactMap { ClaimConstraints(der: $0.der, isEnhanced: $0.isEnhanced) }
            .filter { !$0.isVoid }
    }

    /// The bytes of a value, without a copy between SQLite and the array; empty for NULL.
    private static func bytes(_ row: Row, _ index: Int) -> [UInt8] {
        (try? row.withUnsafeData(atIndex: index) { $0.map { Array($0) } ?? [] }) ?? []
    }

    // MARK: Contents

    static func contents(of database: Database) throws -> StoredTrust {
        var trust = try authorities(of: database)
        let issuers = Dictionary(
            trust.issuers.map { (CertificateDigest.bytes(of: $0), $0) }, uniquingKeysWith: { one, _ in one })
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT id, address, chain, leaf, issuers, key, authority, constraints, not_before, not_after, standings,
                    subject, imported_at
                FROM signer ORDER BY id
                """)
        while let row = try rows.next() { trust.signers.append(signer(row, issuers)) }
        for row in try Row.fetchAll(database, sql: "SELECT address, added_at FROM unknown_address") {
            trust.unknown[row[0]] = row[1]
        }
        for row in try Row.fetchAll(database, sql: fetchColumns) {
            let fetch = state(row)
            trust.fetches[fetch.address] = fetch
        }
        trust.listFetches = try listFetches(of: database)
        return trust
    }

    private static let fetchColumns = """
        SELECT address, cause, reason, attempts, next_at, fetched_at, expires_at, etag, last_modified, is_renewed, standings
        FROM fetch

        """

    private static func state(_ row: Row) -> StoredFetch {
        var state = StoredFetch(address: row[0], nextAt: row[4])
        state.cause = row[1]
        state.reason = row[2]
        state.attempts = row[3]
        state.fetchedAt = row[5]
        state.expiresAt = row[6]
        state.etag = row[7]
        state.lastModified = row[8]
        state.isRenewed = row[9]
        state.standings = bytes(row, 10)
        return state
    }

    private static func authorities(of database: Database) throws -> StoredTrust {
        var trust = StoredTrust()
        if let state = try Row.fetchOne(database, sql: "SELECT generation, regimes, decided_at FROM state") {
            trust.generation = state[0]
            trust.regimes = bytes(state, 1)
            trust.decidedAt = state[2]
        }
        trust.issuers = try Row.fetchAll(database, sql: "SELECT der FROM issuer").map { bytes($0, 0) }
        trust.authorityLists = try Row.fetchAll(database, sql: "SELECT * FROM authority_list ORDER BY regime").map {
            StoredAuthorityList(
                regime: $0["regime"], sequence: $0["sequence"], expires: $0["expires"], token: $0["token"],
                importedAt: $0["imported_at"])
        }
        trust.revocationLists = try Row.fetchAll(
            database, sql: "SELECT signer, der, imported_at FROM revocation_list ORDER BY signer"
        ).map { StoredRevocationList(signer: bytes($0, 0), der: bytes($0, 1), importedAt: $0[2]) }
        return trust
    }

    private static func signer(_ row: Row, _ issuers: [[UInt8]: [UInt8]]) -> StoredSigner {
        let digests = bytes(row, 4)
        let chain = stride(from: 0, to: digests.count / 32 * 32, by: 32).compactMap {
            issuers[Array(digests[$0..<$0 + 32])]
        }
        let (first, last): (Int64, Int64) = (row[8], row[9])
        return StoredSigner(
            row: row[0], address: row[1], certificates: [bytes(row, 3)] + chain, chain: bytes(row, 2),
            key: isNull(row, 5) ? nil : bytes(row, 5), authority: isNull(row, 6) ? nil : bytes(row, 6),
            constraints: constraints(bytes(row, 7)), validity: first...max(first, last), standings: bytes(row, 10),
            subject: row[11], importedAt: row[12])
    }

    private static func isNull(_ row: Row, _ index: Int) -> Bool { row.hasNull(atIndex: index) }

    /// The constraints of one value; see `SignerRows`.
    private static func constraints(_ packed: [UInt8]) -> [StoredSigner.Constraint] {
        var constraints: [StoredSigner.Constraint] = []
        var position = 0
        while packed.count - position >= 3 {
            let start = position + 3
            let end = start + Int(packed[position + 1]) << 8 + Int(packed[position + 2])
            guard end <= packed.count else { break }
            constraints.append(
                StoredSigner.Constraint(der: Array(packed[start..<end]), isEnhanced: packed[position] == 1))
            position = end
        }
        return constraints
    }
}

/// The SHA-256 of a certificate, by which issuers are found.
enum CertificateDigest {
    static func bytes(of der: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: der)) }
}
