// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Removes expired chunked uploads in batches: first the row, so that no more chunks are accepted, then the file.
package struct UploadExpiry: Sendable {
    /// Uploads per transaction, each with up to a hundred rows of chunks.
    static let batchSize = 50

    let database: DirectoryDatabase

    package init(database: DirectoryDatabase) { self.database = database }

    /// Removes one batch of those that expired first.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: true if there may be more to remove.
    /// - Throws: a database error, or `UploadFile.Failure` for a file that cannot be removed.
    package func removeBatch(now: Int64) async throws -> Bool {
        let gone = try await database.pool.write(.locked) { try Self.forget(now: now, $0) }
        try removeFiles(of: gone)
        return gone.count == Self.batchSize
    }

    /// Removes the rows of expired uploads; the caller removes the returned files after the commit.
    static func forget(now: Int64, _ database: any SQLConnection) throws -> [String] {
        try database.values(String.self, expired, [now])
    }

    static let expired = """
        DELETE FROM upload WHERE id IN (SELECT id FROM upload WHERE expires <= ? ORDER BY expires LIMIT \(batchSize))
        RETURNING id
        """

    /// Removes the files of removed uploads.
    ///
    /// - Throws: `UploadFile.Failure` for the first file that cannot be removed, after trying all others; `sweep`
    ///   retries it.
    func removeFiles(of uploads: [String]) throws {
        var kept: (any Error)?
        for id in uploads {
            do {
                try database.bytes.removeUpload(id)
            } catch {
                kept = kept ?? error
            }
        }
        if let kept { throw kept }
    }

    /// Removes files without an upload, left by a server that was killed between a commit and the removal of a file.
    ///
    /// It must run before the server listens, because an upload may begin meanwhile. Only files with names from this
    /// server are considered.
    package func sweep() { database.bytes.sweepUploads(known: database.pool) }
}
