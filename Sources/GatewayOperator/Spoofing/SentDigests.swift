// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives

/// The keys of digests that the webhook has taken, in the file `spoofing-digests` of the state folder.
///
/// One task reads and writes it. A lost file sends the digests of two days again, with the same keys.
struct SentDigests {
    private let path: String
    private var keys: Set<String>

    init(folder: String) {
        path = folder + "/spoofing-digests"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        keys = Set(text.split(separator: "\n").map(String.init))
    }

    func contains(_ key: String) -> Bool { keys.contains(key) }

    /// Adds a key, and forgets those of no alarm that is still read.
    ///
    /// - Throws: `FileReplacementError` if the file cannot be written.
    mutating func add(_ key: String, keeping current: Set<String>) throws(FileReplacementError) {
        keys = keys.intersection(current).union([key])
        let text = keys.sorted().map { $0 + "\n" }.joined()
        try FileReplacement.write(Array(text.utf8), to: path, mode: 0o640)
    }
}
