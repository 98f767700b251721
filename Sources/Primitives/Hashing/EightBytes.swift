// SPDX-License-Identifier: Apache-2.0

/// Eight bytes as one word, the first byte lowest.
///
/// Hashing and comparing by words takes fewer instructions than by bytes.
public struct EightBytes {
    /// The bytes, the first of them lowest.
    public let word: UInt64

    /// Reads the bytes at `position`; seven more bytes must follow.
    @inline(__always)
    public init(_ bytes: RawSpan, whole position: Int) {
        // Every caller has compared position and count; every bit pattern is a valid integer.
        word = UInt64(
            littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self))
    }

    /// Reads up to eight bytes at `position`; bytes behind the end read as zero.
    @inline(never)
    public init(_ bytes: RawSpan, at position: Int) {
        let missing = position - (bytes.byteCount - 8)
        if missing >= 8 {
            word = 0
        } else if bytes.byteCount >= 8 {
            word = Self(bytes, whole: position - max(missing, 0)).word &>> UInt64(max(missing, 0) * 8)
        } else {
            var word: UInt64 = 0
            for place in position..<bytes.byteCount {
                let byte = bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
                word |= UInt64(byte) &<< UInt64(8 * (place - position))
            }
            self.word = word
        }
    }
}
