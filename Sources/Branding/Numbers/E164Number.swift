// SPDX-License-Identifier: Apache-2.0

/// An E.164 telephone number, stored as one integer.
///
/// Has seven to fifteen digits and starts with the calling code. The value fits a `UInt64` (10^15 < 2^50) and is the
/// key of the brand index. A withheld number is never stored in this type. Source: ITU-T E.164 §6.2.1.
public struct E164Number: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The digits without the plus sign, as a decimal integer. Never starts with zero.
    public let digits: UInt64

    /// Creates a number from the digits of a complete international number.
    ///
    /// - Returns: nil for fewer than seven or more than fifteen digits.
    public init?(digits: UInt64) {
        guard digits >= 1_000_000, digits <= 999_999_999_999_999 else { return nil }
        self.digits = digits
    }

    /// Parses `+` and seven to fifteen ASCII digits, the first not zero. Anything else gives nil.
    public init?(_ text: some StringProtocol) {
        self.init(plusDigits: text.utf8)
    }

    /// Parses the bytes `+` and seven to fifteen ASCII digits, the first not zero. Anything else gives nil.
    public init?(plusDigits bytes: some Sequence<UInt8>) {
        var iterator = bytes.makeIterator()
        guard iterator.next() == UInt8(ascii: "+") else { return nil }
        var value: UInt64 = 0
        var count = 0
        while let byte = iterator.next() {
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9, count < 15, count > 0 || digit != 0 else { return nil }
            value = value &* 10 &+ UInt64(digit)
            count += 1
        }
        guard count >= 7 else { return nil }
        self.digits = value
    }

    /// The number with its plus sign: the form in SIP messages, HTTP bodies and database tables.
    public var description: String {
        // The length includes the plus sign. A string of up to 15 bytes needs no heap memory.
        var (length, bound) = (8, UInt64(10_000_000))
        while digits >= bound { (length, bound) = (length + 1, bound * 10) }
        return String(unsafeUninitializedCapacity: length) { buffer in
            var rest = digits
            for place in stride(from: length - 1, to: 0, by: -1) {
                buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            buffer[0] = UInt8(ascii: "+")
            return length
        }
    }

    /// Orders by numeric value.
    public static func < (left: E164Number, right: E164Number) -> Bool { left.digits < right.digits }
}
