// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Files that only their owner can read, from their first byte on: secrets, tokens, keys and backups.
public enum PrivateFile {
    private static var mode: UInt32 { 0o600 }

    /// Creates a file that does not exist yet and opens it for writing; the caller closes the descriptor.
    ///
    /// It never follows a link and never opens a file that another user put there.
    public static func create(_ path: String) throws(FileReplacementError) -> CInt {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { throw FileReplacementError(path: path, code: errno) }
        return file
    }

    /// Replaces a file as a whole: after a crash or a power cut it has its old or its new content.
    ///
    /// - Parameter keepsOwner: true for a file of the operator. It keeps owner, group and the group's permission to read,
    ///   because a gateway runs as another user than the operator who writes its key. A file beside it that has the
    ///   draft's name is then an error.
    public static func write(
        _ bytes: [UInt8], to path: String, keepsOwner: Bool = false
    ) throws(FileReplacementError) {
        let file = try FileReplacement(of: path, mode: mode, replacesDraft: !keepsOwner)
        if keepsOwner { try file.keepOwner() }
        try file.write(bytes)
        try file.commit()
    }
}
