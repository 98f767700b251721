// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation

/// A small file in the state folder, readable for this user only and replaced as a whole.
struct PrivateFile: Sendable {
    let path: String

    func read() -> Data? { FileManager.default.contents(atPath: path) }

    /// Replaces the content.
    ///
    /// After a crash or a power cut the file has its old or its new content.
    func write(_ data: Data) throws(FileReplacementError) {
        try FileReplacement.write([UInt8](data), to: path, mode: 0o600)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
