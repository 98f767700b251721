// SPDX-License-Identifier: Apache-2.0

package import PostgreSQL

/// The state of the disk, the database file and its backups.
package struct DirectoryHealth: Hashable, Sendable {
    /// A copy of a database in the state folder.
    package struct Backup: Hashable, Sendable {
        package let name: String
        package let bytes: Int64
        /// Seconds since 1970.
        package let written: Int64
    }

    /// Free bytes for this user; nil if the file system does not give them.
    package let free: Int64?
    /// Bytes of the file system.
    package let total: Int64?
    package let databaseBytes: Int64
    /// Bytes of the write-ahead log.
    package let logBytes: Int64
    /// SQLite files in the state folder beside the directory's own, newest first, at most twenty.
    package let backups: [Backup]
    /// Problems with cause and remedy; empty in good health.
    package var problems: [String]
    /// Role and standbys of a database server; nil for a file.
    package var replication: PostgreSQLReplication?

    /// Role and standbys of a database server as sentences, with remarks that are no problems; empty for a file.
    package var serverTexts: [String] {
        guard let replication else { return [] }
        let remarks = replication.remarks.filter { !$0.isProblem }.map(\.text)
        return ["Server: \(replication.summary)"] + remarks.map { "\($0.prefix(1).uppercased())\($0.dropFirst())." }
    }
}
