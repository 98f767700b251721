// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The customer's key for the directory. Prints as `<redacted>` in every text and log.
package struct APIKey: Hashable, Sendable, Redacted {
    /// The value of the `X-API-Key` header. No other code may read it.
    let value: String

    /// Reads a key of 1 to 1024 visible ASCII characters, without surrounding blanks.
    ///
    /// - Returns: nil if the text cannot be a header value.
    package init?(_ text: some StringProtocol) {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        let bytes = text.utf8.drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }.reversed()
        guard !bytes.isEmpty, bytes.count <= 1024, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        value = String(decoding: Array(bytes), as: UTF8.self)
    }

    /// Returns the text without the key, in case a server has echoed it.
    func redacting(_ text: String) -> String {
        text.split(separator: value, omittingEmptySubsequences: false).joined(separator: "<redacted>")
    }
}
