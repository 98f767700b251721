// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Escapes of a URI: a percent sign and two hexadecimal digits (RFC 3261 §25.1).
public enum PercentEscape {
    /// The text with its escapes resolved, as it compares (RFC 3261 §19.1.4); an escape that is none stays as written.
    public static func resolved(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard text.contains(UInt8(ascii: "%")) else { return text }
        var out: [UInt8] = []
        var position = text.startIndex
        while position < text.endIndex {
            if text[position] == UInt8(ascii: "%"), position + 2 < text.endIndex,
                let high = Hexadecimal.digit(text[position + 1]), let low = Hexadecimal.digit(text[position + 2])
            {
                out.append(high << 4 | low)
                position += 3
            } else {
                out.append(text[position])
                position += 1
            }
        }
        return out[...]
    }
}
