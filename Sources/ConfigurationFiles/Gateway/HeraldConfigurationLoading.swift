// SPDX-License-Identifier: Apache-2.0

import Foundation

extension HeraldConfiguration {
    /// Controls whether secrets are read from files and environment variables.
    package enum Secrets: Sendable {
        case read
        /// For commands that need no secret and may lack the permission to read one.
        case ignored
    }

    /// Controls whether the list files of routes are read.
    package enum Lists: Sendable {
        case read
        /// For commands that need no called numbers.
        case ignored
    }

    /// Reads and checks a file.
    ///
    /// Relative paths start at the file's folder.
    ///
    /// - Throws: `ConfigurationError` with every problem, in the order of the file.
    package static func load(
        path: String, secrets: Secrets = .read, lists: Lists = .read,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> HeraldConfiguration {
        let file = try ConfigurationFile(path: path, environment: environment)
        return try file.read(
            { root in HeraldSchema(file: file, root: root, secrets: secrets, lists: lists).read() },
            values: { $0.values = $1 })
    }

    /// Checks a text that is not in its file yet.
    ///
    /// - Parameter path: the later path of the file. Relative paths start at its folder.
    /// - Throws: `ConfigurationError` with every problem, in the order of the text.
    package static func load(
        text: String, path: String, secrets: Secrets = .read
    ) throws(ConfigurationError) -> HeraldConfiguration {
        let file = ConfigurationFile(path: path, text: text)
        return try file.read { root in HeraldSchema(file: file, root: root, secrets: secrets).read() }
    }
}
