// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

@Suite("Splices: what is not named does not change, RFC 3261 §16.6")
struct SplicesTests {
    static let bytes = Array("0123456789".utf8)

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let edits: [(range: Range<Int>, text: StaticString)]
        let result: String

        init(_ what: String, _ edits: [(range: Range<Int>, text: StaticString)], _ result: String) {
            testDescription = what
            self.edits = edits
            self.result = result
        }
    }

    @Test(arguments: [
        Row("nothing", [], "0123456789"), Row("an insertion at the start", [(0..<0, "a")], "a0123456789"),
        Row("an insertion at the end", [(10..<10, "a")], "0123456789a"), Row("everything goes", [(0..<10, "")], ""),
        Row("noted last, made first", [(8..<9, "b"), (1..<2, "a")], "0a234567b9"),
        Row("one position keeps the order of noting", [(3..<3, "a"), (3..<3, "b"), (3..<3, "c")], "012abc3456789"),
        Row("an insertion before a removal of what stands there", [(3..<3, "a"), (3..<5, "")], "012a56789"),
        Row("an insertion noted after the removal", [(3..<5, ""), (3..<3, "a")], "012a56789"),
        Row("an insertion behind a removal", [(5..<5, "a"), (3..<5, "")], "012a56789"),
        Row("neighbours", [(2..<4, "x"), (4..<6, "y"), (0..<2, "w")], "wxy6789"),
        Row("growth and shrinking", [(0..<1, "abc"), (5..<10, "")], "abc1234"),
    ])
    func `edits are made by position`(row: Row) {
        var splices = Splices()
        for edit in row.edits {
            if edit.text.utf8CodeUnitCount == 0 {
                splices.remove(edit.range)
            } else {
                splices.replace(edit.range) { $0.append(edit.text) }
            }
        }
        #expect(text(splices.applied(to: Self.bytes)) == row.result)
        #expect(splices.growth == row.result.utf8.count - Self.bytes.count)
        #expect(splices.isEmpty == row.edits.isEmpty)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `any edits give what replacing from the back gives`(seed: UInt64) {
        var random = RepeatableRandom(seed: seed)
        var splices = Splices()
        var expected = Self.bytes
        var edits: [(Range<Int>, UInt8)] = []
        var position = 0
        while position < Self.bytes.count {
            let start = position + Int(random.next() % 3)
            let end = start + Int(random.next() % 3)
            guard end <= Self.bytes.count, start > (edits.last?.0.lowerBound ?? -1) else { break }
            edits.append((start..<end, UInt8(ascii: "a") + UInt8(random.next() % 26)))
            position = end
        }
        for (range, letter) in edits.shuffled(using: &random) { splices.replace(range) { $0.append(letter) } }
        for (range, letter) in edits.reversed() { expected.replaceSubrange(range, with: [letter]) }
        #expect(splices.applied(to: Self.bytes) == expected)
    }
}
