// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The contents of the files that a configuration names, each as a hash of this process.
///
/// They show that a key, a certificate or a list has changed under the same name. No content can be found from its hash.
final class ReadContents {
    /// Largest file that is read for its hash alone: 1 MiB.
    private static let limit = 1 << 20

    /// By the path of the key, such as `directory.api_key_file`.
    private(set) var hashes: [String: Int] = [:]

    /// Adds a content that was read under a key; several contents of one key count in their order.
    func add(_ content: Data, at path: String) {
        var hasher = Hasher()
        hasher.combine(hashes[path])
        // The hash of Data itself takes its first bytes alone.
        content.withUnsafeBytes { hasher.combine(bytes: $0) }
        hashes[path] = hasher.finalize()
    }

    /// Adds the content of a file that the schema itself does not read; larger files are left out.
    func add(fileAt file: String, at path: String) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        guard let size = attributes?[.size] as? Int, size <= Self.limit,
            attributes?[.type] as? FileAttributeType == .typeRegular,
            let data = FileManager.default.contents(atPath: file)
        else { return }
        add(data, at: path)
    }
}
