// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Replaces a file atomically: after a crash or a power cut the old or the new file is complete.
///
/// Writes a draft beside the file, syncs it, then renames it. Blocks on the disk; never used on the call path. Owned by
/// one thread; `deinit` removes an uncommitted draft. Only one replacement of a path may run at a time.
package final class FileReplacement {
    private let path: String
    private let draft: String
    private let descriptor: CInt
    private var isCommitted = false

    /// Creates the draft of the file at `path`.
    ///
    /// - Parameter mode: permission bits, set when the draft is created.
    package init(of path: String, mode: UInt32 = 0o640) throws(FileReplacementError) {
        self.path = path
        draft = path + ".new"
        // A draft left by a crash may have wider permissions.
        unlink(draft)
        descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileReplacementError(path: draft, code: errno) }
    }

    deinit {
        close(descriptor)
        if !isCommitted { unlink(draft) }
    }

    /// Appends the bytes of all values.
    package func write(_ values: [some BitwiseCopyable]) throws(FileReplacementError) {
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

    /// Renames the draft over the file and syncs the folder.
    package func commit() throws(FileReplacementError) {
        guard fsync(descriptor) == 0, rename(draft, path) == 0 else {
            throw FileReplacementError(path: path, code: errno)
        }
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
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(FileReplacementError) {
        let file = try FileReplacement(of: path, mode: mode)
        try file.write(bytes)
        try file.commit()
    }
}

/// The reason why a file was not durably replaced.
///
/// Either the old file remains, or a power cut may undo the rename.
package struct FileReplacementError: Error, Hashable, CustomStringConvertible {
    /// The file or folder of the failed operation.
    package let path: String
    /// The errno of the failed system call.
    package let code: CInt

    package var description: String {
        "cannot write \(path): \(String(cString: strerror(code))); check space, owner and mode of the folder"
    }
}
