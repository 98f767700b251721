// SPDX-License-Identifier: Apache-2.0

/// White space as SIP means it: SP, HTAB and the CR and LF of a fold (LWS, RFC 3261 §25.1).
package enum Blank {
    package static func contains(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 || byte == 10 }

    /// The range without white space at either end; empty at its end when all is blank.
    package static func trimmed(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> { trimmed(bytes.span, range) }

    /// The range without white space at its end.
    package static func trimmedEnd(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        trimmedEnd(bytes.span, range)
    }

    /// The range without white space at either end; empty at its end when all is blank.
    @inline(__always)
    static func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        trimmedEnd(bytes, skipped(bytes, range)..<range.upperBound)
    }

    /// The first position that is no white space; the end of the range where there is none.
    @inline(__always)
    static func skipped(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
        var lower = range.lowerBound
        while lower < range.upperBound, contains(bytes[lower]) { lower += 1 }
        return lower
    }

    /// The range without white space at its end.
    @inline(__always)
    static func trimmedEnd(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var upper = range.upperBound
        while upper > range.lowerBound, contains(bytes[upper - 1]) { upper -= 1 }
        return range.lowerBound..<upper
    }
}

/// Escapes of a URI: a percent sign and two hexadecimal digits (RFC 3261 §25.1).
package enum PercentEscape {
    /// The text with its escapes resolved, as it compares (RFC 3261 §19.1.4); an escape that is none stays as written.
    package static func resolved(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
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

/// The characters of a token (RFC 3261 §25.1).
enum Token {
    /// True when a range has nothing but characters of a token.
    @inline(never)
    static func isWhole(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var position = range.lowerBound
        while true {
            position = bytes.position(in: position..<range.upperBound) {
                !($0.digitMarks | $0.letterMarks | $0.marks(2, from: UInt8(ascii: "-")) | $0.marks(UInt8(ascii: "_")))
            }
            guard position < range.upperBound else { return true }
            guard contains(bytes[position]) else { return false }
            position += 1
        }
    }

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
    package static func read(_ bytes: [UInt8], _ range: Range<Int>) -> Int? { read(bytes.span, range) }

    /// Reads a text that is all digits, with the same bounds.
    package static func read(_ text: ArraySlice<UInt8>) -> Int? { read(text.span, 0..<text.count) }

    /// Reads a range that is all digits, with the same bounds.
    static func read(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard !range.isEmpty, range.count <= 10 else { return nil }
        var value = 0
        for position in range {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value &* 10 &+ Int(digit)
        }
        return value < 1 << 31 ? value : nil
    }
}

/// Hexadecimal digits, as branches, marks and seals carry them.
package enum Hexadecimal {
    /// Reads sixteen digits in any case; nil for anything else.
    package static func read(_ text: ArraySlice<UInt8>) -> UInt64? {
        read(text.span)
    }

    /// Reads sixteen digits in any case; nil for anything else.
    static func read(_ digits: Span<UInt8>) -> UInt64? {
        guard digits.count == 16, let high = eight(EightBytes(digits.bytes, whole: 0)),
            let low = eight(EightBytes(digits.bytes, whole: 8))
        else { return nil }
        return high &<< 32 | low
    }

    /// Reads so many digits, at most sixteen, from the front of a text and takes them off; nil for anything else.
    static func take(_ digits: Int, from text: inout ArraySlice<UInt8>) -> UInt64? {
        guard text.count >= digits else { return nil }
        var value: UInt64 = 0
        for byte in text.prefix(digits) {
            guard let digit = digit(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        text = text.dropFirst(digits)
        return value
    }

    /// Reads eight digits in any case, all at once; nil for anything else.
    @inline(__always)
    private static func eight(_ digits: EightBytes) -> UInt64? {
        // Bit 6 tells letters from figures; bit 5 of a letter is its case.
        let letters = digits.word & 0x4040_4040_4040_4040
        var value = (digits.word & 0x0f0f_0f0f_0f0f_0f0f) &+ (letters &>> 6) &* 9
        value = value.byteSwapped
        value = (value | value &>> 4) & 0x00ff_00ff_00ff_00ff
        value = (value | value &>> 8) & 0x0000_ffff_0000_ffff
        value = (value | value &>> 16) & 0xffff_ffff
        // What is no digit does not come out again as it was.
        return characters(value) == digits.word | letters &>> 1 ? value : nil
    }

    @inline(__always)
    static func digit(_ byte: UInt8) -> UInt8? {
        let number = byte &- UInt8(ascii: "0")
        if number <= 9 { return number }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter &+ 10 : nil
    }

    /// The eight lower-case digits of a number below 2^32, the first of them lowest in memory.
    package static func characters(_ value: UInt64) -> UInt64 {
        // A nibble a byte, spread in three halvings; then six more than nine is what a letter is past the digits.
        var digits = (value << 16 | value) & 0x0000_ffff_0000_ffff
        digits = (digits << 8 | digits) & 0x00ff_00ff_00ff_00ff
        digits = (digits << 4 | digits) & 0x0f0f_0f0f_0f0f_0f0f
        let letters = ((digits + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        let text = digits + 0x3030_3030_3030_3030 + letters * UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
        return text.bigEndian
    }

    static func character(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}

extension Span<UInt8> {
    /// The first position of a byte within a range.
    @inline(__always)
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        let position = position(in: range) { $0.marks(byte) }
        return position < range.upperBound ? position : nil
    }

    /// True when a range is a text in any case (`RawSpan.matches`).
    @inline(__always)
    func matches(_ range: Range<Int>, _ text: StaticString) -> Bool { bytes.extracting(range).matches(text) }
}

extension [UInt8] {
    /// The first position of a byte within a range, without making a slice.
    package func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? { span.firstIndex(of: byte, in: range) }

    /// True when a word stands within a range, in either case, whatever is around it; in lower case, a letter first.
    package func mentions(_ word: StaticString, in range: Range<Int>) -> Bool {
        let (text, count) = (span, word.utf8CodeUnitCount)
        let letter = word.withUTF8Buffer { $0[0] }
        var position = range.lowerBound
        while true {
            position = text.position(in: position..<range.upperBound) { $0.marks(letter) | $0.marks(letter & ~0x20) }
            guard position + count <= range.upperBound else { return false }
            if text.matches(position..<(position + count), word) { return true }
            position += 1
        }
    }

    /// True when a byte stands within a range.
    func contains(_ byte: UInt8, in range: Range<Int>) -> Bool { contains(in: range) { $0.marks(byte) } }

    /// True when `marks` marks a byte within a range.
    @inline(__always)
    func contains(in range: Range<Int>, _ marks: (SixteenBytes) -> SixteenBytes.Marks) -> Bool {
        span.position(in: range, marks) < range.upperBound
    }
}

extension ArraySlice<UInt8> {
    /// Compares with a literal without case; it has no sign with bit 6 (`@ [ ] ^ _` and the like).
    package func equalsIgnoringCase(_ text: StaticString) -> Bool { span.bytes.matches(text) }

    /// Compares with a literal, case and all.
    package func equals(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            let (own, other) = (span, text.span)
            guard own.count == other.count else { return false }
            for position in own.indices where own[position] != other[position] { return false }
            return true
        }
    }

    /// Compares two slices of ASCII without case.
    package func equalsIgnoringCase(_ other: ArraySlice<UInt8>) -> Bool {
        equalsIgnoringCase(other.span)
    }

    private func equalsIgnoringCase(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        let own = span
        for position in own.indices where own[position] != other[position] {
            if Self.lowered(own[position]) != Self.lowered(other[position]) { return false }
        }
        return true
    }

    private static func lowered(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }
}
