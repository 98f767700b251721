// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The bytes of logos and uploads: files of the state folder beside SQLite, rows of `blob` on PostgreSQL.
///
/// Every node of a directory on PostgreSQL can therefore serve every logo and take every chunk.
protocol ByteStore: Sendable {
    /// Stores a logo in the transaction that stores its row; the same bytes may be there already.
    func addLogo(_ data: Data, hash: String, _ database: any SQLConnection) throws

    /// False if no logo was ever added; it needs no query, because it is asked for every request of a logo.
    var mayHaveLogos: Bool { get }

    /// The bytes of a logo; nil without them.
    func logo(_ hash: String) async throws -> Data?

    /// The hashes of `candidates` whose bytes are there.
    func presentLogos(_ candidates: Set<String>, _ database: any SQLConnection) throws -> Set<String>

    /// Removes the bytes of a logo.
    func removeLogo(_ hash: String, _ database: any SQLConnection) throws

    /// Stores a chunk of an upload in place of an earlier one of its number.
    func writeChunk(_ data: Data, number: Int, of upload: String) async throws

    /// Makes the chunks of an upload survive a power cut.
    func synchronize(_ upload: String) async throws

    /// Removes the bytes of an upload; missing bytes are no error.
    func removeUpload(_ id: String) throws

    /// Removes the bytes of uploads that are not in the database.
    func sweepUploads(known pool: any SQLPool)

    /// Opens the bytes of a finished upload.
    ///
    /// - Throws: `UploadedLogsGone`, or an error of the file system or the database.
    func openUpload(_ id: String) throws -> any UploadBytes
}

/// The bytes of an upload, which can be read to their end even if they are removed meanwhile from a file.
protocol UploadBytes: Sendable {
    /// The path of the file, or the place in the database.
    var place: String { get }

    /// At most 64 KiB from an offset on; empty at the end.
    func read(at offset: Int) throws -> [UInt8]
}
