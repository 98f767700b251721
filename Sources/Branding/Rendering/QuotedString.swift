// SPDX-License-Identifier: Apache-2.0

/// Writes a quoted-string with escaped backslashes and quotes (RFC 3261 §25.1).
enum QuotedString {
    /// Appends the quoted text to `out`.
    ///
    /// The text must have no control characters.
    static func append(_ text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { out.append(UInt8(ascii: "\\")) }
            out.append(byte)
        }
        out.append(UInt8(ascii: "\""))
    }

    static func text(of text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
