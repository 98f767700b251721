// SPDX-License-Identifier: Apache-2.0

import Glibc
import Host
import Primitives

/// The use of a state folder by the programs that open its database (flock(2)); held as long as this value lives.
///
/// Server and commands use it together. A restore uses it alone.
final class StateUse: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Begins a use beside others.
    ///
    /// - Parameter creates: false for a folder without a database, which may be mistyped.
    /// - Returns: nil where the folder has no lock and gets none; a disk without locks stops no program.
    /// - Throws: `DirectoryDatabaseError` during a restore.
    static func beside(in folder: String, creates: Bool) throws(DirectoryDatabaseError) -> StateUse? {
        let path = folder + "/lock"
        let isNew = access(path, F_OK) != 0
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (creates ? O_CREAT : 0), 0o640)
        guard descriptor >= 0 else { return nil }
        let use = StateUse(descriptor)
        if isNew { StateOwner.adopt(path, in: folder) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            throw DirectoryDatabaseError(path: folder + "/directory.sqlite", problem: .restoring)
        }
        return use
    }

    /// Begins a use without any other.
    ///
    /// - Throws: `RestoreProblem` while another program uses the folder, and where the disk has no locks.
    static func alone(in folder: String) throws(RestoreProblem) -> StateUse {
        let path = folder + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o640)
        guard descriptor >= 0 else {
            let code = errno
            let remedy =
                code == ENOENT
                ? "make the folder for the server's user: install -d -m 750 -o herald -g herald \(folder)"
                : "run the command as the server's user: sudo -u herald"
            throw RestoreProblem("\(path) cannot be written: \(SystemError.text(code)); \(remedy)")
        }
        let use = StateUse(descriptor)
        StateOwner.adopt(path, in: folder)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            guard code == EWOULDBLOCK else {
                throw RestoreProblem(
                    "\(path) cannot be locked: \(SystemError.text(code)), so a server may use \(folder); restore on a disk with "
                        + "locks. Nothing was changed")
            }
            throw inUse(folder)
        }
        guard !isOpen(folder + "/directory.sqlite") else { throw inUse(folder) }
        return use
    }

    /// Whether a program has the file open without this lock: one of an earlier version, or a shell of SQLite.
    ///
    /// A connection in WAL mode holds SQLite's shared lock on the file until its end. To close the file drops the locks of this
    /// process on it, which has none.
    ///
    /// Source: SQLite, File Locking And Concurrency §3; fcntl(2), open file description locks.
    private static func isOpen(_ path: String) -> Bool {
        let file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return false }
        defer { close(file) }
        // The bytes of the pending, the reserved and the shared lock.
        var lock = Glibc.flock()
        (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (0x4000_0000, 512)
        return fcntl(file, queryOfOpenFile, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// F_OFD_GETLK, which sees the locks of this process too.
    private static let queryOfOpenFile: Int32 = 36

    private static func inUse(_ folder: String) -> RestoreProblem {
        RestoreProblem(
            "a program has the database of \(folder) open, such as the server; stop it first: systemctl stop herald-directory. "
                + "Nothing was changed")
    }
}
