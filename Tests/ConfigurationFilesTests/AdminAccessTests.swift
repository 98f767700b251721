// SPDX-License-Identifier: Apache-2.0

import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("Access to the pages of the admin port")
struct AdminAccessTests {
    private let folder = TemporaryFolder()

    init() throws {
        for file in ["c.pem", "k.pem"] { try folder.write("x", to: file) }
        try folder.write("0123456789abcdef\n", to: "token")
    }

    private func access(_ admin: String) throws -> HeraldConfiguration.PageAccess {
        try folder.load(smallest + "admin: {\(admin)}").pageAccess
    }

    @Test(arguments: ["", "listen: 127.0.0.1", "listen: '[::1]:9470'", "tls: {certificate: c.pem, key: k.pem}"])
    func `on loopback the pages need no login`(admin: String) throws {
        #expect(try access(admin) == .thisMachine)
    }

    @Test func `a token is asked for on loopback too`() throws {
        guard case .token(let token, let isSecure) = try access("token_file: token") else {
            Issue.record("no token")
            return
        }
        #expect(token.reveal() == "0123456789abcdef" && !isSecure)
    }

    @Test(arguments: [
        ("", "admin.tls (certificate and key) and admin.token_file"), (", token_file: token", "admin.tls"),
        (", tls: {certificate: c.pem, key: k.pem}", "admin.token_file"),
    ])
    func `on another address the pages are off until TLS and token are set`(more: String, missing: String) throws {
        guard case .off(let text) = try access("listen: 192.0.2.10" + more) else {
            Issue.record("the pages are on")
            return
        }
        #expect(text.contains("set \(missing)"), "\(text)")
        #expect(text.contains("admin.listen is 192.0.2.10:9470"))
    }

    @Test func `with both they are on`() throws {
        let both = try access("listen: 192.0.2.10, token_file: token, tls: {certificate: c.pem, key: k.pem}")
        guard case .token(_, isSecure: true) = both else {
            Issue.record("\(both)")
            return
        }
    }

    @Test(arguments: [
        ("", nil), ("public_url: https://sbc.example:9470/", "https://sbc.example:9470"),
        ("public_url: 'http://[::1]/herald'", "http://[::1]/herald"),
        ("enabled: false, public_url: https://sbc.example", nil),
    ])
    func `the pages have the address that people open`(admin: String, url: String?) throws {
        #expect(try folder.load(smallest + "admin: {\(admin)}").pagesURL == url)
    }

    @Test(arguments: [
        "sbc.example", "ftp://sbc.example", "https://u:p@sbc.example", "https://sbc.example/?a=1", "'https://a/\"<'",
    ])
    func `another address is refused`(url: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try access("public_url: \(url)") }
        #expect(
            error.map { "\($0.problems)" }?.contains("admin.public_url: must be an http:// or https:// URL") == true)
    }

    @Test func `a short token is refused, and no message shows it`() throws {
        try folder.write("sesame\n", to: "token")
        let error = #expect(throws: ConfigurationError.self) { try access("token_file: token") }
        let text = error.map { "\($0.problems)" } ?? ""
        #expect(text.contains("fewer than 16 characters") && !text.contains("sesame"), "\(text)")
    }

    @Test func `a token in the file itself is refused`() {
        #expect(throws: ConfigurationError.self) { try access("token: 0123456789abcdef") }
    }

    @Test func `TLS needs both files`() {
        #expect(throws: ConfigurationError.self) { try access("tls: {certificate: c.pem}") }
        #expect(throws: ConfigurationError.self) { try access("tls: {certificate: c.pem, key: gone.pem}") }
    }
}
