// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A small file in the state folder that only this user may read, replaced whole.
struct PrivateFile: Sendable {
    let path: String

    func read() -> Data? { FileManager.default.contents(atPath: path) }

    /// Writes beside the file and renames: a crash leaves the old content or the new one.
    func write(_ data: Data) throws {
        let temporary = path + ".new"
        try? FileManager.default.removeItem(atPath: temporary)
        guard
            FileManager.default.createFile(
                atPath: temporary, contents: data, attributes: [.posixPermissions: 0o600]),
            rename(temporary, path) == 0
        else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
