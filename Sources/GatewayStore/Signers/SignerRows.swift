// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// Writes signers as rows, inside a transaction of its user.
struct SignerRows {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Inserts signers with their issuers, or replaces those of the same row, address or chain.
    func insert(_ signers: [StoredSigner]) throws {
        guard !signers.isEmpty else { return }
        let statement = try database.makeStatement(
            sql: """
                INSERT OR REPLACE INTO signer (id, address, chain, leaf, issuers, key, authority, constraints, not_before,
                    not_after, standings, subject, imported_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        for signer in signers {
            try statement.execute(arguments: [
                signer.row > 0 ? signer.row : nil, signer.address, Data(signer.chain),
                Data(signer.certificates.first ?? []),
                Data(signer.certificates.dropFirst().flatMap { CertificateDigest.bytes(of: $0) }),
                signer.key.map { Data($0) }, signer.authority.map { Data($0) }, Data(Self.packed(signer.constraints)),
                signer.validity.lowerBound, signer.validity.upperBound, Data(signer.standings), signer.subject,
                signer.importedAt,
            ])
        }
        try insert(issuers: signers.flatMap { $0.certificates.dropFirst() })
    }

    /// Inserts certificates of authorities, each once.
    func insert(issuers: [[UInt8]]) throws {
        let statement = try database.makeStatement(sql: "INSERT OR IGNORE INTO issuer VALUES (?, ?)")
        for der in Set(issuers) {
            try statement.execute(arguments: [Data(CertificateDigest.bytes(of: der)), Data(der)])
        }
    }

    /// Inserts chains that calls have brought, without their certificates, and removes the oldest ones beyond `most`.
    func insert(temporary chains: [StoredSigner], most: Int) throws {
        guard !chains.isEmpty else { return }
        let statement = try database.makeStatement(
            sql: """
                INSERT OR REPLACE INTO temporary_chain (chain, key, authority, constraints, not_before, not_after, standings,
                    subject)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """)
        for chain in chains {
            try statement.execute(arguments: [
                Data(chain.chain), chain.key.map { Data($0) }, chain.authority.map { Data($0) },
                Data(Self.packed(chain.constraints)), chain.validity.lowerBound, chain.validity.upperBound,
                Data(chain.standings), chain.subject,
            ])
        }
        try database.execute(
            sql: """
                DELETE FROM temporary_chain WHERE id NOT IN (SELECT id FROM temporary_chain ORDER BY id DESC LIMIT ?)
                """, arguments: [most])
    }

    /// The constraints in one value: for each one a byte for its form, two bytes for its length, and its contents.
    private static func packed(_ constraints: [StoredSigner.Constraint]) -> [UInt8] {
        constraints.flatMap { constraint in
            let count = min(constraint.der.count, 0xFFFF)
            return [constraint.isEnhanced ? 1 : 0, UInt8(count >> 8), UInt8(count & 0xFF)]
                + constraint.der.prefix(count)
        }
    }
}
