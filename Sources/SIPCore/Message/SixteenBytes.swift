// SPDX-License-Identifier: Apache-2.0

import CVector
import Primitives

/// Sixteen bytes of a message, compared in one step.
///
/// Finding the ends of lines, names and values (RFC 3261 §7.3.1) byte by byte was a quarter of the instructions of a call.
struct SixteenBytes {
    private let bytes: SIMD16<UInt8>

    /// Reads the bytes at `position`; what lies behind the last is read as zero.
    @inline(__always)
    fileprivate init(_ raw: RawSpan, at position: Int) {
        // Compared here; every bit pattern is a valid vector.
        bytes =
            position <= raw.byteCount &- 16
            ? raw.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: SIMD16<UInt8>.self)
            : Self.last(raw, at: position)
    }

    @inline(never)
    private static func last(_ raw: RawSpan, at position: Int) -> SIMD16<UInt8> {
        let (low, high) = (EightBytes(raw, at: position), EightBytes(raw, at: position + 8))
        return unsafeBitCast(SIMD2(low.word.littleEndian, high.word.littleEndian), to: SIMD16<UInt8>.self)
    }

    /// Marks the bytes equal to `byte`.
    @inline(__always)
    func marks(_ byte: UInt8) -> Marks { Marks(bytes .== SIMD16(repeating: byte)) }

    /// Marks the bytes below `bound`.
    @inline(__always)
    func marks(below bound: UInt8) -> Marks { Marks(bytes .< SIMD16(repeating: bound)) }

    /// Marks the `count` bytes from `first` on.
    @inline(__always)
    func marks(_ count: UInt8, from first: UInt8) -> Marks {
        Marks(bytes &- SIMD16(repeating: first) .< SIMD16(repeating: count))
    }

    /// Marks letters in either case.
    @inline(__always)
    var letterMarks: Marks { marks(26, from: UInt8(ascii: "a")) | marks(26, from: UInt8(ascii: "A")) }

    /// Marks decimal digits.
    @inline(__always)
    var digitMarks: Marks { marks(10, from: UInt8(ascii: "0")) }

    /// Marks white space: SP, HTAB and the CR and LF of a fold (LWS, RFC 3261 §25.1; `LWS`).
    @inline(__always)
    var blankMarks: Marks { marks(32) | marks(9) | marks(13) | marks(10) }

    /// The set of the sixteen bytes that fit.
    struct Marks {
        private let mask: SIMDMask<SIMD16<Int8>>

        @inline(__always)
        fileprivate init(_ mask: SIMDMask<SIMD16<Int8>>) { self.mask = mask }

        /// Marks what either marks.
        @inline(__always)
        static func | (one: Self, other: Self) -> Self { Self(one.mask .| other.mask) }

        /// Marks what is not marked.
        @inline(__always)
        static prefix func ! (marks: Self) -> Self { Self(.!marks.mask) }

        /// One bit a byte, that of the first lowest.
        @inline(__always)
        fileprivate var bits: UInt16 { herald_high_bits(unsafeBitCast(mask, to: SIMD16<Int8>.self)) }
    }
}

extension Span<UInt8> {
    /// The first position in `range` that `marks` marks; the end of the range when none is.
    @inline(__always)
    func position(in range: Range<Int>, _ marks: (SixteenBytes) -> SixteenBytes.Marks) -> Int {
        var position = range.upperBound
        eachPosition(in: range, marks) {
            position = $0
            return false
        }
        return position
    }

    /// Calls `body` with each position in `range` that `marks` marks, until it returns false.
    @inline(__always)
    func eachPosition(
        in range: Range<Int>, _ marks: (SixteenBytes) -> SixteenBytes.Marks, _ body: (Int) -> Bool
    ) {
        let raw = bytes
        precondition(range.lowerBound >= 0 && range.upperBound <= raw.byteCount, "searched outside of a message")
        var start = range.lowerBound
        // The sixteen bytes may reach behind the range.
        while start < range.upperBound {
            var found = marks(SixteenBytes(raw, at: start)).bits
            while found != 0 {
                let position = start &+ found.trailingZeroBitCount
                guard position < range.upperBound, body(position) else { return }
                found &= found &- 1
            }
            start &+= 16
        }
    }
}
