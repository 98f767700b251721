// SPDX-License-Identifier: Apache-2.0

import Primitives
import SeededRandom
import Testing

@Suite("Lines of a terminal")
struct WrappedTextTests {
    @Test(arguments: [
        ("", [""]), ("one", ["one"]), ("one two three", ["one two", "three"]), ("one  two", ["one  two"]),
        ("abcdefghijkl", ["abcdefghij", "kl"]), ("a abcdefghijkl", ["a abcdefgh", "ijkl"]),
        ("From: <a>;purpose=x;y", ["From: <a>", ";purpose=x", ";y"]), ("名前名前名前", ["名前名前名", "前"]),
        ("123456789 abcdefghijkl", ["123456789", "abcdefghij", "kl"]),
    ])
    func `a text is broken at blanks, and a long word is cut`(text: String, lines: [String]) {
        #expect(WrappedText.lines(text, width: 10) == lines)
    }

    private static let characters: [Character] = ["a", "a", "b", " ", ";", "é", "名"]

    @Test func `no line is too long, and no character is lost`() {
        var random = RepeatableRandom(seed: 57)
        for _ in 0..<2_000 {
            let text = String((0..<60).compactMap { _ in Self.characters.randomElement(using: &random) })
            for width in [2, 7, 20] {
                let lines = WrappedText.lines(text, width: width)
                #expect(lines.allSatisfy { TerminalText.width($0) <= width }, "\(text)")
                #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " }, "\(text)")
            }
        }
    }

    @Test func `a long sentence goes on below its begin, and a short line stays`() {
        let text = "warning clock  not kept in step by NTP: certificates depend on it\nok      disk   70 GiB free\n"
        #expect(
            WrappedText.hanging(text, behind: 15, width: 40) == """
                warning clock  not kept in step by NTP:
                               certificates depend on it
                ok      disk   70 GiB free

                """)
        #expect(WrappedText.hanging(text, behind: 15, width: 34) == text)
        #expect(WrappedText.hanging(text, behind: 15, width: 80) == text)
        #expect(WrappedText.hanging("", behind: 0, width: 80).isEmpty)
    }

    @Test(arguments: [0, 3, 22]) func `no character is lost, and no line is too long`(columns: Int) {
        let line = String(repeating: "x", count: 30) + " 名前 " + String(repeating: "word ", count: 30) + "end"
        let wrapped = WrappedText.hanging(line, behind: columns, width: 50)
        for line in wrapped.split(separator: "\n") { #expect(TerminalText.width(String(line)) <= 50, "\(line)") }
        #expect(wrapped.filter { $0 != " " && $0 != "\n" } == line.filter { $0 != " " })
    }
}
