// SPDX-License-Identifier: Apache-2.0

import Glibc
import Host

/// The owner of a state folder, to whom a command of root gives new files.
struct StateOwner {
    private let user: uid_t
    private let group: gid_t

    /// - Throws: `BackupProblem` for a folder that is not there.
    init(_ state: String) throws(BackupProblem) {
        var status = stat()
        guard stat(state, &status) == 0 else {
            throw BackupProblem("\(state) cannot be examined: \(SystemError.text(errno))")
        }
        (user, group) = (status.st_uid, status.st_gid)
    }

    /// Sets mode and owner of a file, and waits until it is on the disk.
    func take(_ path: String, mode: mode_t) throws(BackupProblem) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw BackupProblem("\(path) cannot be written: \(SystemError.text(errno))") }
        defer { close(descriptor) }
        guard fchmod(descriptor, mode) == 0, geteuid() != 0 || fchown(descriptor, user, group) == 0,
            fsync(descriptor) == 0
        else { throw BackupProblem("\(path) cannot be written: \(SystemError.text(errno))") }
    }

    /// Makes a folder for the owner and the group; one that is there stays as it is, and anything else is refused.
    func makeFolder(_ path: String) throws(BackupProblem) {
        guard mkdir(path, 0o750) == 0 else {
            let code = errno
            var status = stat()
            guard code == EEXIST, lstat(path, &status) == 0 else {
                throw BackupProblem("\(path) cannot be made: \(SystemError.text(code))")
            }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw BackupProblem("\(path) is no folder; move it away, and run the command again")
            }
            return
        }
        guard geteuid() != 0 || lchown(path, user, group) == 0 else {
            throw BackupProblem("\(path) cannot be given to its owner: \(SystemError.text(errno))")
        }
    }

    /// Makes the folders between `folder` and a file in it.
    func makeFolders(above path: String, in folder: String) throws(BackupProblem) {
        var made = folder
        for part in path.split(separator: "/").dropLast() {
            made += "/" + part
            try makeFolder(made)
        }
    }
}
