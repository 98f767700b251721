// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import Host
import Primitives

/// A SQLite file of a gateway, which a backup copies beside the running gateway.
package enum StateDatabase: String, CaseIterable, Sendable {
    /// Calls and events.
    case ledger = "herald.sqlite"
    /// The directory's records.
    case brands = "brands.sqlite"
    /// Signers of calls.
    case signers = "signers.sqlite"

    /// Writes a consistent copy.
    ///
    /// Takes a second for each 100,000 calls of a ledger; the gateway goes on writing.
    ///
    /// - Parameters:
    ///   - folder: the folder of the file.
    ///   - path: a new file, readable for its owner.
    /// - Throws: `HeraldDatabaseError` for a file that cannot be read, `DatabaseCopyError` for a copy that cannot be written.
    package func copy(from folder: String, to path: String) throws {
        let database = try HeraldDatabase.reader(path: folder + "/" + rawValue, migrations)
        let copy: Int32
        do {
            // SQLite fills an empty file. Creating it here sets its permissions.
            copy = try PrivateFile.create(path)
        } catch {
            let reason = error.code == EEXIST ? "it exists already; name a new file" : SystemError.text(error.code)
            throw DatabaseCopyError(path: path, reason: reason)
        }
        defer { close(copy) }
        do {
            try database.unsafeRead { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        } catch {
            unlink(path)
            let reason = (error as? DatabaseError)?.message ?? SystemError.text(error) ?? "\(error)"
            throw DatabaseCopyError(path: path, reason: reason + "; see the free space of its disk")
        }
        guard fsync(copy) == 0 else { throw DatabaseCopyError(path: path, reason: SystemError.text(errno)) }
    }

    private var migrations: Migrations {
        switch self {
        case .ledger: Migrations.ledger
        case .brands: Migrations.brands
        case .signers: Migrations.signers
        }
    }

    /// Checks that this program can use a copy.
    ///
    /// - Throws: `HeraldDatabaseError` for a damaged file, and for one of a newer or a too old version.
    package func check(copyAt path: String) throws(HeraldDatabaseError) {
        do {
            _ = try HeraldDatabase.reader(path: path, migrations)
        } catch {
            // The gateway brings it up to date at its start.
            guard error.problem == .older else { throw error }
        }
    }
}

/// A copy of a database that could not be written.
package struct DatabaseCopyError: Error, Hashable, CustomStringConvertible {
    package let path: String
    package let reason: String

    package var description: String { "the backup \(path) cannot be written: \(reason)" }
}
