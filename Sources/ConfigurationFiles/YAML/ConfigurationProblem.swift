// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A problem in a configuration file, with its position.
///
/// Printed as `herald.yaml:12:5: trunks[0].regoin: unknown key; did you mean "region"?`, a format that editors can
/// open.
package struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
    /// Path of the file.
    package let file: String
    /// Counts from 1; 0 if the problem has no position.
    package let line: Int
    /// Counts from 1; 0 if the problem has no position.
    package let column: Int
    /// Path of the key, such as `trunks[0].region`; empty for the whole file.
    package let key: String
    /// The problem and its remedy; never a secret.
    package let message: String

    package var description: String {
        let place = line > 0 ? "\(file):\(line):\(column)" : file
        return TerminalText.visible(key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)")
    }
}

/// A rejected configuration with all its problems. Nothing was started or changed.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// In the order of the file; at least one.
    package let problems: [ConfigurationProblem]

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Collects problems while a file is read, so that one run reports all of them.
final class ProblemList {
    private let file: String
    private(set) var problems: [ConfigurationProblem] = []

    init(file: String) { self.file = file }

    /// - Parameter other: a file that the configuration names; nil for the configuration file.
    func add(_ message: String, inFile other: String? = nil, key: String, line: Int, column: Int) {
        problems.append(
            ConfigurationProblem(file: other ?? file, line: line, column: column, key: key, message: message))
    }
}
