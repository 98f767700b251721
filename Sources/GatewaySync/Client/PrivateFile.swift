// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation

/// A small file in the state folder that only this user may read, replaced whole.
struct PrivateFile: Sendable {
    let path: String

    func read() -> Data? { FileManager.default.contents(atPath: path) }

    /// Replaces the content; after a crash or a power cut there is the old one or the new one.
    func write(_ data: Data) throws(FileReplacementError) {
        try FileReplacement.write([UInt8](data), to: path, mode: 0o600)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
