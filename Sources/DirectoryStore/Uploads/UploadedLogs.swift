// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An open file of logs that were uploaded in chunks because they were too long for a debug upload; thread-safe.
///
/// An open file can be read to its end, even if it is removed meanwhile.
package final class UploadedLogs: Sendable {
    /// The path of the file.
    package let path: String
    /// The media type given by its sender, one of `ChunkedUploads.contentTypes`.
    package let type: String
    private let file: UploadFile
    private let descriptor: Int32

    /// Bytes in memory at once.
    private static let pieceSize = 65_536

    /// Opens the file of a debug upload.
    ///
    /// - Parameter id: the upload's `logsUploadID`.
    /// - Throws: `UploadedLogsGone` for a removed file, or an error of the database or the file system.
    package init(_ id: String, of account: AccountID = .first, in database: DirectoryDatabase) throws {
        let type = try database.pool.read { database in
            try database.value(
                String.self, "SELECT content_type FROM upload WHERE id = ? AND account = ?", [id, account.row])
        }
        guard let type else { throw UploadedLogsGone() }
        let file = UploadFile(database, id)
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { throw UploadedLogsGone() }
            throw file.failure(.read)
        }
        (self.type, self.file, self.descriptor, path) = (type, file, descriptor, file.path)
    }

    deinit { close(descriptor) }

    /// True for text; the other types are archives or arbitrary bytes.
    package var isText: Bool { ["text/plain", "application/json"].contains(type) }

    /// At most 64 KiB from an offset on; empty at the end.
    package func read(at offset: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
            var got = pread(descriptor, buffer.baseAddress, buffer.count, offset)
            while got < 0, errno == EINTR { got = pread(descriptor, buffer.baseAddress, buffer.count, offset) }
            guard got >= 0 else { throw file.failure(.read) }
            count = got
        }
    }
}

/// The log file of a debug upload was removed.
package struct UploadedLogsGone: OperatorError, Hashable {
    package var kind: OperatorMistakeKind { .missing }

    package var description: String {
        """
        the logs came as a file of their own, and it is not there any more: \
        such files are kept for \(ChunkedUploads.fileLife / 86_400) days
        """
    }
}
