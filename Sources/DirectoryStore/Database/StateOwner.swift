// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The owner of the state folder, who is the server's user.
///
/// A command that root runs without `sudo -u` must create no file that the server cannot write.
enum StateOwner {
    /// Changes the owner of a file or folder created by root to the owner of its folder; does nothing for other users.
    static func adopt(_ path: String, in folder: String) {
        var status = stat()
        guard geteuid() == 0, stat(folder, &status) == 0, status.st_uid != 0 else { return }
        _ = lchown(path, status.st_uid, status.st_gid)
    }

    /// The ownership problem of a state folder or of files in it, with the remedy; nil when ownership is not the cause.
    static func problem(in folder: String, _ files: [String] = []) -> String? {
        for path in files + [folder] {
            var status = stat()
            guard stat(path, &status) == 0, status.st_uid != geteuid(), access(path, R_OK | W_OK) != 0 else { continue }
            let (owner, user) = (name(status.st_uid), name(geteuid()))
            return """
                \(path) belongs to \(owner), and this is \(user). Run the command as that user, with sudo -u \(owner). Only \
                if the directory itself runs as \(user), give the folder back as root with chown -R \(user): \(folder)
                """
        }
        return nil
    }

    /// The name of a user, or its number without a name.
    private static func name(_ id: uid_t) -> String {
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        var buffer = [CChar](repeating: 0, count: 4096)
        guard getpwuid_r(id, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return "user \(id)" }
        return String(cString: entry.pw_name)
    }
}
