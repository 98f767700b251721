// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import GatewaySync

@Suite("Where the directory is")
struct DirectoryAddressTests {
    @Test(arguments: [
        ("https://edge.example.org", "https://edge.example.org"),
        ("https://edge.example.org/", "https://edge.example.org"),
        ("https://edge.example.org/api", "https://edge.example.org"),
        ("https://edge.example.org/api/", "https://edge.example.org"),
        ("https://edge.example.org/brands/api//", "https://edge.example.org/brands"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/api", "http://[::1]:8080"),
        ("https://example.org/capi", "https://example.org/capi"),
    ])
    func `a base with or without its mount names the same directory`(text: String, root: String) throws {
        #expect(try #require(DirectoryAddress(text)).description == root)
    }

    @Test(arguments: [
        "", "edge.example.org", "ftp://example.org", "https://", "https://user:secret@example.org",
        "https://example.org/?a=b", "https://example.org/#top", "file:///etc/passwd",
    ])
    func `what is no plain web address is refused`(text: String) {
        #expect(DirectoryAddress(text) == nil)
    }

    @Test func `a plus sign in a query travels as percent 2B exactly once`() throws {
        let address = try #require(DirectoryAddress("https://example.org"))
        let url = address.url("mobile/branding/lookup", mount: .api, query: [("e164", "+1234567890")])
        #expect(url == "https://example.org/api/mobile/branding/lookup?e164=%2B1234567890")
    }

    @Test(arguments: [
        ("2026-01-31T23:59:59.123456Z", "2026-01-31T23%3A59%3A59.123456Z"),
        ("2026-01-31T23:59:59+02:00", "2026-01-31T23%3A59%3A59%2B02%3A00"),
        ("a b&c=d%2B/ü~", "a%20b%26c%3Dd%252B%2F%C3%BC~"),
    ])
    func `a cursor is encoded to the letter`(cursor: String, encoded: String) {
        #expect(DirectoryAddress.encoded(cursor) == encoded)
        #expect(DirectoryAddress.encoded(cursor).removingPercentEncoding == cursor)
    }
}
