// SPDX-License-Identifier: Apache-2.0

import Foundation
import SystemReasons

/// A folder that no other gateway uses while this lives; the end of the process, of whatever kind, gives it back.
///
/// Two gateways on one folder would each take the other's calls from the ring and send its events.
final class FolderClaim: Sendable {
    private let descriptor: Int32

    /// - Parameter key: where the configuration names the folder.
    /// - Throws: `CommandFailure` when another gateway has it, or its lock file cannot be made.
    init(_ folder: String, key: String) throws {
        let path = folder + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else {
            let code = errno
            // Calls are carried with a full disk too; only a second gateway would go unnoticed.
            if code == ENOSPC || code == EDQUOT {
                self.descriptor = -1
                return
            }
            throw CommandFailure("\(path) cannot be written: \(SystemReason.text(code)); see \(key)")
        }
        // A file system without locks keeps nobody out.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            close(descriptor)
            throw CommandFailure(
                "another herald uses the folder \(folder); stop it, or give this one a \(key) of its own")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
