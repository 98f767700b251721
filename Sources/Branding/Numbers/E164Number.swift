// SPDX-License-Identifier: Apache-2.0

/// A telephone number in E.164: country code first, at most fifteen digits, held as one integer.
///
/// The digits fit a `UInt64` (10^15 < 2^50), which is the key of the brand index. No number of a withheld caller is
/// ever put into one of these. Source: ITU-T E.164 §6.2.1; the shortest number accepted has seven digits.
package struct E164Number: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The digits without the plus sign, read as a decimal integer; never starts with zero.
    package let digits: UInt64

    /// Takes digits that are already known to be a whole international number.
    ///
    /// - Returns: nil below seven or above fifteen digits.
    package init?(digits: UInt64) {
        guard digits >= 1_000_000, digits <= 999_999_999_999_999 else { return nil }
        self.digits = digits
    }

    /// Reads `+` followed by seven to fifteen ASCII digits, the first not zero, and nothing else.
    package init?(_ text: some StringProtocol) {
        self.init(plusDigits: text.utf8)
    }

    /// Reads the bytes `+` and seven to fifteen ASCII digits, the first not zero, and nothing else.
    package init?(plusDigits bytes: some Sequence<UInt8>) {
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

    /// The number with its plus sign, as it stands on every wire and in every table.
    package var description: String {
        // With the sign; up to fifteen bytes a string needs no memory of its own.
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

    /// Orders by numeric value, which keeps saved indexes reproducible.
    package static func < (left: E164Number, right: E164Number) -> Bool { left.digits < right.digits }
}
