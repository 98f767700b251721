// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Logos and uploads as rows of the table `blob`.
///
/// A logo is part 0 of its hash, a chunk of an upload the part of its number.
struct TableBytes: ByteStore {
    let pool: any SQLPool

    func addLogo(_ data: Data, hash: String, _ database: any SQLConnection) throws {
        try database.execute(
            "INSERT INTO blob (hash, part, bytes) VALUES (?, 0, ?) ON CONFLICT (hash, part) DO NOTHING", [hash, data])
    }

    var mayHaveLogos: Bool { true }

    func logo(_ hash: String) async throws -> Data? {
        try await pool.read { try $0.value(Data.self, "SELECT bytes FROM blob WHERE hash = ? AND part = 0", [hash]) }
    }

    func presentLogos(_ candidates: Set<String>, _ database: any SQLConnection) throws -> Set<String> {
        if candidates.isEmpty { return [] }
        return Set(
            try database.values(
                String.self, "SELECT blob.hash FROM blob JOIN logo ON logo.hash = blob.hash WHERE part = 0")
        ).intersection(candidates)
    }

    func removeLogo(_ hash: String, _ database: any SQLConnection) throws {
        try database.execute("DELETE FROM blob WHERE hash = ? AND part = 0", [hash])
    }

    func writeChunk(_ data: Data, number: Int, of upload: String) async throws {
        try await pool.write(.locked) { database in
            try database.execute(
                """
                INSERT INTO blob (hash, part, bytes) VALUES (?, ?, ?)
                ON CONFLICT (hash, part) DO UPDATE SET bytes = excluded.bytes
                """, [upload, number, data])
        }
    }

    // Every commit is on the server's disk.
    func synchronize(_: String) async throws {}

    func removeUpload(_ id: String) throws {
        try pool.write(.locked) { try $0.execute("DELETE FROM blob WHERE hash = ? AND part > 0", [id]) }
    }

    func sweepUploads(known _: any SQLPool) {
        // The row of an upload is older than its chunks, so no upload of another node is taken for lost.
        _ = try? pool.write(.locked) { database in
            try database.execute(
                "DELETE FROM blob WHERE part > 0 AND NOT EXISTS (SELECT 1 FROM upload WHERE upload.id = blob.hash)")
        }
    }

    func openUpload(_ id: String) throws -> any UploadBytes {
        guard try pool.read({ try $0.exists("SELECT 1 FROM blob WHERE hash = ? AND part > 0 LIMIT 1", [id]) }) else {
            throw UploadedLogsGone()
        }
        return UploadRows(pool: pool, id: id)
    }
}

/// The chunks of an upload in the table `blob`.
private struct UploadRows: UploadBytes {
    let pool: any SQLPool
    let id: String

    private static let pieceSize = 65_536

    var place: String { "rows of the table blob with the hash \(id)" }

    func read(at offset: Int) throws -> [UInt8] {
        let (part, start) = (offset / UploadLimits.chunkSize + 1, offset % UploadLimits.chunkSize)
        let piece = try pool.read { database in
            try database.value(
                Data.self,
                "SELECT substr(bytes, CAST(? AS INTEGER), CAST(? AS INTEGER)) FROM blob WHERE hash = ? AND part = ?",
                [start + 1, Self.pieceSize, id, part])
        }
        return piece.map { [UInt8]($0) } ?? []
    }
}
