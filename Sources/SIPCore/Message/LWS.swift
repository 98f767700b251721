// SPDX-License-Identifier: Apache-2.0

/// White space as SIP means it: SP, HTAB and the CR and LF of a fold (LWS, RFC 3261 §25.1).
public enum LWS {
    public static func contains(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 || byte == 10 }

    /// The range without white space at either end; empty at its end when all is blank.
    public static func trimmed(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> { trimmed(bytes.span, range) }

    /// The range without white space at its end.
    public static func trimmedEnd(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        trimmedEnd(bytes.span, range)
    }

    /// The range without white space at either end; empty at its end when all is blank.
    @inline(__always)
    static func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        trimmedEnd(bytes, skipped(bytes, range)..<range.upperBound)
    }

    /// The first position that is no white space; the end of the range where there is none.
    @inline(__always)
    static func skipped(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
        var lower = range.lowerBound
        while lower < range.upperBound, contains(bytes[lower]) { lower += 1 }
        return lower
    }

    /// The range without white space at its end.
    @inline(__always)
    static func trimmedEnd(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var upper = range.upperBound
        while upper > range.lowerBound, contains(bytes[upper - 1]) { upper -= 1 }
        return range.lowerBound..<upper
    }
}
