// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Branding

@Suite("Display names, RFC 3261 §25.1 quoted-string")
struct DisplayNameTests {
    @Test(arguments: [
        ("Acme Bank", "\"Acme Bank\""),
        ("Acme \"The\" Bank", "\"Acme \\\"The\\\" Bank\""),
        ("Acme\\", "\"Acme\\\\\""),
        ("\\\"", "\"\\\\\\\"\""),
        ("Müller & Söhne", "\"Müller & Söhne\""),
        ("<sip:evil@example.com>;tag=1", "\"<sip:evil@example.com>;tag=1\""),
        ("日本電信", "\"日本電信\""),
        ("Acme 👩‍👩‍👧 Care", "\"Acme 👩‍👩‍👧 Care\""),
    ])
    func `quotes and backslashes are escaped and other characters stay`(name: String, expected: String) throws {
        let display = try #require(DisplayName(name, profile: .init()))
        #expect(display.quoted == expected)
        #expect(display.text == name)
    }

    @Test(arguments: [
        ("Acme\r\nX-Evil: 1", "Acme X-Evil: 1"),
        ("Acme\r\n\r\nINVITE sip:a", "Acme INVITE sip:a"),
        ("Ac\u{0}me", "Acme"),
        ("Ac\u{1B}[31mme\u{7F}", "Ac[31mme"),
        ("Ac\u{85}me\u{9B}", "Acme"),
        ("Acme\u{2028}Bank\u{2029}", "Acme Bank"),
        ("\u{202E}knaB emcA\u{202C}", "knaB emcA"),
        ("\u{2066}Acme\u{2069} \u{200E}Bank\u{200F}", "Acme Bank"),
        ("Acme\u{FEFF}\u{200B}Bank\u{AD}", "AcmeBank"),
        ("  Acme \t  Bank\u{A0}\u{3000} ", "Acme Bank"),
        ("Acme\u{FFFE}\u{1FFFF}", "Acme"),
        ("Acme \u{E000}\u{F0000}", "Acme"),
    ])
    func `control, direction and invisible characters are removed`(name: String, expected: String) {
        #expect(DisplayName(name, profile: .init())?.text == expected)
    }

    /// The name of a token is compared as a whole, although a display has its cut.
    @Test func `a whole name is cleaned and not cut`() {
        let long = "Acme\u{202E} 100% " + String(repeating: "Bank ", count: 60)
        let whole = "Acme 100 percent " + String(repeating: "Bank ", count: 59) + "Bank"
        #expect(DisplayName.whole(long, profile: .init()) == whole)
        #expect(DisplayName(long, profile: .init()).map { whole.hasPrefix($0.text) && $0.text != whole } == true)
        #expect(DisplayName.whole("Acme Bank", profile: .init()) == "Acme Bank")
        #expect(DisplayName.whole("\u{202E}", profile: .init()).isEmpty)
    }

    @Test(arguments: ["", " ", "\r\n", "\u{200B}", "\u{200D}\u{200C}", "\u{202E}\u{202C}", "\u{301}", "\u{0}\u{1}"])
    func `a name without a readable character is rejected`(name: String) {
        #expect(DisplayName(name, profile: .init()) == nil)
    }

    @Test(arguments: [
        ("Acme ${caller_id}", "Acme {caller_id}"),
        ("$${x}", "{x}"),
        ("$\u{200E}{x}", "{x}"),
        ("A $ {x}", "A $ {x}"),
        ("$5 Shop", "$5 Shop"),
        ("100% Pizza", "100 percent Pizza"),
        ("100%", "100 percent"),
        ("%41cme", "percent 41cme"),
        ("50 % off", "50 percent off"),
        ("%%", "percent percent"),
        ("%${%}", "percent { percent }"),
    ])
    func `a percent sign becomes a word and the dollar sign before a brace is removed`(name: String, expected: String) {
        #expect(DisplayName(name, profile: .init())?.text == expected)
        #expect(DisplayName(name, profile: .init(percent: .keep))?.text.contains("percent") == false)
    }

    @Test func `the policy keep preserves percent and dollar signs`() {
        #expect(DisplayName("100% ${x}", profile: .init(percent: .keep))?.text == "100% ${x}")
    }

    /// Opening and closing quotes as in The Chicago Manual of Style §6.115.
    @Test(arguments: [
        ("The \"Corner\" Bakery", "The “Corner” Bakery"),
        ("\"Blue\" & \"Gold\"", "“Blue” & “Gold”"),
        ("Lane (\"The Yard\")", "Lane (“The Yard”)"),
        ("North/\"South\"-\"East\"", "North/“South”-“East”"),
        ("12\" Pizza", "12” Pizza"),
        ("Back\\Slash", "Back/Slash"),
        ("\\\"Odd\\\"", "/“Odd/“"),
        ("O'Neill’s", "O'Neill’s"),
        ("“Ready” made", "“Ready” made"),
        ("\"100%\"", "“100 percent ”"),
    ])
    func `typographic quotes need no escape`(name: String, expected: String) throws {
        let display = try #require(DisplayName(name, profile: .init(quotes: .typographic)))
        #expect(display.text == expected)
        #expect(display.quoted == "\"\(expected)\"")
        #expect(
            DisplayName(display.text, profile: .init(quotes: .typographic)) == display,
            "a second cleaning changes nothing")
    }

    @Test func `typographic quotes count with their size in bytes`() {
        #expect(DisplayName("Inn \"A\"", profile: .init(maxNameBytes: 8, quotes: .typographic))?.text == "Inn “A")
        #expect(DisplayName("Inn \"A\"", profile: .init(maxNameBytes: 6, quotes: .typographic))?.text == "Inn")
    }

    @Test(arguments: [
        ("Acme Bank", 4, "Acme"),
        ("Acme Bank", 5, "Acme"),
        ("Acme Bank", 6, "Acme B"),
        ("Zoë", 3, "Zo"),
        ("Zoe\u{308}", 4, "Zo"),
        ("Zoe\u{308}", 5, "Zoe\u{308}"),
        ("Hi 👩‍👩‍👧!", 20, "Hi"),
        ("Hi 👩‍👩‍👧!", 21, "Hi 👩‍👩‍👧"),
        ("🇦🇺🇳🇿", 8, "🇦🇺"),
        ("🇦🇺🇳🇿", 15, "🇦🇺"),
        ("日本", 5, "日"),
        ("\"\"\"\"", 2, "\"\""),
    ])
    func `a long name is cut between characters, by its bytes before quoting`(
        name: String, limit: Int, expected: String
    ) {
        #expect(DisplayName(name, profile: .init(maxNameBytes: limit))?.text == expected)
    }

    @Test func `a name is rejected if its first character exceeds the limit`() {
        #expect(DisplayName("👩‍👩‍👧", profile: .init(maxNameBytes: 17)) == nil)
        #expect(DisplayName("e" + String(repeating: "\u{301}", count: 100), profile: .init()) == nil)
    }

    @Test func `the default limit is 80 bytes, as in Asterisk`() {
        let name = String(repeating: "a", count: 200)
        #expect(DisplayName(name, profile: .init())?.text.utf8.count == 80)
        #expect(
            RenderingProfile(maxNameBytes: 0, maxReasonCharacters: 0) == .init(maxNameBytes: 1, maxReasonCharacters: 1))
        #expect(RenderingProfile(maxNameBytes: 9999).maxNameBytes == 500)
        #expect(RenderingProfile(maxReasonCharacters: 9999).maxReasonCharacters == 200)
    }

    @Test func `random text never ends its quotes or its line`() throws {
        var random = RepeatableRandom(seed: 7)
        let alphabet = Array("ab \"\\\r\n\t\0%${}é👩\u{200D}👧\u{202E}\u{308}<>;,".unicodeScalars)
        for _ in 0..<3000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                text.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
            }
            let limit = Int.random(in: 1...60, using: &random)
            guard let name = DisplayName(String(text), profile: .init(maxNameBytes: limit)) else { continue }
            let quoted = Array(name.quoted.utf8)
            #expect(name.text.utf8.count <= limit)
            #expect(!quoted.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "%") })
            #expect(!name.text.contains("${"))
            #expect(Self.endsAtLastQuote(quoted), "\(quoted)")
            #expect(
                DisplayName(name.text, profile: .init(maxNameBytes: limit)) == name, "cleaning twice changes nothing")
        }
    }

    /// True if the last byte is the first unescaped quote after the opening quote.
    private static func endsAtLastQuote(_ bytes: [UInt8]) -> Bool {
        var position = 1
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "\"") { return position == bytes.count - 1 }
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return false
    }
}
