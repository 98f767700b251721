// SPDX-License-Identifier: Apache-2.0

/// Eight bytes of a message as a word, the first of them lowest.
///
/// Comparisons and hashes (RFC 3261 §16.6 step 8) read eight bytes at once.
struct EightBytes {
    /// The bytes, the first of them lowest.
    let word: UInt64

    /// Reads the bytes at `position`, which must be followed by seven more.
    @inline(__always)
    init(_ bytes: RawSpan, whole position: Int) {
        // Every caller has compared position and count; every bit pattern is a valid integer.
        word = UInt64(
            littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self))
    }

    /// Reads the bytes at `position`; bytes past the end are read as zero.
    @inline(never)
    init(_ bytes: RawSpan, at position: Int) {
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
