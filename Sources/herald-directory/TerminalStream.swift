// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Escapes a long text for a terminal, in pieces of bytes that may end within a character.
struct TerminalStream {
    /// The first bytes of a character that the next piece completes.
    private var open: [UInt8] = []
    private var isAtLineStart = true

    /// The next piece, with control and invisible characters as escapes; line breaks stay.
    mutating func next(_ piece: [UInt8]) -> String {
        let bytes = open + piece
        let whole = bytes.count - Self.openEnd(bytes)
        open = Array(bytes[whole...])
        return visible(bytes[..<whole])
    }

    /// The remaining bytes, and a line break if the text does not end with one.
    mutating func end() -> String {
        let rest = visible(open[...])
        open = []
        return isAtLineStart ? rest : rest + "\n"
    }

    /// Invalid UTF-8 becomes U+FFFD.
    private mutating func visible(_ bytes: ArraySlice<UInt8>) -> String {
        if let last = bytes.last { isAtLineStart = last == UInt8(ascii: "\n") }
        return TerminalText.visibleLines(String(decoding: bytes, as: UTF8.self))
    }

    /// The count of trailing bytes that begin an incomplete character (RFC 3629 §3).
    private static func openEnd(_ bytes: [UInt8]) -> Int {
        for (place, byte) in bytes.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > place + 1 ? place + 1 : 0
        }
        return 0
    }
}
