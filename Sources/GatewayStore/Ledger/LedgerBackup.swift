// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import Host
import Primitives

/// Copies the ledger of a gateway into one file, beside the running gateway.
package enum LedgerBackup {
    /// Writes the copy.
    ///
    /// Takes a second for each 100,000 calls; the recorder goes on.
    ///
    /// - Parameters:
    ///   - folder: the folder of the ledger.
    ///   - path: a new file, readable for its owner and its group.
    /// - Throws: `HeraldDatabaseError` for a ledger that cannot be read, `LedgerBackupError` for a copy that cannot be written.
    package static func write(ofLedgerIn folder: String, to path: String) throws {
        let ledger = try HeraldDatabase.ledgerReader(folder: folder)
        let copy: Int32
        do {
            // SQLite fills an empty file. Creating it here sets its permissions.
            copy = try PrivateFile.create(path)
        } catch {
            let reason = error.code == EEXIST ? "it exists already; name a new file" : SystemError.text(error.code)
            throw LedgerBackupError(path: path, reason: reason)
        }
        defer { close(copy) }
        do {
            try ledger.unsafeRead { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        } catch {
            unlink(path)
            let reason = (error as? DatabaseError)?.message ?? SystemError.text(error) ?? "\(error)"
            throw LedgerBackupError(path: path, reason: reason + "; see the free space of its disk")
        }
        guard fsync(copy) == 0 else { throw LedgerBackupError(path: path, reason: SystemError.text(errno)) }
    }
}

/// A copy of the ledger that could not be written.
package struct LedgerBackupError: Error, Hashable, CustomStringConvertible {
    package let path: String
    package let reason: String

    package var description: String { "the backup \(path) cannot be written: \(reason)" }
}
