// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Primitives

/// The signers of calls in `signers.sqlite`, of which each change is one transaction.
///
/// A change that another process has overtaken is refused, and its owner begins anew. Safe from any thread; never used on
/// the call path. Every function may block on the disk.
package struct SignerStore: Sendable {
    private let database: any DatabaseWriter

    /// A change that was made on contents which are no longer in the file.
    package struct Overtaken: Error {
        package init() {}
    }

    /// Opens the file, or makes it for the owner of the state folder.
    ///
    /// - Throws: `HeraldDatabaseError` with file and remedy.
    package init(folder: String) throws(HeraldDatabaseError) {
        try HeraldDatabase.makeFolder(folder)
        let path = HeraldDatabase.signersPath(in: folder)
        let isNew = !FileManager.default.fileExists(atPath: path)
        database = try HeraldDatabase.pool(path: path, durability: "FULL", migrations: Migrations.signers)
        if isNew { Self.giveToOwner(of: folder, path) }
    }

    /// Gives a file that root has made to the user of the gateway.
    private static func giveToOwner(of folder: String, _ path: String) {
        var owner = stat()
        guard geteuid() == 0, stat(folder, &owner) == 0 else { return }
        for ending in ["", "-wal", "-shm"] { _ = chown(path + ending, owner.st_uid, owner.st_gid) }
    }

    /// Everything in the file.
    package func contents() throws -> StoredTrust { try database.read { try SignerReader.contents(of: $0) } }

    /// Replaces the contents as a whole, writing the differences alone.
    ///
    /// - Parameters:
    ///   - former: the contents that `present` was made from.
    ///   - present: the new contents; `generation` and rows of new signers are set here.
    /// - Throws: `Overtaken` after a change by another process; an error of the disk with its remedy.
    package func replace(_ former: StoredTrust, by present: StoredTrust) async throws {
        try await database.change { database in
            let generation = try Int64.fetchOne(database, sql: "SELECT generation FROM state")
            guard generation == former.generation else { throw Overtaken() }
            try SignerChanges(from: former, to: present).write(to: database)
        }
    }

    /// Closes the file.
    package func close() throws { try database.close() }
}

/// The differences between two contents, as statements of one transaction.
struct SignerChanges {
    private let former: StoredTrust
    private let present: StoredTrust

    init(from former: StoredTrust, to present: StoredTrust) {
        self.former = former
        self.present = present
    }

    func write(to database: Database) throws {
        try writeSigners(database)
        try writeIssuers(database)
        try writeAddresses(database)
        try writeLists(database)
        try database.execute(
            sql: "UPDATE state SET generation = generation + 1, regimes = ?, decided_at = ?",
            arguments: [Data(present.regimes), present.decidedAt])
    }

    private func writeSigners(_ database: Database) throws {
        let kept = Dictionary(uniqueKeysWithValues: present.signers.filter { $0.row > 0 }.map { ($0.row, $0) })
        for signer in former.signers where kept[signer.row] == nil {
            try database.execute(sql: "DELETE FROM signer WHERE id = ?", arguments: [signer.row])
        }
        let before = Dictionary(uniqueKeysWithValues: former.signers.map { ($0.row, $0) })
        let insert = try database.makeStatement(
            sql: """
                INSERT OR REPLACE INTO signer (id, address, chain, leaf, issuers, key, authority, constraints, not_before,
                    not_after, standings, subject, imported_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        for signer in present.signers where before[signer.row] != signer {
            try insert.execute(arguments: [
                signer.row > 0 ? signer.row : nil, signer.address, Data(signer.chain),
                Data(signer.certificates.first ?? []),
                Data(signer.certificates.dropFirst().flatMap { CertificateDigest.bytes(of: $0) }),
                signer.key.map { Data($0) }, signer.authority.map { Data($0) }, Data(Self.packed(signer.constraints)),
                signer.validity.lowerBound, signer.validity.upperBound, Data(signer.standings), signer.subject,
                signer.importedAt,
            ])
        }
    }

    /// Issuers of signers and those that were imported alone, each once.
    private func writeIssuers(_ database: Database) throws {
        let before = Set(former.issuers)
        let after = Set(present.issuers + present.signers.flatMap { $0.certificates.dropFirst() })
        for der in after.subtracting(before) {
            try database.execute(
                sql: "INSERT OR IGNORE INTO issuer VALUES (?, ?)",
                arguments: [Data(CertificateDigest.bytes(of: der)), Data(der)])
        }
        for der in before.subtracting(after) {
            try database.execute(
                sql: "DELETE FROM issuer WHERE digest = ?", arguments: [Data(CertificateDigest.bytes(of: der))])
        }
    }

    private func writeAddresses(_ database: Database) throws {
        for address in former.unknown.keys where present.unknown[address] == nil {
            try database.execute(sql: "DELETE FROM unknown_address WHERE address = ?", arguments: [address])
        }
        for (address, time) in present.unknown where former.unknown[address] == nil {
            try database.execute(sql: "INSERT INTO unknown_address VALUES (?, ?)", arguments: [address, time])
        }
    }

    private func writeLists(_ database: Database) throws {
        if present.authorityLists != former.authorityLists {
            try database.execute(sql: "DELETE FROM authority_list")
            for list in present.authorityLists {
                try database.execute(
                    sql: "INSERT INTO authority_list VALUES (?, ?, ?, ?, ?)",
                    arguments: [list.regime, list.sequence, list.expires, list.token, list.importedAt])
            }
        }
        if present.revocationLists != former.revocationLists {
            try database.execute(sql: "DELETE FROM revocation_list")
            for list in present.revocationLists {
                try database.execute(
                    sql: "INSERT INTO revocation_list VALUES (?, ?, ?)",
                    arguments: [Data(list.signer), Data(list.der), list.importedAt])
            }
        }
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
