// SPDX-License-Identifier: Apache-2.0

/// Checks the form of names that appear in headers, metric labels and tables.
enum WordForm {
    static let name = "1 to 64 letters, digits, dots, dashes or underscores"
    static let word = "1 to 64 printable ASCII characters without blanks"

    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (97...122).contains(byte | 0x20) || (48...57).contains(byte)
                    || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
            }
    }

    static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
