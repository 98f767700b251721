// SPDX-License-Identifier: Apache-2.0

import Foundation

extension HeraldConfiguration {
    /// Whether the files and variables that hold secrets are looked at.
    package enum Secrets: Sendable {
        case read
        /// For commands that need none, and may not be allowed to read them.
        case ignored
    }

    /// Reads and checks a file; relative paths in it start from its own folder.
    ///
    /// - Throws: `ConfigurationError` with every problem found, in the order of the file.
    package static func load(
        path: String, secrets: Secrets = .read, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> HeraldConfiguration {
        let file = try ConfigurationFile(path: path, environment: environment)
        return try file.read { root in HeraldSchema(file: file, root: root, secrets: secrets).read() }
    }
}
