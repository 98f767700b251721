// SPDX-License-Identifier: Apache-2.0

/// A telephone number in the form in which tokens compare: digits, `#` and `*`, without `+` (RFC 8224 §8.3).
///
/// Holds 1 to 15 characters, the most of E.164 and of a TNAuthList (RFC 8226 §9), in eight bytes.
public struct CanonicalNumber: Hashable, Sendable {
    /// Four bits a character from the highest ones on, and the count in the lowest four.
    private let packed: UInt64

    // Other modules would call the synthesised operator through a witness table.
    @inline(__always)
    public static func == (one: Self, other: Self) -> Bool { one.packed == other.packed }

    /// Reads a number; nil for 0 or more than 15 characters and for any other character.
    public init?(_ bytes: Span<UInt8>) {
        guard (1...15).contains(bytes.count) else { return nil }
        var packed: UInt64 = 0
        for index in bytes.indices {
            let symbol: UInt64
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): symbol = UInt64(bytes[index] - UInt8(ascii: "0"))
            case UInt8(ascii: "*"): symbol = 10
            case UInt8(ascii: "#"): symbol = 11
            default: return nil
            }
            packed |= symbol << UInt64(60 - 4 * index)
        }
        self.packed = packed | UInt64(bytes.count)
    }

    /// The number with the decimal digits of an integer; nil for 0 and for more than 15 digits.
    public init?(digits: UInt64) {
        guard digits > 0, digits < 1_000_000_000_000_000 else { return nil }
        var (packed, count, rest): (UInt64, UInt64, UInt64) = (0, 0, digits)
        while rest > 0 {
            packed = packed >> 4 | (rest % 10) << 60
            rest /= 10
            count += 1
        }
        self.packed = packed | count
    }

    /// Reads a number from text, in the same way.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(bytes.span)
    }

    /// The count of characters.
    public var count: Int { Int(packed & 15) }

    /// The number as text.
    public var text: String {
        let symbols: [Character] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "#"]
        return String((0..<count).map { symbols[Int(packed >> UInt64(60 - 4 * $0) & 15)] })
    }

    /// The value of the digits; nil for a number with `#` or `*`.
    var value: UInt64? {
        var value: UInt64 = 0
        for index in 0..<count {
            let symbol = packed >> UInt64(60 - 4 * index) & 15
            guard symbol < 10 else { return nil }
            value = value * 10 + symbol
        }
        return value
    }
}
