// SPDX-License-Identifier: Apache-2.0

/// One thing wrong in a configuration file, with its place.
///
/// Printed as `herald.yaml:12:5: trunks[0].regoin: unknown key; did you mean "region"?`, which editors can jump to.
package struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
    package let file: String
    /// Counted from 1; 0 where the file has no such place.
    package let line: Int
    package let column: Int
    /// The key's path, such as `trunks[0].region`; empty for the whole file.
    package let key: String
    /// What is wrong and what to do; never a secret.
    package let message: String

    package init(file: String, line: Int, column: Int, key: String, message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.message = message
    }

    package var description: String {
        let place = line > 0 ? "\(file):\(line):\(column)" : file
        return Self.visible(key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)")
    }

    /// Control characters as escapes: what stands in a file must not move a terminal's cursor.
    private static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
        return text.unicodeScalars.reduce(into: "") { out, scalar in
            if scalar.properties.generalCategory == .control {
                out += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
    }
}

/// A configuration that was refused whole, with everything that is wrong in it; nothing was started or changed.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// In the order of the file; at least one.
    package let problems: [ConfigurationProblem]

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Gathers problems while a file is read, so that one look shows all of them.
final class ProblemList {
    private let file: String
    private(set) var problems: [ConfigurationProblem] = []

    init(file: String) { self.file = file }

    func add(_ message: String, key: String, line: Int, column: Int) {
        problems.append(ConfigurationProblem(file: file, line: line, column: column, key: key, message: message))
    }
}
