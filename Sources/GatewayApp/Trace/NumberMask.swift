// SPDX-License-Identifier: Apache-2.0

/// Masks telephone numbers as `log.numbers: masked` does: `+61******001`.
enum NumberMask {
    private static let fewest = 7

    /// The bytes with every run of seven digits or more masked; the length stays.
    ///
    /// Blanks, hyphens, dots and brackets between digits belong to the run, except in an IPv4 address.
    ///
    /// - Parameter keepsEnds: false hides the first and the last digits as well.
    static func masked(_ bytes: ArraySlice<UInt8>, keepsEnds: Bool = true) -> [UInt8] {
        var out = Array(bytes)
        mask(&out, from: 0, keepsEnds: keepsEnds)
        return out
    }

    /// Masks the bytes behind a position in their place.
    static func mask(_ out: inout [UInt8], from position: Int, keepsEnds: Bool) {
        var bytes = out.mutableSpan
        var start = position
        while start < bytes.count {
            guard isDigit(bytes[start]) else {
                start += 1
                continue
            }
            var end = start
            var next = start
            var digits = 0
            while next < bytes.count, isDigit(bytes[next]) || isSeparator(bytes[next]) {
                next += 1
                guard isDigit(bytes[next - 1]) else { continue }
                end = next
                digits += 1
            }
            if digits >= fewest, !isAddress(bytes, start..<end) {
                hide(&bytes, start..<end, keepsEnds ? 2..<(digits - 3) : 0..<digits)
            }
            start = end
        }
    }

    private static func hide(_ bytes: inout MutableSpan<UInt8>, _ run: Range<Int>, _ hidden: Range<Int>) {
        var digit = 0
        for position in run where isDigit(bytes[position]) {
            if hidden.contains(digit) { bytes[position] = UInt8(ascii: "*") }
            digit += 1
        }
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 <= 9 }

    /// A blank, hyphen, dot or bracket.
    @inline(__always)
    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x28, 0x29, 0x2D, 0x2E: true
        default: false
        }
    }

    /// True for four numbers of at most 255 with dots.
    private static func isAddress(_ bytes: borrowing MutableSpan<UInt8>, _ run: Range<Int>) -> Bool {
        var (dots, value, isEmpty) = (0, 0, true)
        for position in run {
            let byte = bytes[position]
            if byte == UInt8(ascii: ".") {
                guard !isEmpty else { return false }
                (dots, value, isEmpty) = (dots + 1, 0, true)
            } else {
                guard isDigit(byte) else { return false }
                value = value * 10 + Int(byte - 48)
                guard value <= 255 else { return false }
                isEmpty = false
            }
        }
        return dots == 3 && !isEmpty
    }
}
