// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GRDB
import Glibc
import Primitives

/// The files beside a directory's database: uploaded logos, and long logs of devices.
///
/// They are in folders beside the backup, as the folders of the state are. The name of a logo is the hash of its bytes, so
/// only the right bytes are taken. The bytes of a log are known by their count alone.
struct RestoredFiles {
    /// The folder of the backup.
    let source: String
    /// The state folder.
    let folder: String

    /// The files that a database names.
    struct Named {
        /// The name of each logo with its hash.
        let logos: [(name: String, hash: String)]
        /// The logs with their sizes.
        let uploads: [(id: String, size: Int)]

        init(_ path: String) throws {
            var configuration = Configuration()
            (configuration.readonly, configuration.qos) = (true, .default)
            (logos, uploads) = try DatabaseQueue(path: path, configuration: configuration).read { database in
                (
                    try Row.fetchAll(database, sql: "SELECT name, hash FROM logo ORDER BY name").map { ($0[0], $0[1]) },
                    try Row.fetchAll(database, sql: "SELECT id, size FROM upload WHERE completed IS NOT NULL")
                        .map { ($0[0], $0[1]) }
                )
            }
        }
    }

    /// The outcome of a restore of files.
    struct Outcome {
        var copied = 0
        /// Names of logos that neither folder has.
        var missingLogos: [String] = []
        var missingUploads = 0
    }

    /// Copies the named files that the state folder lacks.
    ///
    /// - Parameter writes: false to look only.
    /// - Throws: `FileReplacementError`.
    func run(_ named: Named, writes: Bool) throws -> Outcome {
        var outcome = Outcome()
        for (name, hash) in named.logos {
            let file = "logos/" + hash
            guard hash.utf8.count == 64, hash.utf8.allSatisfy(Self.isHexadecimal) else {
                outcome.missingLogos.append(name)
                continue
            }
            if let bytes = Self.bytes(folder + "/" + file, limit: LogoStore.limit), Self.hash(bytes) == hash {
                continue
            }
            guard let bytes = Self.bytes(source + "/" + file, limit: LogoStore.limit), Self.hash(bytes) == hash else {
                // The small copy of a logo begins with a dot; it is made again with the logo.
                if !name.hasPrefix(".") { outcome.missingLogos.append(name) }
                continue
            }
            if writes { try write(bytes, file) }
            outcome.copied += 1
        }
        for (id, size) in named.uploads where UUID(uuidString: id) != nil {
            let file = "uploads/" + id
            if access(folder + "/" + file, F_OK) == 0 { continue }
            guard let bytes = Self.bytes(source + "/" + file, limit: size), bytes.count == size else {
                outcome.missingUploads += 1
                continue
            }
            if writes { try write(bytes, file) }
            outcome.copied += 1
        }
        return outcome
    }

    private func write(_ bytes: Data, _ file: String) throws {
        let path = folder + "/" + file
        let parent = (path as NSString).deletingLastPathComponent
        if mkdir(parent, 0o750) == 0 { StateOwner.adopt(parent, in: folder) }
        try FileReplacement.write([UInt8](bytes), to: path, mode: 0o640)
        StateOwner.adopt(path, in: folder)
    }

    /// The bytes of a regular file; nil for a missing, a larger or another one.
    private static func bytes(_ path: String, limit: Int) -> Data? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
            return nil
        }
        return (try? file.read(upToCount: limit)) ?? Data()
    }

    private static func hash(_ bytes: Data) -> String { Hexadecimal.text(SHA256.hash(data: bytes)) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
