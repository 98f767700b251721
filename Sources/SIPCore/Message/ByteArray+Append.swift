// SPDX-License-Identifier: Apache-2.0

import Primitives

// How messages are written (RFC 3261 §7): into an array of bytes, part by part.

extension [UInt8] {
    /// Appends the ASCII of a literal.
    public mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Appends a number in decimal.
    public mutating func append(decimal value: some BinaryInteger) {
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
    public mutating func append(hex value: UInt64) {
        append(addingCapacity: 16) { $0.append(hex: value, digits: 16) }
    }

    /// Appends a part of a message.
    public mutating func append(_ part: Range<Int>, of message: SIPMessage) {
        message.bytes.withUnsafeBufferPointer { append(contentsOf: UnsafeBufferPointer(rebasing: $0[part])) }
    }

    /// Appends a part of the bytes of a message.
    public mutating func append(_ part: Range<Int>, of bytes: Span<UInt8>) {
        bytes.extracting(part).withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}

extension OutputSpan<UInt8> {
    /// Appends the ASCII of a literal.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(copying: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the lowest digits of a number, lower-case hexadecimal.
    @inline(__always)
    mutating func append(hex value: UInt64, digits: Int) {
        let text = (Hexadecimal.characters(value >> 32), Hexadecimal.characters(value & 0xffff_ffff))
        Swift.withUnsafeBytes(of: text) { append(copying: UnsafeRawBufferPointer(rebasing: $0[(16 - digits)...])) }
    }

    /// Appends a sign and the two digits of a byte.
    mutating func append(_ sign: UInt8, escaping byte: UInt8) {
        append(sign)
        append(hex: UInt64(byte), digits: 2)
    }

    /// Appends a part of the bytes of a message.
    @inline(__always)
    mutating func append(_ part: Range<Int>, of bytes: Span<UInt8>) {
        bytes.bytes.extracting(part).withUnsafeBytes { append(copying: $0) }
    }

    @inline(__always)
    private mutating func append(copying text: UnsafeRawBufferPointer) {
        precondition(text.count <= freeCapacity, "written behind the capacity")
        withUnsafeMutableBufferPointer { bytes, count in
            let free = UnsafeMutableRawBufferPointer(bytes)[count...]
            UnsafeMutableRawBufferPointer(rebasing: free).copyMemory(from: text)
            count += text.count
        }
    }
}
