// SPDX-License-Identifier: Apache-2.0

/// The one mask of telephone numbers, in logs, traces and pages: the first two and the last three digits stay, as in
/// `+61******001`.
///
/// Numbers of up to six digits stay whole: extensions and services.
package enum NumberMask {
    private static let fewest = 7

    /// A text of people with every number masked; a slash belongs to a number as well.
    package static func masked(_ text: String) -> String {
        String(decoding: masked(Array(text.utf8)[...], separators: " -.()/"), as: UTF8.self)
    }

    /// The bytes with every run of seven digits or more masked; the length stays.
    ///
    /// Blanks, hyphens, dots and brackets between digits belong to the run, except in an IPv4 address.
    ///
    /// - Parameters:
    ///   - keepsEnds: false hides the first and the last digits as well.
    ///   - separators: the characters between digits of one number.
    package static func masked(
        _ bytes: ArraySlice<UInt8>, keepsEnds: Bool = true, separators: String = " -.()"
    ) -> [UInt8] {
        var out = Array(bytes)
        var start = 0
        while start < out.count {
            guard isDigit(out[start]) else {
                start += 1
                continue
            }
            let end = runEnd(out, from: start, separators)
            let digits = (start..<end).filter { isDigit(out[$0]) }
            if digits.count >= fewest, !isAddress(out[start..<end]) {
                let kept = keepsEnds ? 2 : 0
                for position in digits.dropFirst(kept).dropLast(keepsEnds ? 3 : 0) { out[position] = 42 }
            }
            start = end
        }
        return out
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    /// The end behind the last digit of a run.
    private static func runEnd(_ bytes: [UInt8], from start: Int, _ separators: String) -> Int {
        var end = start
        var position = start
        while position < bytes.count, isDigit(bytes[position]) || separators.utf8.contains(bytes[position]) {
            position += 1
            if isDigit(bytes[position - 1]) { end = position }
        }
        return end
    }

    /// True for four numbers of at most 255 with dots.
    private static func isAddress(_ bytes: ArraySlice<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8(String(decoding: $0, as: UTF8.self)) != nil }
    }
}
