// SPDX-License-Identifier: Apache-2.0

/// Quoted strings of SIP (RFC 3261 §25.1): a backslash takes the next character with it.
public enum QuotedString {
    /// Appends the quoted text to `out`; the text must have no control characters.
    public static func append(_ text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { out.append(UInt8(ascii: "\\")) }
            out.append(byte)
        }
        out.append(UInt8(ascii: "\""))
    }

    /// The quoted text.
    public static func text(of text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
