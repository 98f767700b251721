// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Foundation

/// Files uploaded in chunks: the bytes are in a `ByteStore`, the received chunk numbers in the database.
///
/// Sessions expire after a day, finished files after a month or with their debug upload. A quota limits all files of an
/// account, open sessions by their announced size, so a client cannot fill the disk. A repeated chunk overwrites the
/// same place. Source: mobile-api, "Chunked Upload".
package struct ChunkedUploads: Sendable {
    private let database: DirectoryDatabase
    private let account: AccountID

    /// Largest file, in bytes.
    package static let largest = 50_000_000
    /// All files of an account, in bytes.
    package static let quota = 200_000_000
    /// The accepted media types: logs and archives.
    package static let contentTypes = [
        "text/plain", "application/json", "application/gzip", "application/zip", "application/octet-stream",
    ]

    package init(_ database: DirectoryDatabase, account: AccountID) {
        self.database = database
        self.account = account
    }

    /// One row of the table.
    private struct Session {
        let size: Int
        let chunks: Int
        let isComplete: Bool

        /// The size of a chunk, in bytes.
        func length(of number: Int) -> Int {
            number < chunks ? UploadLimits.chunkSize : size - (chunks - 1) * UploadLimits.chunkSize
        }
    }

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - start: what the client announces: 1 to `largest` bytes, of one of `contentTypes`.
    ///   - now: seconds since 1970.
    /// - Throws: `UploadError.full`, or a database error.
    package func start(_ start: UploadStart, now: Int64) async throws -> UploadSession {
        let id = UUID().uuidString.lowercased()
        let expires = now + UploadLimits.sessionLife
        let gone = try await database.pool.write { [account] database in
            // Frees space for this upload; the regular clean-up removes the rest.
            let gone = try UploadExpiry.forget(now: now, database)
            let used = try database.value(
                Int.self, "SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM upload WHERE account = ?", [account.row])
            guard (used ?? 0) + start.totalSize <= Self.quota else { throw UploadError.full }
            try database.execute(
                """
                INSERT INTO upload (id, account, filename, content_type, size, chunks, expires)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    id, account.row, start.filename, start.contentType, start.totalSize,
                    (start.totalSize + UploadLimits.chunkSize - 1) / UploadLimits.chunkSize, expires,
                ])
            return gone
        }
        // A file that cannot be removed is no fault of this client; the next start of the server removes it.
        try? UploadExpiry(database: database).removeFiles(of: gone)
        return UploadSession(
            sessionID: id, chunkSize: UploadLimits.chunkSize, expiresAt: Timestamp.string(from: expires))
    }

    /// Writes a chunk to its place.
    ///
    /// - Throws: `UploadError`, or an error of the database or the file system.
    package func store(_ chunk: UploadChunk, now: Int64) async throws -> UploadProgress {
        let session = try await session(chunk.sessionID, now: now)
        guard !session.isComplete else { throw UploadError.complete }
        guard (1...session.chunks).contains(chunk.number) else {
            throw UploadError.noSuchChunk(last: session.chunks)
        }
        guard let data = Data(base64Encoded: chunk.data) else { throw UploadError.notBase64 }
        guard data.count == session.length(of: chunk.number) else {
            throw UploadError.wrongSize(
                chunk: chunk.number, expected: session.length(of: chunk.number), received: data.count)
        }
        try await database.bytes.writeChunk(data, number: chunk.number, of: chunk.sessionID)
        let received = try await database.pool.write { database in
            try database.execute(
                "INSERT INTO upload_chunk (upload, number) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [chunk.sessionID, chunk.number])
            return try Self.received(chunk.sessionID, database)
        }
        let bytes = received.reduce(0) { $0 + session.length(of: $1) }
        let percent = (Double(bytes) * 1000 / Double(session.size)).rounded() / 10
        return UploadProgress(number: chunk.number, progress: percent)
    }

    /// Completes a session; repeating it gives the same result.
    ///
    /// - Throws: `UploadError.notFound` or `.incomplete`, or an error of the database or the file system.
    package func complete(_ id: String, now: Int64) async throws -> UploadedFile {
        let session = try await session(id, now: now)
        if !session.isComplete {
            try await database.bytes.synchronize(id)
            try await database.pool.write { database in
                let received = Set(try Self.received(id, database))
                let missing = (1...session.chunks).filter { !received.contains($0) }
                guard missing.isEmpty else { throw UploadError.incomplete(missing: missing) }
                try database.execute(
                    "UPDATE upload SET completed = ?, expires = ? WHERE id = ?", [now, now + UploadLimits.fileLife, id])
            }
        }
        return UploadedFile(id: id, size: session.size)
    }

    private func session(_ id: String, now: Int64) async throws -> Session {
        let row = try await database.pool.read { [account] database in
            try database.row(
                "SELECT * FROM upload WHERE id = ? AND account = ? AND expires > ?", [id, account.row, now]
            ).map { row in
                let completed: Int64? = row["completed"]
                return Session(size: row["size"], chunks: row["chunks"], isComplete: completed != nil)
            }
        }
        guard let row else { throw UploadError.notFound }
        return row
    }

    private static func received(_ id: String, _ database: any SQLConnection) throws -> [Int] {
        try database.values(Int.self, "SELECT number FROM upload_chunk WHERE upload = ?", [id])
    }
}
