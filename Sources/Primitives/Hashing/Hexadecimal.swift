// SPDX-License-Identifier: Apache-2.0

/// Converts bytes and integers to lower-case hexadecimal digits, and digits of either case back.
public enum Hexadecimal {
    /// Reads sixteen digits in any case; nil for anything else.
    public static func read(_ text: ArraySlice<UInt8>) -> UInt64? {
        read(text.span)
    }

    /// Reads sixteen digits in any case; nil for anything else.
    public static func read(_ digits: Span<UInt8>) -> UInt64? {
        guard digits.count == 16, let high = eight(EightBytes(digits.bytes, whole: 0).word),
            let low = eight(EightBytes(digits.bytes, whole: 8).word)
        else { return nil }
        return high &<< 32 | low
    }

    /// Reads the given number of digits, at most sixteen, at a position, which moves behind them; nil for anything else.
    @inline(__always)
    public static func take(_ digits: Int, of text: Span<UInt8>, at position: inout Int) -> UInt64? {
        guard position >= 0, digits <= 16, text.count - position >= digits else { return nil }
        var (value, place, rest) = (UInt64(0), position, digits)
        while rest >= 8 {
            guard let next = eight(EightBytes(text.bytes, whole: place).word) else { return nil }
            value = value << 32 | next
            place &+= 8
            rest &-= 8
        }
        while rest > 0 {
            guard let digit = digit(text[place]) else { return nil }
            value = value << 4 | UInt64(digit)
            place &+= 1
            rest &-= 1
        }
        position = place
        return value
    }

    /// Reads eight digits in any case; nil for anything else.
    @inline(__always)
    private static func eight(_ digits: UInt64) -> UInt64? {
        // Bit 6 is set in letters and clear in figures; bit 5 of a letter is its case.
        let letters = digits & 0x4040_4040_4040_4040
        var value = (digits & 0x0f0f_0f0f_0f0f_0f0f) &+ (letters &>> 6) &* 9
        value = value.byteSwapped
        value = (value | value &>> 4) & 0x00ff_00ff_00ff_00ff
        value = (value | value &>> 8) & 0x0000_ffff_0000_ffff
        value = (value | value &>> 16) & 0xffff_ffff
        // A byte that is no digit differs from the digit written for its value.
        return characters(value) == digits | letters &>> 1 ? value : nil
    }

    /// The value of a digit in either case; nil for anything else.
    @inline(__always)
    public static func digit(_ byte: UInt8) -> UInt8? {
        let number = byte &- UInt8(ascii: "0")
        if number <= 9 { return number }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter &+ 10 : nil
    }

    /// The eight lower-case digits of a number below 2^32, the first of them lowest in memory.
    @inline(__always)
    public static func characters(_ value: UInt64) -> UInt64 {
        // A nibble a byte, spread in three halvings; then six more than nine is what a letter is past the digits.
        var digits = (value << 16 | value) & 0x0000_ffff_0000_ffff
        digits = (digits << 8 | digits) & 0x00ff_00ff_00ff_00ff
        digits = (digits << 4 | digits) & 0x0f0f_0f0f_0f0f_0f0f
        let letters = ((digits + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        let text = digits + 0x3030_3030_3030_3030 + letters * UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
        return text.bigEndian
    }

    /// Returns two digits for each byte.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [character($0 >> 4), character($0 & 15)] }, as: UTF8.self)
    }

    /// Reads the bytes of a text of digits; nil for other text.
    public static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let high = rest.popFirst(), let low = rest.popFirst() {
            guard let high = digit(high), let low = digit(low) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The lower-case digit of a value below 16.
    public static func character(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
