// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Primitives

/// The signers of calls in `signers.sqlite`, of which each change is one transaction.
///
/// A change that another process has overtaken is refused, and its owner begins anew. Addresses and temporary chains of calls
/// overtake nothing: an import of minutes would never end beside them. Safe from any thread; never used on the call path.
/// Every function may block on the disk.
package struct SignerStore: Sendable {
    private let database: any DatabaseWriter
    private let path: String
    /// The number of the import that this value announces.
    let importID = Int64.random(in: 1 ... .max)

    /// A change that was made on contents which are no longer in the file.
    package struct Overtaken: Error {
        package init() {}
    }

    /// Opens the file, or makes it for the owner of the state folder.
    ///
    /// - Throws: `HeraldDatabaseError` with file and remedy.
    package init(folder: String) throws(HeraldDatabaseError) {
        try HeraldDatabase.makeFolder(folder)
        path = HeraldDatabase.signersPath(in: folder)
        let isNew = !FileManager.default.fileExists(atPath: path)
        database = try HeraldDatabase.pool(path: path, durability: "FULL", migrations: Migrations.signers)
        if isNew { Self.giveToOwner(of: folder, path) }
    }

    /// Gives a file that root has made to the user of the gateway, and closes it to others as the other databases are.
    private static func giveToOwner(of folder: String, _ path: String) {
        for ending in ["", "-wal", "-shm"] { _ = chmod(path + ending, 0o640) }
        var owner = stat()
        guard geteuid() == 0, stat(folder, &owner) == 0 else { return }
        for ending in ["", "-wal", "-shm"] { _ = chown(path + ending, owner.st_uid, owner.st_gid) }
    }

    /// Everything in the file.
    ///
    /// - Throws: path, cause and remedy, as each change.
    package func contents() throws(HeraldDatabaseError) -> StoredTrust {
        do {
            return try database.read { try SignerReader.contents(of: $0) }
        } catch {
            throw HeraldDatabaseError(reading: error, path: path)
        }
    }

    /// Makes a change in one transaction; an error of the disk names the file and the remedy.
    func change<Value: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            return try await database.change(updates)
        } catch let error as DatabaseError {
            throw HeraldDatabaseError(reading: error, path: path)
        }
    }

    /// Replaces the contents as a whole, writing the differences alone, removes temporary chains, and ends the wait for the
    /// import of this value.
    ///
    /// Calls bring temporary chains again, and they are decided then by the present rules.
    ///
    /// - Parameters:
    ///   - former: the contents that `present` was made from.
    ///   - present: the new contents; `generation` and rows of new signers are set here.
    /// - Throws: `Overtaken` after a change by another process; an error of the disk with its remedy.
    package func replace(_ former: StoredTrust, by present: StoredTrust) async throws {
        let own = importID
        try await change { database in
            let generation = try Int64.fetchOne(database, sql: "SELECT generation FROM state")
            guard generation == former.generation else { throw Overtaken() }
            try SignerChanges(from: former, to: present).write(to: database)
            try Self.endImport(own, in: database)
        }
    }

    /// Adds addresses without a certificate that calls have named, as long as the limit allows.
    ///
    /// An address that is there already is left as it is.
    /// - Parameters:
    ///   - time: seconds since 1970.
    ///   - limit: the most signers and addresses together. Addresses whose fetches have failed leave for new ones.
    package func add(unknown addresses: [String], at time: Int64, limit: Int) async throws -> AddedAddresses {
        try await change { database in
            let present = try Int.fetchOne(
                database, sql: "SELECT (SELECT count(*) FROM signer) + (SELECT count(*) FROM unknown_address)")
            var space = max(0, limit - (present ?? 0))
            let removed = try FetchRows(database).evict(addresses.count - space)
            space += removed.count
            let insert = try database.makeStatement(
                sql: """
                    INSERT OR IGNORE INTO unknown_address SELECT ?1, ?2
                    WHERE NOT EXISTS (SELECT 1 FROM signer WHERE address = ?1)
                    """)
            for (position, address) in addresses.enumerated() {
                guard space > 0 else { return AddedAddresses(leftOut: Array(addresses[position...]), removed: removed) }
                try insert.execute(arguments: [address, time])
                space -= database.changesCount
            }
            return AddedAddresses(leftOut: [], removed: removed)
        }
    }

    /// The addresses that an addition had no space for, and those that left for others.
    package struct AddedAddresses: Sendable {
        package let leftOut: [String]
        package let removed: [String]
    }

    /// Adds decisions on chains that calls have brought.
    ///
    /// As long as an announced import is under way all chains are temporary: a lasting one would make it begin anew.
    /// - Parameters:
    ///   - lasting: chains that are stored as an import stores them, as long as the limit allows.
    ///   - temporary: chains without certificates, until the next `replace`; the oldest ones leave.
    ///   - generation: that of the contents by which the chains were decided.
    ///   - now: seconds since 1970.
    ///   - limit: the most signers.
    ///   - mostTemporary: the most temporary chains.
    /// - Throws: `Overtaken` after a change by another process; an error of the disk with its remedy.
    package func add(
        lasting: [StoredSigner], temporary: [StoredSigner], decidedAt generation: Int64, at now: Int64, limit: Int,
        mostTemporary: Int
    ) async throws {
        try await change { database in
            guard try Int64.fetchOne(database, sql: "SELECT generation FROM state") == generation else {
                throw Overtaken()
            }
            let present = try Int.fetchOne(database, sql: "SELECT count(*) FROM signer") ?? 0
            let space = try Self.importRuns(in: database, at: now) ? 0 : max(0, limit - present)
            let kept = lasting.prefix(space)
            try SignerRows(database).insert(Array(kept))
            try SignerRows(database).insert(
                temporary: temporary + lasting.dropFirst(kept.count), most: mostTemporary)
            if !kept.isEmpty { try database.execute(sql: "UPDATE state SET generation = generation + 1") }
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
        try database.execute(sql: "DELETE FROM temporary_chain")
        try FetchRows(database).takeOver(replaced: replacedAddresses)
        try database.execute(
            sql: "UPDATE state SET generation = generation + 1, regimes = ?, decided_at = ?",
            arguments: [Data(present.regimes), present.decidedAt])
    }

    /// Addresses of new chains, and of other chains than before.
    private var replacedAddresses: [String] {
        let before = Dictionary(uniqueKeysWithValues: former.signers.map { ($0.row, $0.certificates) })
        return present.signers.filter { before[$0.row] != $0.certificates }.compactMap(\.address)
    }

    private func writeSigners(_ database: Database) throws {
        let kept = Dictionary(uniqueKeysWithValues: present.signers.filter { $0.row > 0 }.map { ($0.row, $0) })
        for signer in former.signers where kept[signer.row] == nil {
            try database.execute(sql: "DELETE FROM signer WHERE id = ?", arguments: [signer.row])
        }
        let before = Dictionary(uniqueKeysWithValues: former.signers.map { ($0.row, $0) })
        try SignerRows(database).insert(present.signers.filter { before[$0.row] != $0 })
    }

    /// Issuers of signers and those that were imported alone, each once.
    private func writeIssuers(_ database: Database) throws {
        let before = Set(former.issuers)
        let after = Set(present.issuers + present.signers.flatMap { $0.certificates.dropFirst() })
        try SignerRows(database).insert(issuers: Array(after.subtracting(before)))
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
            try database.execute(
                sql: "INSERT OR IGNORE INTO unknown_address VALUES (?, ?)", arguments: [address, time])
        }
        // A call may have named an address since the former contents were read.
        try database.execute(
            sql: "DELETE FROM unknown_address WHERE address IN (SELECT address FROM signer)")
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
}
