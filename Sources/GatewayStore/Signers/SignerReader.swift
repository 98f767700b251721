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

    /// Opens the signers in a gateway's state folder.
    ///
    /// - Throws: `HeraldDatabaseError` without signers, or for those of an older or newer program.
    package init(folder: String) throws(HeraldDatabaseError) {
        database = try HeraldDatabase.signersReader(folder: folder)
    }

    /// Everything in the file.
    package func contents() throws -> StoredTrust { try database.read { try Self.contents(of: $0) } }

    /// The signers as the call path reads them, from the decided columns alone: no certificate is parsed.
    ///
    /// `regimeSet` of the snapshot is `regimeSet(of:)` of the stored rules.
    package func snapshot() throws -> TrustSnapshot {
        try database.read { database in
            let state = try Row.fetchOne(database, sql: "SELECT generation, regimes FROM state")
            let regimes: Data = state?["regimes"] ?? Data()
            var entries: [TrustSnapshot.Entry] = []
            entries.reserveCapacity(try Int.fetchOne(database, sql: "SELECT count(*) FROM signer") ?? 0)
            var shared = SharedStandings()
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT id, address, chain, key, authority, constraints, not_before, not_after, standings, subject
                    FROM signer ORDER BY id
                    """)
            while let row = try rows.next() { entries.append(Self.entry(row, &shared)) }
            return TrustSnapshot(
                generation: UInt64(bitPattern: state?["generation"] ?? 0),
                regimeSet: Self.regimeSet(of: Array(regimes)),
                entries)
        }
    }

    /// The number of a set of rules, for snapshots and the policies of trunks.
    package static func regimeSet(of regimes: [UInt8]) -> UInt64 {
        SHA256.hash(data: regimes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func entry(_ row: Row, _ shared: inout SharedStandings) -> TrustSnapshot.Entry {
        let constraints: [ClaimConstraints] =
            bytes(row, 5).isEmpty
            ? []
            : Self.constraints(bytes(row, 5)).compactMap {
                ClaimConstraints(der: $0.der, isEnhanced: $0.isEnhanced)
            }
        let (first, last): (Int64, Int64) = (row[6], row[7])
        let signer = Signer(
            row: row[0], key: SignerKey(x963: bytes(row, 3)),
            authority: AuthorityList(der: bytes(row, 4)) ?? AuthorityList(),
            constraints: constraints.filter { !$0.isVoid }, validity: first...max(first, last),
            standings: shared.standings(bytes(row, 8)), subject: row[9])
        return TrustSnapshot.Entry(address: row[1], chain: ChainDigest(bytes: bytes(row, 2)), signer: signer)
    }

    /// The bytes of a value, without a copy between SQLite and the array; empty for NULL.
    private static func bytes(_ row: Row, _ index: Int) -> [UInt8] {
        (try? row.withUnsafeData(atIndex: index) { $0.map { Array($0) } ?? [] }) ?? []
    }

    /// One array for all signers with the same standings.
    private struct SharedStandings {
        private var known: [[UInt8]: [TrustCause]] = [:]

        mutating func standings(_ values: [UInt8]) -> [TrustCause] {
            if let standings = known[values] { return standings }
            let standings = values.map { TrustCause(rawValue: $0) ?? .certificateMalformed }
            known[values] = standings
            return standings
        }
    }

    // MARK: Contents

    static func contents(of database: Database) throws -> StoredTrust {
        var trust = StoredTrust()
        if let state = try Row.fetchOne(database, sql: "SELECT generation, regimes, decided_at FROM state") {
            trust.generation = state[0]
            trust.regimes = bytes(state, 1)
            trust.decidedAt = state[2]
        }
        var issuers: [[UInt8]: [UInt8]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT digest, der FROM issuer") {
            issuers[bytes(row, 0)] = bytes(row, 1)
        }
        trust.issuers = Array(issuers.values)
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

    /// The constraints of one value; see `SignerChanges`.
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
