// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// Removes chunked uploads whose time is over, some at a time: the row first, so that nobody writes on, then the file.
package struct UploadExpiry: Sendable {
    /// Uploads a transaction removes, each with a row for each of up to a hundred chunks.
    static let biteSize = 50

    let database: DirectoryDatabase

    package init(database: DirectoryDatabase) { self.database = database }

    /// Takes one bite at those that ended first.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: true when there may be more to remove.
    /// - Throws: a database error, or `UploadFile.Failure` for a file that the disk keeps.
    package func bite(now: Int64) async throws -> Bool {
        let gone = try await database.pool.write { try Self.forget(now: now, $0) }
        try removeFiles(of: gone)
        return gone.count == Self.biteSize
    }

    /// Forgets what has expired, and says which files are left to be removed after the commit.
    static func forget(now: Int64, _ database: Database) throws -> [String] {
        try String.fetchAll(database, sql: expired, arguments: [now])
    }

    static let expired = """
        DELETE FROM upload WHERE id IN (SELECT id FROM upload WHERE expires <= ? ORDER BY expires LIMIT \(biteSize))
        RETURNING id
        """

    /// Removes the files of uploads that were forgotten.
    ///
    /// - Throws: `UploadFile.Failure` for the first that the disk keeps, after all others; `sweep` tries it again.
    func removeFiles(of uploads: [String]) throws {
        var kept: (any Error)?
        for id in uploads {
            do {
                try UploadFile(database, id).remove()
            } catch {
                kept = kept ?? error
            }
        }
        if let kept { throw kept }
    }

    /// Removes files that no upload names: a server that was killed between a commit and the file's end left them.
    ///
    /// Before the server listens, because an upload may begin meanwhile. Only names this server gives are looked at.
    package func sweep() {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: UploadFile.folder(database))) ?? []
        // A database that cannot be read is told by whatever reads it next.
        guard !files.isEmpty,
            let known = try? database.pool.read({ try String.fetchSet($0, sql: "SELECT id FROM upload") })
        else { return }
        try? removeFiles(of: files.filter { UUID(uuidString: $0) != nil && !known.contains($0) })
    }
}
