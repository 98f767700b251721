// SPDX-License-Identifier: Apache-2.0

import Foundation
import HostSystem

/// Files that only their owner can read, from their first byte on.
package enum PrivateFile {
    /// The system's refusal of such a file.
    package struct Failure: Error, Hashable, CustomStringConvertible {
        package let path: String
        package let reason: String

        package var description: String { "\(path) cannot be written: \(reason)" }

        /// The last error of the system (`errno`).
        init(_ path: String) { (self.path, reason) = (path, SystemError.text(errno)) }
    }

    /// Creates a file that does not exist yet and opens it for writing; the caller closes the descriptor.
    ///
    /// It never follows a link and never opens a file that another user put there.
    package static func create(_ path: String) throws(Failure) -> Int32 {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(path) }
        return file
    }

    /// Replaces a file in one step, through the draft `path.new`, which must not exist.
    ///
    /// The new file keeps the owner and group of the old one, and the group's permission to read: a gateway runs as another
    /// user than the operator who writes its key.
    package static func write(_ text: String, to path: String) throws(Failure) {
        let draft = path + ".new"
        let file = try create(draft)
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        do {
            try keepOwner(file, of: path)
            try handle.write(contentsOf: Data(text.utf8))
            try handle.synchronize()
            guard rename(draft, path) == 0 else { throw Failure(path) }
        } catch {
            let failure = error as? Failure ?? Failure(path)
            unlink(draft)
            throw failure
        }
    }

    private static func keepOwner(_ file: Int32, of path: String) throws {
        var (old, new) = (stat(), stat())
        guard lstat(path, &old) == 0, old.st_mode & S_IFMT == S_IFREG, fstat(file, &new) == 0 else { return }
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
            guard fchown(file, old.st_uid, old.st_gid) == 0 else { throw Failure(path) }
        }
        // Others lose the permission to read.
        guard fchmod(file, 0o600 | old.st_mode & 0o040) == 0 else { throw Failure(path) }
    }
}
