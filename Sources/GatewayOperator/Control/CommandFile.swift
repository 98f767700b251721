// SPDX-License-Identifier: Apache-2.0

package import Foundation
import GatewayConfiguration
import Host

/// A file that a command reads.
package enum CommandFile {
    /// Largest size: 16 MiB.
    private static let limit = 16 << 20

    /// Reads a whole file.
    ///
    /// - Throws: `CommandFailure` with the system's reason.
    package static func read(_ path: String) throws -> Data {
        guard let data = FileManager.default.contents(atPath: path) else {
            let code = access(path, R_OK) == 0 ? 0 : errno
            throw CommandFailure(
                "\(path) cannot be read: \(SystemError.ofReading(path))\(remedy(for: code, path: path))")
        }
        guard data.count <= limit else {
            throw CommandFailure("\(path) has more than \(limit) bytes; paste one message")
        }
        return data
    }

    /// The remedy for an error of the system; empty for one without.
    static func remedy(for code: Int32, path: String) -> String {
        code == EACCES ? "; pass it by standard input: - in its place, and <\(path)" : ""
    }
}
