// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewaySync

@Suite("The API key stays secret")
struct APIKeyTests {
    @Test func `no way of printing it shows the key`() throws {
        let key = try #require(APIKey("sk_live_4711"))
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\([key])", "\(Optional(key) as Any)", dumped] {
            #expect(!text.contains("4711"), "\(text)")
        }
    }

    @Test func `blanks around it do not belong to it`() {
        #expect(APIKey(" sk_live_4711\r\n")?.value == "sk_live_4711")
    }

    @Test(arguments: ["", "  ", "two words", "line\nbreak", "käse", "nul\u{0}", String(repeating: "a", count: 1025)])
    func `what cannot be a header value is no key`(text: String) {
        #expect(APIKey(text) == nil)
    }

    @Test func `an echoed key is taken out of any text`() throws {
        let key = try #require(APIKey("k"))
        #expect(key.redacting("key=k, again k") == "<redacted>ey=<redacted>, again <redacted>")
    }
}
