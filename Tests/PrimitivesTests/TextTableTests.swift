// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@Suite("Text table")
struct TextTableTests {
    @Test func `columns line up and lines end without blanks`() {
        var table = TextTable(["NAME", "N"], .narrow)
        table.add(["a", "12"])
        table.add(["long name", nil])
        table.add(["", "3"])
        #expect(table.text == "NAME       N\na          12\nlong name  -\n-          3\n")
    }

    @Test func `wide characters take two columns`() {
        var table = TextTable(["A", "B"], .narrow)
        table.add(["東京", "x"])
        #expect(table.text == "A     B\n東京  x\n")
    }

    @Test(arguments: [
        ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"), ("a\r\nb", "a\\u{d}\\u{a}b"), ("tab\tbed", "tab\\u{9}bed"),
        ("\u{9b}31m", "\\u{9b}31m"), ("\u{202e}evil", "\\u{202e}evil"), ("Müller & Söhne 東京", "Müller & Söhne 東京"),
        ("nul\0", "nul\\u{0}"), ("line\u{2028}sep", "line\\u{2028}sep"),
    ])
    func `nothing from the wire can steer a terminal`(text: String, expected: String) {
        #expect(TerminalText.visible(text) == expected)
        var table = TextTable(["T"], .narrow)
        table.add([text])
        #expect(table.text == "T\n\(expected)\n")
    }

    private static let long = String(repeating: "0123456789", count: 12)

    @Test func `a narrow table leaves columns out, and a wide one has all cells whole`() {
        func table(_ form: TableForm) -> String {
            var table = TextTable(["NAME", "ID", "TEXT"], form, wideOnly: ["ID"])
            table.add(["a", "7", Self.long])
            return table.text
        }
        #expect(table(.narrow) == "NAME  TEXT\na     \(Self.long.prefix(73))…\n")
        #expect(table(.wide) == "NAME  ID  TEXT\na     7   \(Self.long)\n")
    }

    @Test func `the widest text is cut first, and a whole column last`() {
        var table = TextTable(["KEY", "TEXT", "MORE"], .narrow, whole: ["KEY"])
        table.add([String(Self.long.prefix(60)), String(Self.long.prefix(30)), "short"])
        #expect(table.text.split(separator: "\n")[1] == "\(Self.long.prefix(60))  \(Self.long.prefix(10))…  short")
        table.add([Self.long, Self.long, Self.long])
        #expect(table.text.split(separator: "\n")[2] == "\(Self.long.prefix(69))…  01…  01…")
    }

    @Test(arguments: [
        "a", "東京都千代田区丸の内一丁目", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "\u{202E}\u{1B}[2Jevil\r\nline", "e\u{301}", "",
    ])
    func `no line of a narrow table is wider than 80 columns or has a control character`(part: String) {
        let titles = ["FIRST", "SECOND", "THIRD", "FOURTH", "FIFTH", "SIXTH", "SEVENTH", "EIGHTH", "NINTH", "TENTH"]
        for columns in 1...titles.count {
            for whole in [[], Set(titles.prefix(2)), Set(titles)] {
                var table = TextTable(Array(titles.prefix(columns)), .narrow, whole: whole)
                for count in [0, 1, 7, 200] {
                    let cell = String(repeating: part, count: count)
                    table.add([cell] + repeatElement(String(cell.prefix(9)), count: columns - 1))
                    table.add(Array(repeating: cell, count: columns))
                }
                let lines = table.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                #expect(lines.count == 9)
                for line in lines { #expect(TerminalText.width(String(line)) <= 80, "\(line)") }
                #expect(table.text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 32 && $0.value != 0x202E })
            }
        }
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("東京都", 5, "東京…"), ("東京都", 4, "東…"),
        ("", 1, ""),
    ])
    func `a text is cut to its columns`(text: String, columns: Int, cut: String) {
        #expect(TerminalText.cut(text, to: columns) == cut)
    }
}
