// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import SIPCore

@Suite("Searches that look at sixteen bytes at once find what one by one finds")
struct SixteenBytesTests {
    /// Bytes next to those searched for, where a borrow from byte to byte could leave a false mark.
    private static let near: [UInt8] = [
        0, 1, 8, 9, 10, 11, 12, 13, 14, 31, 32, 33, 34, 44, 47, 48, 57, 58, 59, 60, 64, 65, 90, 91, 96, 97, 122, 123,
        127, 128, 141, 255,
    ]

    private static func text(_ random: inout RepeatableRandom) -> [UInt8] {
        (0..<Int.random(in: 0...70, using: &random)).map { _ in near.randomElement(using: &random) ?? 0 }
    }

    private static func range(of text: [UInt8], _ random: inout RepeatableRandom) -> Range<Int> {
        let lower = Int.random(in: 0...text.count, using: &random)
        return lower..<Int.random(in: lower...text.count, using: &random)
    }

    @Test func `the first of a byte, of several, of small ones and of white space, in any range of any text`() {
        var random = RepeatableRandom(seed: 8)
        for _ in 0..<20_000 {
            let text = Self.text(&random)
            let range = Self.range(of: text, &random)
            let (one, other) = (
                Self.near.randomElement(using: &random) ?? 0, Self.near.randomElement(using: &random) ?? 0
            )
            #expect(text.firstIndex(of: one, in: range) == text[range].firstIndex(of: one))
            #expect(text.contains(one, in: range) == text[range].contains(one))
            let either = text.span.position(in: range) { $0.marks(one) | $0.marks(other) }
            #expect(either == text[range].firstIndex { $0 == one || $0 == other } ?? range.upperBound)
            let small = text.span.position(in: range) { $0.marks(below: 14) }
            #expect(small == text[range].firstIndex { $0 < 14 } ?? range.upperBound)
            let run = text.span.position(in: range) { $0.marks(3, from: 31) }
            #expect(run == text[range].firstIndex { (31...33).contains($0) } ?? range.upperBound)
            let strange = text.span.position(in: range) { !($0.digitMarks | $0.letterMarks) }
            #expect(strange == text[range].firstIndex { !Self.isLetterOrDigit($0) } ?? range.upperBound)
            let blank = text.span.position(in: range) { $0.blankMarks }
            #expect(blank == text[range].firstIndex(where: LWS.contains) ?? range.upperBound)
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    @Test func `every byte at every place of every length`() {
        for count in 1...33 {
            for place in 0..<count {
                var text = [UInt8](repeating: UInt8(ascii: "a"), count: count)
                for byte in UInt8.min...UInt8.max where byte != UInt8(ascii: "a") {
                    text[place] = byte
                    #expect(text.firstIndex(of: byte, in: text.indices) == place)
                }
            }
        }
    }
}
