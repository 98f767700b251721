// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Host
import Primitives

/// The list of a backup's files with their sizes and checksums, `manifest.json` in its folder.
///
/// It is written last, so a folder without it is an incomplete backup.
struct BackupManifest: Hashable, Sendable, Codable {
    /// The name of the file.
    static let name = "manifest.json"
    /// The form that this program writes and reads.
    static let form = 1
    /// Largest manifest that is read: 4 MiB, that of some ten thousand customers.
    private static let limit = 4 << 20

    var format = form
    /// The version of the program that wrote it.
    var herald: String
    /// The name of the gateway.
    var gateway: String
    /// Seconds since 1970.
    var at: Int64
    var files: [Entry]
    /// SHA-256 over the entries, in hexadecimal.
    var checksum = ""

    /// A file of the backup.
    struct Entry: Hashable, Sendable, Codable {
        /// Relative to the folder of the backup.
        var path: String
        var bytes: Int
        /// In hexadecimal.
        var sha256: String
    }

    init(herald: String, gateway: String, at: Int64, files: [Entry]) {
        (self.herald, self.gateway, self.at, self.files) = (herald, gateway, at, files)
        checksum = Self.checksum(of: files)
    }

    /// Reads the manifest of a backup, and checks it but not its files.
    ///
    /// - Throws: `BackupProblem` for a folder that is no complete backup of this form.
    init(ofBackup folder: String) throws(BackupProblem) {
        let path = folder + "/" + Self.name
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw BackupProblem(
                "\(path) cannot be read: \(SystemError.ofReading(path)); name the folder of a complete backup")
        }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: Self.limit + 1), data.count <= Self.limit else {
            throw BackupProblem("\(path) is no manifest of a backup")
        }
        if let form = try? JSONDecoder().decode(Form.self, from: data), form.format != Self.form {
            throw BackupProblem("\(path) has the form \(form.format) of another herald; restore it with that version")
        }
        guard let manifest = try? JSONDecoder().decode(BackupManifest.self, from: data) else {
            throw BackupProblem("\(path) is no manifest of a backup")
        }
        guard manifest.checksum == Self.checksum(of: manifest.files) else {
            throw BackupProblem("\(path) is damaged: its entries do not fit its checksum; take another backup")
        }
        self = manifest
    }

    private struct Form: Decodable { let format: Int }

    private static func checksum(of files: [Entry]) -> String {
        let lines = files.map { "\($0.sha256) \($0.bytes) \($0.path)\n" }.joined()
        return hexadecimal(SHA256.hash(data: Data(lines.utf8)))
    }

    private static func hexadecimal(_ digest: SHA256.Digest) -> String {
        digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// Measures a regular file; a link is refused.
    ///
    /// - Throws: `BackupProblem` with path and cause.
    static func entry(_ path: String, in folder: String) throws(BackupProblem) -> Entry {
        let file = folder + "/" + path
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw BackupProblem("\(file) cannot be read: \(SystemError.text(errno))") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw BackupProblem("\(file) is no regular file")
        }
        var (hash, bytes) = (SHA256(), 0)
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(descriptor, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw BackupProblem("\(file) cannot be read: \(SystemError.text(errno))") }
            if count == 0 { break }
            block.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            bytes += count
        }
        return Entry(path: path, bytes: bytes, sha256: hexadecimal(hash.finalize()))
    }
}

/// Why a backup cannot be written or restored: thing, cause and remedy.
package struct BackupProblem: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ text: String) { description = TerminalText.visible(text) }
}
