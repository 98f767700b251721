// SPDX-License-Identifier: Apache-2.0

/// Logs that were uploaded in chunks because they were too long for a debug upload; thread-safe.
package final class UploadedLogs: Sendable {
    /// The path of the file, or the place in the database.
    package var path: String { bytes.place }
    /// The media type given by its sender, one of `ChunkedUploads.contentTypes`.
    package let type: String
    private let bytes: any UploadBytes

    /// Opens the bytes of a debug upload.
    ///
    /// - Parameter id: the upload's `logsUploadID`.
    /// - Throws: `UploadedLogsGone` for a removed file, or an error of the database or the file system.
    package init(_ id: String, of account: AccountID = .first, in database: DirectoryDatabase) throws {
        let type = try database.pool.read { database in
            try database.value(
                String.self, "SELECT content_type FROM upload WHERE id = ? AND account = ?", [id, account.row])
        }
        guard let type else { throw UploadedLogsGone() }
        self.type = type
        bytes = try database.bytes.openUpload(id)
    }

    /// True for text; the other types are archives or arbitrary bytes.
    package var isText: Bool { ["text/plain", "application/json"].contains(type) }

    /// At most 64 KiB from an offset on; empty at the end.
    package func read(at offset: Int) throws -> [UInt8] { try bytes.read(at: offset) }
}
