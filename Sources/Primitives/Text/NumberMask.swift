// SPDX-License-Identifier: Apache-2.0

/// The one mask of telephone numbers, in logs, traces and pages: the first two and the last three digits stay, as in
/// `+61******001`.
///
/// Numbers of up to six digits stay whole: extensions and services.
public enum NumberMask {
    private static let fewest = 7

    /// A text of people with every number masked; a slash belongs to a number as well.
    public static func masked(_ text: String) -> String {
        var out = Array(text.utf8)
        mask(&out, from: 0, keepsEnds: true, joinsSlashes: true)
        return String(decoding: out, as: UTF8.self)
    }

    /// Whether a text of people holds a number that the mask hides.
    public static func holdsNumber(_ text: String) -> Bool {
        text.utf8.count(where: isDigit) >= fewest && masked(text) != text
    }

    /// The bytes with every run of seven digits or more masked; the length stays.
    ///
    /// Blanks, hyphens, dots and brackets between digits belong to the run, except in an IPv4 address.
    ///
    /// - Parameter keepsEnds: false hides the first and the last digits as well.
    public static func masked(_ bytes: ArraySlice<UInt8>, keepsEnds: Bool = true) -> [UInt8] {
        var out = Array(bytes)
        mask(&out, from: 0, keepsEnds: keepsEnds)
        return out
    }

    /// Masks the bytes behind a position in their place.
    ///
    /// - Parameter joinsSlashes: true if a slash between digits belongs to the run as well.
    public static func mask(
        _ out: inout [UInt8], from position: Int, keepsEnds: Bool, joinsSlashes: Bool = false
    ) {
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
            while next < bytes.count, isDigit(bytes[next]) || isSeparator(bytes[next], joinsSlashes) {
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

    /// A decimal digit of ASCII.
    public static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 <= 9 }

    /// A blank, hyphen, dot or bracket, or a slash where it joins digits.
    @inline(__always)
    private static func isSeparator(_ byte: UInt8, _ joinsSlashes: Bool) -> Bool {
        switch byte {
        case 0x20, 0x28, 0x29, 0x2D, 0x2E: true
        case 0x2F: joinsSlashes
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
