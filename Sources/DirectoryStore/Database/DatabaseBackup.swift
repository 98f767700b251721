// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc

extension DirectoryDatabase {
    /// Writes a whole copy of the database, as of one moment, beside a running server; nobody waits for it.
    ///
    /// The copy is a database of its own that only this user can read. Uploaded logos are files beside the database and
    /// not in it.
    ///
    /// - Throws: `DatabaseBackupError` when the file is there already or cannot be made, or a database error.
    package func backUp(to path: String) throws {
        // SQLite fills an empty file, so it is made here, where its permissions can be said.
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw DatabaseBackupError(path: path, reason: String(cString: strerror(errno))) }
        defer { close(file) }
        do {
            try connection().inDatabase { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        } catch {
            unlink(path)
            throw error
        }
        guard fsync(file) == 0 else {
            throw DatabaseBackupError(path: path, reason: String(cString: strerror(errno)))
        }
    }
}

/// A backup that could not be written.
package struct DatabaseBackupError: OperatorMistake, Hashable {
    package let path: String
    let reason: String

    package var kind: OperatorMistakeKind { .invalid }

    package var description: String {
        "\(path) cannot be written: \(reason); give a file that is not there yet, in a folder that is"
    }
}
