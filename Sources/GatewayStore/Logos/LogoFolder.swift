// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import Synchronization

/// The folder `logos` in the state folder: one file for each form of a picture, named by the picture's content.
///
/// A file is there whole or not at all, and never changes. Safe from any thread; blocks for the disk.
final class LogoFolder: Sendable {
    private let path: String
    /// Held while a file is written: two pictures may be the same one, under the same temporary name.
    private let writing = Mutex(())

    init(stateFolder: String) { path = stateFolder + "/logos" }

    /// Largest file ever read, in bytes; larger than any that is written.
    static let readLimit = 16 << 20

    /// Makes the folder where it is missing.
    func prepare() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
    }

    /// Writes a file whole, with mode 0640; one of the same name has the same content and is replaced.
    func write(_ bytes: [UInt8], to name: String) throws(LogoFolderError) {
        do throws(FileReplacementError) {
            try writing.withLock { _ throws(FileReplacementError) in
                try FileReplacement.write(bytes, to: "\(path)/\(name)", mode: 0o640)
            }
        } catch {
            throw LogoFolderError(path: error.path, code: error.code)
        }
    }

    /// The bytes of a file; nil for a name that is none, or leads elsewhere.
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

    /// The names of everything in the folder.
    var names: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []) }

    /// Removes what a crash left half written, and every other file the database does not know.
    func removeAll(but known: Set<String>) {
        for name in names.subtracting(known) where !name.contains("/") {
            try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
    }

    /// True for `HASH-HxW.ext`: only what is named so was written here.
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

/// The folder of logos cannot be written; calls are not concerned.
package struct LogoFolderError: Error, Hashable, CustomStringConvertible {
    package let path: String
    package let code: CInt

    package var description: String {
        "cannot write \(path): \(String(cString: strerror(code))); check space, owner and mode of the folder"
    }
}
