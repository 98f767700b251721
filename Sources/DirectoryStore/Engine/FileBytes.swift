// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Logos and uploads as files of the state folder.
struct FileBytes: ByteStore {
    /// The state folder.
    let folder: String

    private var logos: String { folder + "/logos" }

    func addLogo(_ data: Data, hash: String, _: any SQLConnection) throws {
        try FileManager.default.createDirectory(atPath: logos, withIntermediateDirectories: true)
        StateOwner.adopt(logos, in: folder)
        let path = logos + "/" + hash
        if !FileManager.default.fileExists(atPath: path) {
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
            StateOwner.adopt(path, in: folder)
        }
    }

    var mayHaveLogos: Bool { access(logos, F_OK) == 0 }

    func logo(_ hash: String) async throws -> Data? { FileManager.default.contents(atPath: logos + "/" + hash) }

    func presentLogos(_ candidates: Set<String>, _: any SQLConnection) throws -> Set<String> {
        candidates.filter { access(logos + "/" + $0, R_OK) == 0 }
    }

    func removeLogo(_ hash: String, _: any SQLConnection) throws {
        try? FileManager.default.removeItem(atPath: logos + "/" + hash)
    }

    func writeChunk(_ data: Data, number: Int, of upload: String) async throws {
        try await UploadFile(folder, upload).write(data, at: (number - 1) * UploadLimits.chunkSize)
    }

    func synchronize(_ upload: String) async throws { try await UploadFile(folder, upload).synchronize() }

    func removeUpload(_ id: String) throws { try UploadFile(folder, id).remove() }

    func sweepUploads(known pool: any SQLPool) {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: UploadFile.folder(in: folder))) ?? []
        // The next reader of the database reports a read error.
        guard !files.isEmpty,
            let known = try? pool.read({ Set(try $0.values(String.self, "SELECT id FROM upload")) })
        else { return }
        for file in files where UUID(uuidString: file) != nil && !known.contains(file) {
            try? removeUpload(file)
        }
    }

    func openUpload(_ id: String) throws -> any UploadBytes { try OpenUploadFile(UploadFile(folder, id)) }
}

/// An open file of an upload.
private final class OpenUploadFile: UploadBytes {
    let place: String
    private let file: UploadFile
    private let descriptor: Int32

    /// Bytes in memory at once.
    private static let pieceSize = 65_536

    init(_ file: UploadFile) throws {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { throw UploadedLogsGone() }
            throw file.failure(.read)
        }
        (self.file, self.descriptor, place) = (file, descriptor, file.path)
    }

    deinit { close(descriptor) }

    func read(at offset: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
            var got = pread(descriptor, buffer.baseAddress, buffer.count, offset)
            while got < 0, errno == EINTR { got = pread(descriptor, buffer.baseAddress, buffer.count, offset) }
            guard got >= 0 else { throw file.failure(.read) }
            count = got
        }
    }
}
