// SPDX-License-Identifier: Apache-2.0

import Branding

/// A number in the forms that clients of doors send it.
///
/// Clients send the plus sign as it is, or as a blank, or leave it out.
enum StatedNumber {
    /// Reads a number; nil for one that is not certain.
    static func read(_ text: [UInt8], by normaliser: NumberNormaliser) -> E164Number? {
        let number = trimmed(text)
        if number.first == UInt8(ascii: "+") { return normaliser.normalise(number) }
        return text.first == UInt8(ascii: " ") && number.first?.isDigit == true
            ? normaliser.normalise([UInt8(ascii: "+")] + number) : normaliser.normaliseWithoutPlus(number)
    }

    /// The text without the blanks around it.
    static func trimmed(_ text: [UInt8]) -> ArraySlice<UInt8> { trimmed(text[...]) }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text.drop { $0 == UInt8(ascii: " ") }
        while text.last == UInt8(ascii: " ") { text.removeLast() }
        return text
    }

    /// A name without the blanks and one pair of quotes around it, as in a call.
    static func unquoted(_ name: [UInt8]) -> ArraySlice<UInt8> {
        let quote = UInt8(ascii: "\"")
        let text = trimmed(name[...])
        guard text.count >= 2, text.first == quote, text.last == quote else { return text }
        return trimmed(text.dropFirst().dropLast())
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    fileprivate var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
