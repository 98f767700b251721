// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import HostFiles
import HostSystem

extension DirectoryDatabase {
    /// Writes a consistent copy of the database beside a running server, without blocking it.
    ///
    /// Only this user can read the copy. Uploaded logos are files beside the database and not in the copy.
    ///
    /// - Throws: `DatabaseBackupError` when the file exists or cannot be created, or a database error.
    package func backUp(to path: String) throws {
        let copy: Int32
        do {
            // SQLite fills an empty file. Creating it here sets its permissions.
            copy = try PrivateFile.create(path)
        } catch {
            throw DatabaseBackupError(path: path, reason: error.reason)
        }
        defer { close(copy) }
        do {
            try Self.connection(file.path).inDatabase { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        } catch {
            unlink(path)
            throw error
        }
        guard fsync(copy) == 0 else {
            throw DatabaseBackupError(path: path, reason: SystemError.text(errno))
        }
        LastBackup(folder: folder).record()
    }
}

/// A backup cannot be written.
package struct DatabaseBackupError: OperatorError, Hashable {
    package let path: String
    let reason: String

    package var kind: OperatorMistakeKind { .invalid }

    package var description: String {
        "\(path) cannot be written: \(reason); give a file that is not there yet, in a folder that is"
    }
}
