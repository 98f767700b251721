// SPDX-License-Identifier: Apache-2.0

/// SipHash-2-4 with a 128-bit result: a keyed hash that a peer who does not know the key cannot steer.
///
/// It makes branches that are unique and cannot be guessed (RFC 3261 §8.1.1.7). A stream: the result does not depend on
/// how the bytes were cut into pieces. Allocates nothing.
/// Source: J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF", 2012, and the authors' reference
/// implementation of the wide variant.
public struct SipHash: Sendable {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var tail: UInt64 = 0  // the last length % 8 bytes, the first of them lowest
    private var length: UInt64 = 0

    /// Takes the two halves of the key, each read from its eight bytes in little-endian order.
    public init(key0: UInt64, key1: UInt64) {
        v0 = key0 ^ 0x736f_6d65_7073_6575
        v1 = key1 ^ 0x646f_7261_6e64_6f6d ^ 0xee  // 0xee marks the wide variant
        v2 = key0 ^ 0x6c79_6765_6e65_7261
        v3 = key1 ^ 0x7465_6462_7974_6573
    }

    /// Takes in bytes.
    public mutating func combine(_ bytes: Span<UInt8>) {
        // A copy, which stays in registers from word to word.
        var state = self
        state.take(0..<bytes.count, of: bytes.bytes)
        self = state
    }

    /// Takes in how many bytes a part of a text has, and then these bytes.
    public mutating func combine(counted part: Range<Int>, of text: Span<UInt8>) {
        var state = self
        state.combine(UInt64(part.count))
        state.take(part, of: text.bytes)
        self = state
    }

    @inline(__always)
    private mutating func take(_ part: Range<Int>, of text: RawSpan) {
        precondition(part.lowerBound >= 0 && part.upperBound <= text.byteCount, "hashed outside of a text")
        var position = part.lowerBound
        let shift = (length & 7) &* 8
        while part.upperBound &- position >= 8 {
            let word = EightBytes(text, whole: position).word
            compress(tail | word &<< shift)
            tail = (word &>> 1) &>> (63 &- shift)
            position &+= 8
        }
        length &+= UInt64(position &- part.lowerBound)
        let count = UInt64(part.upperBound &- position)
        guard count > 0 else { return }
        // Bytes behind the part are read and cleared.
        let last =
            position <= text.byteCount &- 8 ? EightBytes(text, whole: position) : EightBytes(text, at: position)
        combine(last.word & .max &>> (64 &- count &* 8), count: count)
    }

    /// Takes in one byte.
    public mutating func combine(_ byte: UInt8) {
        combine(UInt64(byte), count: 1)
    }

    /// Takes in the first `count` bytes of a word, one to seven; the others must be zero.
    @inline(__always)
    private mutating func combine(_ word: UInt64, count: UInt64) {
        let present = length & 7
        tail |= word &<< (present &* 8)
        length &+= count
        guard present &+ count >= 8 else { return }
        compress(tail)
        tail = word &>> ((8 &- present) &* 8)
    }

    /// Takes in one integer as eight bytes in little-endian order.
    @inline(__always)
    public mutating func combine(_ integer: UInt64) {
        let shift = (length & 7) &* 8
        compress(tail | integer &<< shift)
        tail = (integer &>> 1) &>> (63 &- shift)  // none of it where the shift is zero
        length &+= 8
    }

    /// Gives the hash of all bytes so far as its first and last eight bytes, each read in little-endian order.
    ///
    /// The stream may go on afterwards.
    public func finalize() -> (first: UInt64, last: UInt64) {
        var end = self
        let first = end.finish()
        end.v1 ^= 0xdd
        return (first, end.scramble())
    }

    /// Gives the first eight bytes of the hash alone, for half the work.
    public func finalizeFirst() -> UInt64 {
        var end = self
        return end.finish()
    }

    @inline(__always)
    private mutating func finish() -> UInt64 {
        compress(tail | (length & 0xff) << 56)
        v2 ^= 0xee
        return scramble()
    }

    @inline(__always)
    private mutating func scramble() -> UInt64 {
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    @inline(__always)
    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    @inline(__always)
    private mutating func round() {
        v0 = v0 &+ v1
        v2 = v2 &+ v3
        v1 = (v1 &<< 13 | v1 &>> 51) ^ v0
        v3 = (v3 &<< 16 | v3 &>> 48) ^ v2
        v0 = v0 &<< 32 | v0 &>> 32
        v2 = v2 &+ v1
        v0 = v0 &+ v3
        v1 = (v1 &<< 17 | v1 &>> 47) ^ v2
        v3 = (v3 &<< 21 | v3 &>> 43) ^ v0
        v2 = v2 &<< 32 | v2 &>> 32
    }
}
