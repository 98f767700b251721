// SPDX-License-Identifier: Apache-2.0

/// White space as SIP means it: SP, HTAB and the CR and LF of a fold (LWS, RFC 3261 §25.1).
package enum Blank {
    package static func contains(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 || byte == 10 }

    /// The range without white space at either end; empty at its end when all is blank.
    static func trimmed(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        while lower < range.upperBound, contains(bytes[lower]) { lower += 1 }
        return trimmedEnd(bytes, lower..<range.upperBound)
    }

    /// The range without white space at its end.
    package static func trimmedEnd(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        var upper = range.upperBound
        while upper > range.lowerBound, contains(bytes[upper - 1]) { upper -= 1 }
        return range.lowerBound..<upper
    }
}

/// The characters of a token (RFC 3261 §25.1).
enum Token {
    static func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "%"), UInt8(ascii: "*"),
            UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "`"), UInt8(ascii: "'"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

/// Unsigned decimal numbers below 2^31, as Content-Length, CSeq and Max-Forwards carry them.
package enum DecimalNumber {
    /// Reads a range that is all digits; nil when empty, longer than ten digits or above 2^31 − 1 (RFC 3261 §8.1.1.5).
    package static func read(_ bytes: [UInt8], _ range: Range<Int>) -> Int? { read(bytes[range]) }

    /// Reads a text that is all digits, with the same bounds.
    package static func read(_ text: ArraySlice<UInt8>) -> Int? {
        guard !text.isEmpty, text.count <= 10 else { return nil }
        var value = 0
        for byte in text {
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value * 10 + Int(digit)
        }
        return value < 1 << 31 ? value : nil
    }
}

/// Hexadecimal digits, as branches, marks and seals carry them.
package enum Hexadecimal {
    /// Reads sixteen digits in any case; nil for anything else.
    package static func read(_ text: ArraySlice<UInt8>) -> UInt64? {
        guard text.count == 16 else { return nil }
        var value: UInt64 = 0
        for byte in text {
            guard let digit = digit(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    static func digit(_ byte: UInt8) -> UInt8? {
        if byte &- UInt8(ascii: "0") <= 9 { return byte - UInt8(ascii: "0") }
        let letter = byte | 0x20
        return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "f") ? letter - UInt8(ascii: "a") + 10 : nil
    }

    static func character(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}

extension [UInt8] {
    /// The first position of a byte within a range, without making a slice.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        var position = range.lowerBound
        while position < range.upperBound {
            if self[position] == byte { return position }
            position += 1
        }
        return nil
    }

    /// Appends the ASCII of a literal.
    package mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Appends a number in decimal.
    package mutating func append(decimal value: some BinaryInteger) {
        var rest = UInt64(value.magnitude)
        if value < 0 { append(UInt8(ascii: "-")) }
        var divisor: UInt64 = 1
        while rest / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
            rest %= divisor
            divisor /= 10
        }
    }

    /// Appends sixteen lower-case hexadecimal digits.
    package mutating func append(hex value: UInt64) {
        var shift = 60
        while shift >= 0 {
            append(Hexadecimal.character(UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 15))
            shift -= 4
        }
    }
}

extension ArraySlice<UInt8> {
    /// Compares ASCII without case.
    package func equalsIgnoringCase(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { other in
            var position = startIndex
            for byte in other {
                if Self.lowered(self[position]) != Self.lowered(byte) { return false }
                position += 1
            }
            return true
        }
    }

    /// Compares two slices of ASCII without case.
    package func equalsIgnoringCase(_ other: ArraySlice<UInt8>) -> Bool {
        count == other.count && zip(self, other).allSatisfy { Self.lowered($0) == Self.lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
