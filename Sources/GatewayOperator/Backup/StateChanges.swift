// SPDX-License-Identifier: Apache-2.0

import Glibc
import Host

/// The changes of a restore in a state folder, one system call each.
struct StateChanges: Sendable {
    /// Called before each change with its path; an error number lets the change fail, as a full disk does.
    var failure: @Sendable (_ path: String) -> Int32? = { _ in nil }

    /// A second name for a file.
    func link(_ path: String, to other: String) throws(BackupProblem) {
        try change(other, "made") { Glibc.link(path, other) }
    }

    /// Another name for a file, in place of one that is there.
    func rename(_ path: String, to other: String) throws(BackupProblem) {
        try change(other, "replaced") { Glibc.rename(path, other) }
    }

    /// Removes a file; a missing one is no error.
    func remove(_ path: String) throws(BackupProblem) {
        try change(path, "removed") { unlink(path) == 0 || errno == ENOENT ? 0 : -1 }
    }

    /// Fails for a path whose change is made by other means, and is to fail.
    func allow(_ path: String) throws(BackupProblem) { try change(path, "written") { 0 } }

    private func change(_ path: String, _ verb: String, _ call: () -> Int32) throws(BackupProblem) {
        guard let code = failure(path) ?? (call() == 0 ? nil : errno) else { return }
        throw BackupProblem("\(path) cannot be \(verb): \(SystemError.text(code))")
    }

    /// Waits until the names of a folder are on the disk; a folder that cannot be synced is left.
    static func sync(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// The number (inode) of a file; nil without one.
    static func number(of path: String) -> UInt64? {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }
}
