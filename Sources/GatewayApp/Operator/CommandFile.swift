// SPDX-License-Identifier: Apache-2.0

package import Foundation
import HostSystem

/// A file that a command reads.
package enum CommandFile {
    /// Largest size: 16 MiB.
    private static let limit = 16 << 20

    /// Reads a whole file.
    ///
    /// - Throws: `CommandFailure` with the system's reason.
    package static func read(_ path: String) throws -> Data {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("\(path) cannot be read: \(SystemError.ofReading(path))")
        }
        guard data.count <= limit else {
            throw CommandFailure("\(path) has more than \(limit) bytes; paste one message")
        }
        return data
    }
}
