// SPDX-License-Identifier: Apache-2.0

/// Eight bytes of a message looked at in one step, the first of them lowest.
///
/// A search marks bit 7 of each byte that fits. Above the lowest mark some may be false, by a borrow; the lowest never is.
/// Source: H. S. Warren, "Hacker's Delight", 2nd ed., §6–1. Finding ends of lines, names and values byte by byte was a
/// quarter of the instructions of a call.
struct EightBytes {
    /// The bytes, the first of them lowest.
    let word: UInt64

    /// Reads the bytes at `position`, behind which there must be seven more.
    @inline(__always)
    init(_ bytes: RawSpan, whole position: Int) {
        // Every caller has compared position and count; every bit pattern is a valid integer.
        word = UInt64(
            littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self))
    }

    /// Reads the bytes at `position`, which must be one of the last seven; what lies behind the last is read as zero.
    @inline(never)
    init(_ bytes: RawSpan, last position: Int) {
        let missing = position - (bytes.byteCount - 8)
        if bytes.byteCount >= 8 {
            word = Self(bytes, whole: position - missing).word &>> UInt64(missing * 8)
            return
        }
        var word: UInt64 = 0
        for place in position..<bytes.byteCount {
            let byte = bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
            word |= UInt64(byte) &<< UInt64(8 * (place - position))
        }
        self.word = word
    }

    /// Marks the bytes equal to `byte`.
    @inline(__always)
    func marks(_ byte: UInt8) -> UInt64 {
        let difference = word ^ Self.ones &* UInt64(byte)
        return (difference &- Self.ones) & ~difference & Self.highBits
    }

    /// Marks the bytes below `bound`, which is 128 at most.
    @inline(__always)
    func marks(below bound: UInt8) -> UInt64 { (word &- Self.ones &* UInt64(bound)) & ~word & Self.highBits }

    /// Marks white space: SP, HTAB and the CR and LF of a fold (LWS, RFC 3261 §25.1; `Blank`).
    @inline(__always)
    var blankMarks: UInt64 { marks(32) | marks(9) | marks(13) | marks(10) }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var highBits: UInt64 { 0x8080_8080_8080_8080 }
}

extension Span<UInt8> {
    /// The first position in `range` that `marks` marks; the end of the range when none is.
    @inline(__always)
    func position(in range: Range<Int>, _ marks: (EightBytes) -> UInt64) -> Int {
        let raw = bytes
        precondition(range.lowerBound >= 0 && range.upperBound <= raw.byteCount, "searched outside of a message")
        var position = range.lowerBound
        // Words that lie in the bytes as a whole, though their end may be outside of the range.
        let end = Swift.min(range.upperBound, raw.byteCount &- 7)
        while position < end {
            let found = marks(EightBytes(raw, whole: position))
            if found != 0 { return Swift.min(position &+ found.trailingZeroBitCount &>> 3, range.upperBound) }
            position &+= 8
        }
        guard position < range.upperBound else { return range.upperBound }
        let found = marks(EightBytes(raw, last: position))
        return found == 0 ? range.upperBound : Swift.min(position &+ found.trailingZeroBitCount &>> 3, range.upperBound)
    }
}
