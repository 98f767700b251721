// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Replaces a file atomically: after a crash or a power cut the old or the new file is complete.
///
/// Writes a draft beside the file, syncs it, then renames it. Blocks on the disk; never used on the call path. Owned by
/// one thread; `deinit` removes an uncommitted draft. Only one replacement of a path may run at a time.
public final class FileReplacement {
    private let path: String
    private let draft: String
    private let descriptor: CInt
    private var isCommitted = false

    /// Creates the draft of the file at `path`.
    ///
    /// - Parameters:
    ///   - mode: permission bits, set when the draft is created.
    ///   - replacesDraft: false if a file with the draft's name must stay, because the folder is the operator's.
    public init(of path: String, mode: UInt32 = 0o640, replacesDraft: Bool = true) throws(FileReplacementError) {
        self.path = path
        draft = path + ".new"
        // A draft left by a crash may have wider permissions.
        if replacesDraft { unlink(draft) }
        descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileReplacementError(path: draft, code: errno) }
    }

    deinit {
        // Without a descriptor the draft is another file.
        guard descriptor >= 0 else { return }
        close(descriptor)
        if !isCommitted { unlink(draft) }
    }

    /// Appends the bytes of all values.
    public func write(_ values: [some BitwiseCopyable]) throws(FileReplacementError) {
        let code = values.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return errno }
                rest = rest.dropFirst(written)
            }
            return 0
        }
        if code != 0 { throw FileReplacementError(path: path, code: code) }
    }

    /// Gives the draft the owner and group of the present file, and its group's permission to read.
    ///
    /// Others lose the permission to read. A missing file changes nothing.
    public func keepOwner() throws(FileReplacementError) {
        var (old, new) = (stat(), stat())
        guard lstat(path, &old) == 0, old.st_mode & S_IFMT == S_IFREG, fstat(descriptor, &new) == 0 else { return }
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
            guard fchown(descriptor, old.st_uid, old.st_gid) == 0 else {
                throw FileReplacementError(path: path, code: errno)
            }
        }
        guard fchmod(descriptor, 0o600 | old.st_mode & 0o040) == 0 else {
            throw FileReplacementError(path: path, code: errno)
        }
    }

    /// Gives the draft a group, by its number, whose members may read it. Others may not.
    ///
    /// The mode at its creation is subject to the umask of the caller. A caller who may not set the group keeps its own.
    public func share(withGroup group: UInt32) throws(FileReplacementError) {
        guard fchown(descriptor, uid_t.max, group) == 0 || errno == EPERM, fchmod(descriptor, 0o640) == 0 else {
            throw FileReplacementError(path: path, code: errno)
        }
    }

    /// Renames the draft over the file and syncs the folder.
    ///
    /// - Parameter replaces: false if a present file must stay; the error then has EEXIST.
    public func commit(replaces: Bool = true) throws(FileReplacementError) {
        guard fsync(descriptor) == 0, (replaces ? rename(draft, path) : link(draft, path)) == 0 else {
            throw FileReplacementError(path: path, code: errno)
        }
        if !replaces { unlink(draft) }
        isCommitted = true
        // The rename is durable only after a sync of the folder.
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let folderDescriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folderDescriptor >= 0 else { throw FileReplacementError(path: folder, code: errno) }
        defer { close(folderDescriptor) }
        guard fsync(folderDescriptor) == 0 else { throw FileReplacementError(path: folder, code: errno) }
    }
}

extension FileReplacement {
    /// Replaces a file with `bytes`.
    public static func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(FileReplacementError) {
        let file = try FileReplacement(of: path, mode: mode)
        try file.write(bytes)
        try file.commit()
    }
}

/// The reason why a file was not durably replaced.
///
/// Either the old file remains, or a power cut may undo the rename.
public struct FileReplacementError: Error, Hashable, CustomStringConvertible {
    /// The file or folder of the failed operation.
    public let path: String
    /// The errno of the failed system call.
    public let code: CInt

    public init(path: String, code: CInt) { (self.path, self.code) = (path, code) }

    /// The text of the errno.
    public var reason: String { String(cString: strerror(code)) }

    public var description: String {
        "cannot write \(path): \(reason); "
            + (code == EEXIST ? "remove or rename this file" : "check space, owner and mode of the folder")
    }
}
