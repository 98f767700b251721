// SPDX-License-Identifier: Apache-2.0

/// The characters of a token (RFC 3261 §25.1).
enum Token {
    /// True when a range has nothing but characters of a token.
    @inline(never)
    static func isWhole(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var position = range.lowerBound
        while true {
            position = bytes.position(in: position..<range.upperBound) {
                !($0.digitMarks | $0.letterMarks | $0.marks(2, from: UInt8(ascii: "-")) | $0.marks(UInt8(ascii: "_")))
            }
            guard position < range.upperBound else { return true }
            guard contains(bytes[position]) else { return false }
            position += 1
        }
    }

    static func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "%"), UInt8(ascii: "*"),
            UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "`"), UInt8(ascii: "'"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
