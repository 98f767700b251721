// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A new file that takes the place of another whole: after a crash or a power cut there is the old one or the new one.
///
/// Written beside it, forced to the disk, then renamed over it. Blocks for the disk; never on the call path. Owned by one
/// thread; what was not committed is removed in `deinit`. Nobody else may replace the same path at the same time.
package final class FileReplacement {
    private let path: String
    private let draft: String
    private let descriptor: CInt
    private var isCommitted = false

    /// Begins the file that is to stand at `path`.
    ///
    /// - Parameter mode: who may read it, from its first byte on.
    package init(of path: String, mode: UInt32 = 0o640) throws(FileReplacementError) {
        self.path = path
        draft = path + ".new"
        // What a crash left there may be readable for others.
        unlink(draft)
        descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileReplacementError(path: draft, code: errno) }
    }

    deinit {
        close(descriptor)
        if !isCommitted { unlink(draft) }
    }

    /// Writes all values at the end.
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

    /// Puts the new file in the place of the old one and makes both steps last.
    package func commit() throws(FileReplacementError) {
        guard fsync(descriptor) == 0, rename(draft, path) == 0 else {
            throw FileReplacementError(path: path, code: errno)
        }
        isCommitted = true
        // The rename itself is on disk only when the folder is.
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let folderDescriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folderDescriptor >= 0 else { throw FileReplacementError(path: folder, code: errno) }
        defer { close(folderDescriptor) }
        guard fsync(folderDescriptor) == 0 else { throw FileReplacementError(path: folder, code: errno) }
    }
}

extension FileReplacement {
    /// Replaces a file by the bytes given.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(FileReplacementError) {
        let file = try FileReplacement(of: path, mode: mode)
        try file.write(bytes)
        try file.commit()
    }
}

/// Why a file was not replaced for certain: there is the old one still, or the new one that a power cut may take away.
package struct FileReplacementError: Error, Hashable, CustomStringConvertible {
    package let path: String
    /// The system's errno.
    package let code: CInt

    package var description: String {
        "cannot write \(path): \(String(cString: strerror(code))); check space, owner and mode of the folder"
    }
}
