// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@Suite("Text table")
struct TextTableTests {
    @Test func `columns line up and lines end without blanks`() {
        var table = TextTable(["NAME", "N"])
        table.add(["a", "12"])
        table.add(["long name", nil])
        table.add(["", "3"])
        #expect(table.text == "NAME       N\na          12\nlong name  -\n-          3\n")
    }

    @Test func `wide characters take two columns`() {
        var table = TextTable(["A", "B"])
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
        var table = TextTable(["T"])
        table.add([text])
        #expect(table.text == "T\n\(expected)\n")
    }
}
