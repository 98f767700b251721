// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WebPages

@Suite("Foreign text on a page")
struct PageTextTests {
    /// Unicode Standard Annex #29: a mark belongs to the grapheme cluster before it.
    ///
    /// HTML Standard §13.2.5.36: a quote ends the attribute all the same.
    @Test(arguments: ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{20DD}"])
    func `a quote with a mark behind it stays inside its attribute`(mark: String) throws {
        let templates = try PageTemplates(["field": Array("<input value=\"{{.}}\">".utf8)])
        let html = try #require(templates.render("field", "\"\(mark) onmouseover=alert(1)"))
        #expect(html.utf8.count { $0 == UInt8(ascii: "\"") } == 2, "\(html)")
        #expect(html.utf8.starts(with: "<input value=\"&quot;".utf8))
    }

    @Test(arguments: [
        ("<b>\u{301}", "&lt;b&gt;\u{301}"), ("&\u{301}lt;", "&amp;\u{301}lt;"), ("it's", "it&#39;s"),
        ("a\u{202E}b", "a\\u{202e}b"), ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"), ("\u{1B}[2J", "\\u{1b}[2J"),
        ("\u{0}", "\\u{0}"), ("\u{2028}", "\\u{2028}"), ("\u{FEFF}x", "\\u{feff}x"), ("\u{E0041}", "\\u{e0041}"),
    ])
    func `markup is text, and what cannot be seen is visible`(text: String, shown: String) {
        #expect(PageText().escapeText(text) == shown)
    }

    @Test(arguments: ["Müller & Söhne".replacing("& ", with: ""), "日本電信", "👩\u{200D}🔧", "क्\u{200D}ष", "a\tb\nc"])
    func `names of any script stay as they are`(text: String) {
        #expect(PageText().escapeText(text) == text)
    }

    @Test func `a partial and a section escape too`() throws {
        let templates = try PageTemplates([
            "outer": Array("{{#items}}{{>inner}}{{/items}}".utf8), "inner": Array("[{{.}}]".utf8),
        ])
        #expect(templates.render("outer", ["items": ["\"\u{301}"]]) == "[&quot;\u{301}]")
    }
}
