// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import BrandingAPI

/// Links of the mobile API: "Deep Link Patterns", with the things of a branding directory.
@Suite("Deep links")
struct DeepLinkTests {
    @Test(arguments: [
        (DeepLink.Kind.brand, "clx1a2b3c4d5e6f7g8h9i0j1", "herald://brand/clx1a2b3c4d5e6f7g8h9i0j1"),
        (.call, "01939f0a-7c2e-7000-8000-000000000001", "herald://call/01939f0a-7c2e-7000-8000-000000000001"),
        (.number, "+61491570156", "herald://number/+61491570156"),
    ])
    func `each pattern has its thing and one segment`(kind: DeepLink.Kind, id: String, link: String) throws {
        #expect(try #require(DeepLink(kind, id)).text(scheme: "herald") == link)
    }

    @Test func `the scheme is the operator's`() throws {
        let number = try #require(E164Number("+61491570156"))
        #expect(DeepLink(number: number).text(scheme: "acme.app") == "acme.app://number/+61491570156")
    }

    @Test(arguments: [
        ("a/b", "a%2Fb"), ("a b", "a%20b"), ("a?b#c", "a%3Fb%23c"), ("<script>\"'", "%3Cscript%3E%22%27"),
        ("a%2Fb", "a%252Fb"), ("b\u{FC}ro", "b%C3%BCro"), ("a\r\nSet-Cookie: x", "a%0D%0ASet-Cookie%3A%20x"),
        ("\u{202E}gnp", "%E2%80%AEgnp"), ("a>;purpose=icon", "a%3E%3Bpurpose%3Dicon"),
    ])
    func `hostile identifiers stay in their segment`(id: String, segment: String) throws {
        #expect(try #require(DeepLink(.brand, id)).text(scheme: "herald") == "herald://brand/\(segment)")
        #expect(CardURL.text(base: "https://cards.example", brandID: id) == "https://cards.example/b/\(segment)")
    }

    @Test(arguments: ["acme", "a b", "b\u{FC}ro", "a>;purpose=icon", "...", "", ".."])
    func `a gateway gets the same address from the template as the directory has`(id: String) throws {
        for base in ["https://cards.example", "https://cards.example/x/", "http://127.0.0.1:8088"] {
            let links = try #require(CardLinks(template: CardURL.template(base: base)))
            #expect(links.address(of: id) == CardURL.text(base: base, brandID: id))
        }
    }

    @Test(arguments: ["", ".", ".."])
    func `no link has an identifier that clients resolve away`(id: String) {
        #expect(DeepLink(.brand, id) == nil)
        #expect(CardURL.text(base: "https://cards.example/", brandID: id) == nil)
    }

    @Test func `a slash at the end of the base is not doubled`() {
        #expect(
            CardURL.text(base: "https://cards.example/x/", brandID: "acme") == "https://cards.example/x/b/acme")
    }
}
