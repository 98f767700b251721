// SPDX-License-Identifier: Apache-2.0

import Glibc
import Host

/// The lock of a running gateway on its state folder, taken by a command that needs a stopped one.
struct StateLock {
    private let descriptor: Int32

    /// - Throws: `BackupProblem` while a gateway holds the lock, and where the disk has no locks.
    init(_ state: String) throws(BackupProblem) {
        let path = state + "/lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o640)
        guard descriptor >= 0 else {
            let code = errno
            let remedy =
                code == ENOENT
                ? "make the folder for the gateway's user: install -d -m 750 -o herald -g herald \(state)"
                : "run the command as root"
            throw BackupProblem("\(path) cannot be written: \(SystemError.text(code)); \(remedy)")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK else {
                throw BackupProblem(
                    "\(path) cannot be locked: \(SystemError.text(code)), so a gateway may run on \(state); restore on a disk "
                        + "with locks. Nothing was changed")
            }
            throw BackupProblem("a gateway runs on \(state); stop it first: systemctl stop herald. Nothing was changed")
        }
    }

    /// Lets the next gateway start.
    func release() { close(descriptor) }
}
