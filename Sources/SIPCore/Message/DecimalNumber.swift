// SPDX-License-Identifier: Apache-2.0

/// Unsigned decimal numbers below 2^31, as Content-Length, CSeq and Max-Forwards carry them.
public enum DecimalNumber {
    /// The largest number.
    static let largest = 1 << 31 - 1

    /// Reads a range that is all digits; nil when empty, longer than ten digits or above 2^31 − 1 (RFC 3261 §8.1.1.5).
    public static func read(_ bytes: [UInt8], _ range: Range<Int>) -> Int? { read(bytes.span, range) }

    /// Reads a text that is all digits, with the same bounds.
    public static func read(_ text: ArraySlice<UInt8>) -> Int? { read(text.span, 0..<text.count) }

    /// Reads a range that is all digits, with the same bounds.
    static func read(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard !range.isEmpty, range.count <= 10 else { return nil }
        let (digits, zero) = (bytes.extracting(range), UInt8(ascii: "0"))
        var value = 0
        for position in digits.indices {
            let digit = digits[position] &- zero
            guard digit <= 9 else { return nil }
            value = value &* 10 &+ Int(digit)
        }
        return value <= largest ? value : nil
    }
}
