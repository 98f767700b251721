// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder for one test, removed with the last reference to it.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// Creates the folder; where that fails, the first use of the path fails.
    package init() {
        path = NSTemporaryDirectory() + "herald-test-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file in the folder and returns its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String { try write(Array(text.utf8), to: name) }

    /// Writes a file in the folder and returns its path.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }
}
