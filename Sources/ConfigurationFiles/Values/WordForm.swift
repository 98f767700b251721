// SPDX-License-Identifier: Apache-2.0

/// Checks the form of names that appear in headers, metric labels, tables and paths of URLs.
enum WordForm {
    static let name = "1 to 64 letters, digits, dots, dashes or underscores, not dots alone"
    static let word = "1 to 64 printable ASCII characters without blanks"

    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (97...122).contains(byte | 0x20) || (48...57).contains(byte)
                    || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
            }
            // A client would take `/customers/../logos` for `/logos` (RFC 3986 §5.2.4).
            && !text.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
    }

    static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
