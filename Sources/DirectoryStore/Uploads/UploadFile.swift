// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The file of one chunked upload; its name is the session's id, which this server made.
struct UploadFile: Sendable {
    /// What the disk said.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        /// What was to be done with it.
        let deed: Deed
        let reason: String

        var description: String { "\(path) cannot be \(deed.rawValue): \(reason)\(deed.advice)" }
    }

    enum Deed: String {
        case written
        case read
        case removed

        fileprivate var advice: String {
            self == .written ? "; is the state folder writable, and not full?" : ""
        }
    }

    let path: String
    private let folder: String

    init(_ database: DirectoryDatabase, _ id: String) {
        folder = Self.folder(database)
        path = folder + "/" + id
    }

    /// Where all of them lie.
    static func folder(_ database: DirectoryDatabase) -> String { database.folder + "/uploads" }

    /// Writes a piece to its place.
    @concurrent
    func write(_ data: Data, at offset: Int) async throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
        let file = try opened(creates: true)
        defer { close(file) }
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = pwrite(
                    file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, offset + rest.startIndex)
                guard count > 0 else { throw failure(.written) }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Makes what was written outlive a power cut.
    @concurrent
    func synchronize() async throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        let file = try opened(creates: false)
        defer { close(file) }
        guard fsync(file) == 0 else { throw failure(.written) }
    }

    /// Removes it; one that is not there is no error.
    func remove() throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure(.removed) }
    }

    private func opened(creates: Bool) throws -> Int32 {
        let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (creates ? O_CREAT : 0), 0o640)
        guard file >= 0 else { throw failure(.written) }
        return file
    }

    /// What the system said last.
    func failure(_ deed: Deed) -> Failure {
        Failure(path: path, deed: deed, reason: String(cString: strerror(errno)))
    }
}
