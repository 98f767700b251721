// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Foundation

/// Standard output of a command.
package enum Output {
    /// Writes text; a closed pipe ends the command, as SIGPIPE would.
    package static func write(_ text: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            exit(1)
        }
    }

    /// Writes a warning to the standard error output, so that the list stays readable for programs.
    package static func warn(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("warning: \(text)\n".utf8))
    }

    /// Writes one JSON object and a line end; keys in alphabetical order, unknown values left out.
    package static func write(json members: [String: JSONValue?]) throws { write(try line(json: members)) }

    /// One JSON object and a line end as text.
    package static func line(json members: [String: JSONValue?]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let object = JSONValue.object(members.compactMapValues { $0 })
        return String(decoding: try encoder.encode(object), as: UTF8.self) + "\n"
    }
}
