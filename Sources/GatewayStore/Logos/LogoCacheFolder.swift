// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import Primitives
import Synchronization

/// The folder `logos` in the state folder: one file for each form of a picture, named by the hash of the picture.
///
/// A file is complete and never changes. Safe from any thread; blocks for the disk.
final class LogoCacheFolder: Sendable {
    private let path: String
    /// Held while a file is written, because equal pictures share a temporary name.
    private let writing = Mutex(())

    init(stateFolder: String) { path = stateFolder + "/logos" }

    /// Largest readable file in bytes; larger than any written file.
    static let readLimit = 16 << 20

    /// Makes the folder if it is missing.
    func prepare() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
    }

    /// Writes a file atomically, with mode 0640; a file of the same name has the same content.
    func write(_ bytes: [UInt8], to name: String) throws(LogoFolderError) {
        do throws(FileReplacementError) {
            try writing.withLock { _ throws(FileReplacementError) in
                try FileReplacement.write(bytes, to: "\(path)/\(name)", mode: 0o640)
            }
        } catch {
            throw LogoFolderError(path: error.path, code: error.code)
        }
    }

    /// The bytes of a file; nil for an invalid or unknown name.
    func read(_ name: String) -> [UInt8]? {
        guard Self.isName(name), let handle = FileHandle(forReadingAtPath: "\(path)/\(name)") else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: Self.readLimit + 1), data.count <= Self.readLimit else {
            return nil
        }
        return [UInt8](data)
    }

    func remove(_ name: String) {
        guard Self.isName(name) else { return }
        try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }

    /// All names in the folder.
    var names: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []) }

    /// Removes partial files of a crash, and other files that the database does not list.
    func removeAll(but known: Set<String>) {
        for name in names.subtracting(known) where !name.contains("/") {
            try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
    }

    /// True for `HASH-HxW.ext`, the form of all names written here.
    static func isName(_ name: String) -> Bool {
        let hash = name.utf8.prefix(32)
        let rest = name.utf8.dropFirst(32)
        return hash.count == 32 && (5...24).contains(rest.count) && rest.first == UInt8(ascii: "-")
            && hash.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
            && rest.dropFirst().allSatisfy {
                (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: ".")
            }
    }
}

/// The folder of logos cannot be written; calls are not affected.
package struct LogoFolderError: Error, Hashable, CustomStringConvertible {
    package let path: String
    package let code: CInt

    package var description: String {
        "cannot write \(path): \(String(cString: strerror(code))); check space, owner and mode of the folder"
    }
}
