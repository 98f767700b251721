// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import DirectoryStore

@Suite("Comma-separated values, RFC 4180")
struct CSVReaderTests {
    struct Example: Sendable {
        let text: String
        let lines: [Int]
        let fields: [[String]]
    }

    @Test(arguments: [
        Example(text: "", lines: [], fields: []),
        Example(text: "\n\r\n\n", lines: [], fields: []),
        Example(text: "a,b\nc,d", lines: [1, 2], fields: [["a", "b"], ["c", "d"]]),
        Example(text: "a,b\r\nc,d\r\n", lines: [1, 2], fields: [["a", "b"], ["c", "d"]]),
        Example(text: "a\rb\r", lines: [1, 2], fields: [["a"], ["b"]]),
        Example(text: "\u{FEFF}a,b\n", lines: [1], fields: [["a", "b"]]),
        Example(text: "\n\na,\n", lines: [3], fields: [["a", ""]]),
        Example(text: ",,\n", lines: [1], fields: [["", "", ""]]),
        Example(text: "\"a,b\",c\n", lines: [1], fields: [["a,b", "c"]]),
        Example(text: "\"a \"\"b\"\" c\"", lines: [1], fields: [["a \"b\" c"]]),
        Example(text: "\"two\nlines\",x\nnext", lines: [1, 3], fields: [["two\nlines", "x"], ["next"]]),
        Example(text: "\"\",\"\"\n", lines: [1], fields: [["", ""]]),
        Example(text: "a\"b,c\n", lines: [1], fields: [["a\"b", "c"]]),
        Example(text: "\"a\" ,b\n", lines: [1], fields: [["a", "b"]]),
        Example(text: "Käthe,☎︎\n", lines: [1], fields: [["Käthe", "☎︎"]]),
    ])
    func `rows come with the line they begin on`(example: Example) {
        let rows = Array(CSVReader(ByteSource(Array(example.text.utf8))))
        #expect(rows.map(\.line) == example.lines)
        #expect(rows.map(\.fields) == example.fields)
        #expect(rows.allSatisfy { $0.defect == nil })
    }

    @Test(arguments: [
        "a\"b", "a\"\u{301},b", "\"\u{301}", "a,\u{301}", "a\n\u{301}b", "=\u{338}1", "'\u{301}x", "e\u{301}",
    ])
    func `a written cell is read back, also with combining marks`(cell: String) {
        let line = CSVLine.text([.text(cell), .plain("next")])
        let rows = Array(CSVReader(ByteSource(Array(line.utf8))))
        #expect(
            rows.map { $0.fields.map { Array($0.utf8) } } == [[Array(CellText.written(cell).utf8), Array("next".utf8)]])
        #expect(rows.allSatisfy { $0.defect == nil })
        #expect(rows.first.map { CellText.read($0.fields[0]) } == cell)
    }

    @Test func `a quote that never closes takes the rest with it`() {
        let rows = Array(CSVReader(ByteSource(Array("a,b\n\"c,d\ne,f\n".utf8))))
        #expect(rows.map(\.defect) == [nil, .openQuote])
        #expect(rows.map(\.line) == [1, 2])
    }

    @Test func `text behind a closing quote is a defect of its row alone`() {
        let rows = Array(CSVReader(ByteSource(Array("\"a\"b,c\nd,e\n".utf8))))
        #expect(rows.map(\.defect) == [.textAfterQuote, nil])
    }

    @Test(arguments: [false, true])
    func `bytes of another encoding are a defect, not question marks`(isQuoted: Bool) {
        let name: [UInt8] = isQuoted ? [0x22, 0x4B, 0xE4, 0x74, 0x22] : [0x4B, 0xE4, 0x74]
        let rows = Array(CSVReader(ByteSource(Array("a,".utf8) + name + Array("\nb,c".utf8))))
        #expect(rows.map(\.defect) == [.encoding, nil])
    }
}
