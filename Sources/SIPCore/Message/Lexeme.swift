// SPDX-License-Identifier: Apache-2.0

/// White space as SIP means it: SP, HTAB and the CR and LF of a fold (LWS, RFC 3261 §25.1).
enum Blank {
    static func contains(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 || byte == 10 }

    /// The range without white space at either end; empty at its end when all is blank.
    static func trimmed(_ bytes: borrowing [UInt8], _ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        while lower < range.upperBound, contains(bytes[lower]) { lower += 1 }
        return trimmedEnd(bytes, lower..<range.upperBound)
    }

    /// The range without white space at its end.
    static func trimmedEnd(_ bytes: borrowing [UInt8], _ range: Range<Int>) -> Range<Int> {
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
    package static func read(_ bytes: borrowing [UInt8], _ range: Range<Int>) -> Int? {
        guard !range.isEmpty, range.count <= 10 else { return nil }
        var value = 0
        for position in range {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value * 10 + Int(digit)
        }
        return value < 1 << 31 ? value : nil
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
        append(contentsOf: String(value).utf8)
    }

    /// Appends sixteen lower-case hexadecimal digits.
    package mutating func append(hex value: UInt64) {
        var shift = 60
        while shift >= 0 {
            let nibble = UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 15
            append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
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
