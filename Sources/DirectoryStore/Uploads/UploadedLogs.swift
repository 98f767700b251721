// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// Logs that were too long for a debug upload and came in chunks: a file, open to be read piece by piece; any thread.
///
/// What was opened can be read to its end, also when it is removed meanwhile.
package final class UploadedLogs: Sendable {
    /// Where the file lies.
    package let path: String
    /// What its sender said it is, one of the few types that are taken, such as `text/plain`.
    package let type: String
    private let file: UploadFile
    private let descriptor: Int32

    /// Bytes that are in memory at once.
    private static let pieceSize = 65_536

    /// Opens the file that a debug upload names.
    ///
    /// - Parameter id: the upload's `logsUploadID`.
    /// - Throws: `UploadedLogsGone` when it was removed, or an error of the database or the file system.
    package init(_ id: String, of account: AccountID = .first, in database: DirectoryDatabase) throws {
        let type = try database.pool.read { database in
            try String.fetchOne(
                database, sql: "SELECT content_type FROM upload WHERE id = ? AND account = ?",
                arguments: [id, account.row])
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

    /// True for what people read; the other types are archives, or bytes of any kind.
    package var isText: Bool { ["text/plain", "application/json"].contains(type) }

    /// The bytes from a place on, at most 64 KiB; none at the end.
    package func read(at offset: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
            var got = pread(descriptor, buffer.baseAddress, buffer.count, offset)
            while got < 0, errno == EINTR { got = pread(descriptor, buffer.baseAddress, buffer.count, offset) }
            guard got >= 0 else { throw file.failure(.read) }
            count = got
        }
    }
}

/// Logs of a debug upload whose file is not there any more.
package struct UploadedLogsGone: OperatorMistake, Hashable {
    package var kind: OperatorMistakeKind { .missing }

    package var description: String {
        """
        the logs came as a file of their own, and it is not there any more: \
        such files are kept for \(ChunkedUploads.fileLife / 86_400) days
        """
    }
}
