// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@Suite("The template of public cards")
struct CardLinksTests {
    static let accepted = [
        "https://cards.example/b/{brand_id}", "https://cards.example:8443/x/b/{brand_id}?v=1",
        "HTTPS://c.example/{brand_id}",
        "https://cards.example/?id={brand_id}&x", "http://127.0.0.1:8080/b/{brand_id}", "http://localhost/b/{brand_id}",
        "http://[::1]:80/b/{brand_id}",
    ]

    @Test(arguments: accepted) func `https is taken, and http on this machine`(template: String) throws {
        let links = try #require(CardLinks(template: template))
        #expect(links.template == template)
        #expect(links.address(of: "acme") == template.replacing("{brand_id}", with: "acme"))
    }

    static let refused = [
        "", "{brand_id}", "https://cards.example/b/", "https://cards.example/b/{brand_id}/{brand_id}",
        "https://cards.example/{other}/{brand_id}", "https://c\u{E4}rds.example/{brand_id}",
        "javascript:alert({brand_id})",
        "https://cards.example/{id}", "https://{brand_id}.example/b", "https://cards.example{brand_id}/b",
        "http://cards.example/b/{brand_id}", "http://127.0.0.1.example/b/{brand_id}", "ftp://c.example/{brand_id}",
        "http://localhost@c.example/{brand_id}", "https://user@c.example/{brand_id}", "javascript:{brand_id}",
        // RFC 3261 §25.1: none of them may be between angle brackets.
        "https://c.example/>;x={brand_id}", "https://c.example/\"{brand_id}", "https://c.example/a b{brand_id}",
        "https://c.example/\r\nVia:{brand_id}", "https://c.example/\u{202E}{brand_id}", "https://c.example/{brand_id}{",
        "https://c.example/#{brand_id}", "https://c.example/{brand_id}#top",
        "https://c.example/\u{0}{brand_id}", "https:///b/{brand_id}",
        "https://c.example/" + String(repeating: "a", count: 500) + "{brand_id}",
    ]

    @Test(arguments: refused) func `nothing else is taken`(template: String) {
        #expect(CardLinks(template: template) == nil)
    }

    // RFC 3986 §3.3: both are resolved as path segments, also where they are escaped.
    @Test(arguments: ["", ".", ".."]) func `an identifier that is no path segment has no card`(id: String) {
        #expect(CardLinks(template: "https://c.example/{brand_id}")?.address(of: id) == nil)
    }
}
