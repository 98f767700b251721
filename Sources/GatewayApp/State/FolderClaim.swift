// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfiguration
import GatewayStore
import Host

/// A lock on a folder; released at deinit and at any end of the process.
///
/// Two gateways on one folder would read each other's call updates and send each other's events.
final class FolderClaim: Sendable {
    let folder: String
    /// Why the folder is not locked, with the remedy; nil where it is.
    let problem: String?
    private let descriptor: Int32
    private let path: String

    /// Locks the folder; a full or read-only disk sets `problem` and stops no call.
    ///
    /// - Parameter key: the configuration key that names the folder.
    /// - Throws: `CommandFailure` when another gateway holds the lock.
    init(_ folder: String, key: String) throws {
        self.folder = folder
        path = folder + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
        self.descriptor = descriptor
        guard descriptor >= 0 else {
            problem = "\(path) cannot be written: \(SystemError.text(errno)); see \(key), its owner and its space"
            return
        }
        problem = nil
        // A file system without locks gives another error; the gateway starts without a lock.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            throw CommandFailure(
                "another herald uses the folder \(folder); stop it, or give this one a \(key) of its own")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether the folder was removed or replaced, so that files written since then are lost with the process, or is closed
    /// to this process.
    var standing: FileIdentity.Standing {
        guard descriptor >= 0 else { return .inPlace }
        return FileIdentity.standing(of: FileIdentity(descriptor), at: path)
    }

    /// The problem of a closed folder, with the remedy.
    func closed(_ code: CInt) -> String {
        """
        the folder \(folder) is closed to herald: \(SystemError.text(code)); calls go on, but files in it can be neither opened \
        nor replaced; give it back to the user herald runs as with chown, and its mode with chmod 750
        """
    }
}
