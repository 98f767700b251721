// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@Suite("Comma-separated values, RFC 4180")
struct CSVLineTests {
    /// A text, its cell for readers, and its cell for an import.
    struct Row: Sendable {
        let text: String
        let shown: String
        let restorable: String

        init(_ text: String, shown: String, restorable: String? = nil) {
            self.text = text
            self.shown = shown
            self.restorable = restorable ?? shown
        }
    }

    @Test(arguments: [
        Row("plain", shown: "plain"), Row("", shown: ""), Row("two words", shown: "two words"),
        Row("a,b", shown: "\"a,b\""), Row("say \"hi\"", shown: "\"say \"\"hi\"\"\""),
        Row("+61255501001", shown: "+61255501001", restorable: "'+61255501001"),
        Row("-12", shown: "-12", restorable: "'-12"), Row("-12+1", shown: "'-12+1"),
        Row("=1+1", shown: "'=1+1"), Row("@sum", shown: "'@sum"), Row("-cmd", shown: "'-cmd"),
        Row("'=1", shown: "''=1"), Row("'tis", shown: "'tis"), Row("=A1,B1", shown: "\"'=A1,B1\""),
        Row("a\r\nb", shown: "a\\u{d}\\u{a}b", restorable: "\"a\r\nb\""), Row("Müller", shown: "Müller"),
        // Full-width forms, and line breaks in front of a formula.
        Row("＝1+1", shown: "'＝1+1"), Row("＋1", shown: "'＋1"), Row("－1", shown: "'－1"),
        Row("＠SUM(A1)", shown: "'＠SUM(A1)"),
        Row("\n=1", shown: "\\u{a}=1", restorable: "\"'\n=1\""),
        Row("\r=1", shown: "\\u{d}=1", restorable: "\"'\r=1\""),
        Row("=cmd|' /C calc'!A0", shown: "'=cmd|' /C calc'!A0"), Row(";=1", shown: ";=1"),
        Row("\t=1", shown: "\\u{9}=1", restorable: "'\t=1"),
        Row("\u{202e}x", shown: "\\u{202e}x", restorable: "\u{202e}x"),
        Row("x,\u{301}y", shown: "\"x,\u{301}y\""), Row("a\"\u{301}b", shown: "\"a\"\"\u{301}b\""),
        Row("=\u{301}1", shown: "'=\u{301}1"), Row("+٦١", shown: "'+٦١"),
    ])
    func `a cell cannot leave its place nor become a formula`(row: Row) {
        #expect(CSVLine.shown([row.text, nil]) == row.shown + ",\r\n")
        #expect(CSVLine.text([.text(row.text), .plain("1")]) == row.restorable + ",1\r\n")
        #expect(CellText.read(CellText.written(row.text)) == row.text)
    }
}
