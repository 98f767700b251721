// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import Host
import Primitives

extension SQLiteFile {
    /// Throws `DatabaseBackupError`, or a database error.
    func backUp(to path: String) throws {
        let copy: Int32
        do {
            // SQLite fills an empty file. Creating it here sets its permissions.
            copy = try PrivateFile.create(path)
        } catch {
            throw DatabaseBackupError(path: path, reason: error.reason)
        }
        defer { close(copy) }
        do {
            try Self.connection(self.path).inDatabase { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
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
