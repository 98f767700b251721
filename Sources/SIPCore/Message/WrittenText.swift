// SPDX-License-Identifier: Apache-2.0

import Glibc
import Hashing

// How messages are written (RFC 3261 §7): into an array of bytes, part by part.

extension [UInt8] {
    /// Appends the ASCII of a literal.
    package mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends a number in decimal.
    package mutating func append(decimal value: some BinaryInteger) {
        var rest = UInt64(value.magnitude)
        if value < 0 { append(UInt8(ascii: "-")) }
        var divisor: UInt64 = 1
        while rest / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
            rest %= divisor
            divisor /= 10
        }
    }

    /// Appends sixteen lower-case hexadecimal digits.
    package mutating func append(hex value: UInt64) {
        let digits = (Hexadecimal.characters(value >> 32), Hexadecimal.characters(value & 0xffff_ffff))
        Swift.withUnsafeBytes(of: digits) { append($0) }
    }

    /// Appends a part of a message, of which no slice is made: that counts references twice.
    package mutating func append(_ part: Range<Int>, of message: SIPMessage) {
        message.bytes.withUnsafeBytes { append(UnsafeRawBufferPointer(rebasing: $0[part])) }
    }

    /// Appends a part of the bytes of a message.
    package mutating func append(_ part: Range<Int>, of bytes: Span<UInt8>) {
        bytes.bytes.extracting(part).withUnsafeBytes { append($0) }
    }

    /// Appends bytes, in three quarters of the instructions that `append(contentsOf:)` takes for some ten of them.
    @inline(never)
    mutating func append(_ text: UnsafeRawBufferPointer) {
        guard let start = text.baseAddress else { return }
        append(addingCapacity: text.count) { out in
            out.withUnsafeMutableBufferPointer { room, count in
                // Room for that many was asked for.
                memcpy(UnsafeMutableRawPointer(room.baseAddress.unsafelyUnwrapped) + count, start, text.count)
                count += text.count
            }
        }
    }
}
