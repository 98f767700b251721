// SPDX-License-Identifier: Apache-2.0

import Glibc
import Host

/// The lock of a running gateway on its state folder, taken by a command that needs a stopped one.
struct StateLock {
    private let descriptor: Int32

    /// - Throws: `BackupProblem` while a gateway holds the lock.
    init(_ state: String) throws(BackupProblem) {
        let path = state + "/lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else {
            let code = errno
            let remedy =
                code == ENOENT
                ? "make the folder for the gateway's user: install -d -m 750 -o herald -g herald \(state)"
                : "run the command as root"
            throw BackupProblem("\(path) cannot be written: \(SystemError.text(code)); \(remedy)")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            close(descriptor)
            throw BackupProblem("a gateway runs on \(state); stop it first: systemctl stop herald. Nothing was changed")
        }
    }

    /// Lets the next gateway start.
    func release() { close(descriptor) }
}
