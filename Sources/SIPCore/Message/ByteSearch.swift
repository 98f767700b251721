// SPDX-License-Identifier: Apache-2.0

// Bytes searched and compared as SIP compares them: names without case, from a position within a range (RFC 3261 §7.3.1).

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

    /// True when a text is at a position, case and all.
    @inline(__always)
    func has(_ text: StaticString, at position: Int) -> Bool {
        let end = position + text.utf8CodeUnitCount
        return end <= count && bytes.extracting(position..<end).equals(text)
    }
}

extension [UInt8] {
    /// The first position of a byte within a range, without making a slice.
    public func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? { span.firstIndex(of: byte, in: range) }

    /// True if a range contains a word, ignoring ASCII case.
    ///
    /// - Parameter word: in lower case, with a letter first.
    public func mentions(_ word: StaticString, in range: Range<Int>) -> Bool {
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

    /// True if a range contains a byte.
    func contains(_ byte: UInt8, in range: Range<Int>) -> Bool { contains(in: range) { $0.marks(byte) } }

    /// True when `marks` marks a byte within a range.
    @inline(__always)
    func contains(in range: Range<Int>, _ marks: (SixteenBytes) -> SixteenBytes.Marks) -> Bool {
        span.position(in: range, marks) < range.upperBound
    }
}

extension ArraySlice<UInt8> {
    /// Compares with a literal without case; it has no sign with bit 6 (`@ [ ] ^ _` and the like).
    public func equalsIgnoringCase(_ text: StaticString) -> Bool { span.bytes.matches(text) }

    /// Compares with a literal, case and all.
    public func equals(_ text: StaticString) -> Bool { span.bytes.equals(text) }

    /// Compares two slices of ASCII without case.
    public func equalsIgnoringCase(_ other: ArraySlice<UInt8>) -> Bool {
        guard count == other.count else { return false }
        let (own, other) = (span, other.span)
        for position in own.indices where own[position] != other[position] {
            if Self.lowered(own[position]) != Self.lowered(other[position]) { return false }
        }
        return true
    }

    private static func lowered(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }
}
