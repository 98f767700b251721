// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import HostSystem

/// A folder that no other gateway uses while this lives; the end of the process, of whatever kind, gives it back.
///
/// Two gateways on one folder would each take the other's calls from the ring and send its events.
final class FolderClaim: Sendable {
    let folder: String
    /// Why nobody is kept out; nil where everybody is.
    let problem: String?
    private let descriptor: Int32
    private let path: String

    /// A lock that cannot be made, for a full or read-only disk, keeps nobody out and stops no call.
    ///
    /// - Parameter key: where the configuration names the folder.
    /// - Throws: `CommandFailure` when another gateway has it.
    init(_ folder: String, key: String) throws {
        self.folder = folder
        path = folder + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
        self.descriptor = descriptor
        guard descriptor >= 0 else {
            problem = "\(path) cannot be written: \(SystemReason.text(errno)); see \(key), its owner and its space"
            return
        }
        problem = nil
        // A file system without locks keeps nobody out.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            throw CommandFailure(
                "another herald uses the folder \(folder); stop it, or give this one a \(key) of its own")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// False once the folder was removed or replaced: what is written now is gone with the process.
    var isInPlace: Bool {
        guard descriptor >= 0 else { return true }
        return FileIdentity(descriptor) == FileIdentity(path)
    }
}
