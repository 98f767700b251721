// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A file that only its owner can read, from its first byte on.
enum PrivateFile {
    /// Writes the file whole, or leaves what was there; one that is replaced passes its owner and group on, and
    /// whether the group may read it.
    ///
    /// A gateway runs as another user than the operator who gives it a new key.
    /// - Throws: `CommandFailure` that names the file.
    static func write(_ text: String, to path: String) throws {
        let draft = path + ".new"
        // O_EXCL: never through a link or into a file that somebody put there.
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(path) }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        do {
            try handOver(file, ownedAs: path)
            try handle.write(contentsOf: Data(text.utf8))
            try handle.synchronize()
        } catch {
            let failure = failure(path)
            unlink(draft)
            throw failure
        }
        guard rename(draft, path) == 0 else {
            let failure = failure(path)
            unlink(draft)
            throw failure
        }
    }

    private static func handOver(_ file: Int32, ownedAs path: String) throws {
        var (old, new) = (stat(), stat())
        guard lstat(path, &old) == 0, old.st_mode & S_IFMT == S_IFREG, fstat(file, &new) == 0 else { return }
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
            guard fchown(file, old.st_uid, old.st_gid) == 0 else { throw POSIXError(.EPERM) }
        }
        // What others could read they cannot any more.
        guard fchmod(file, 0o600 | old.st_mode & 0o040) == 0 else { throw POSIXError(.EPERM) }
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(
            "\(path) cannot be written: \(String(cString: strerror(errno))) (\(path).new must not exist either)")
    }
}
