// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

@testable import WebPages

@Suite("Pages of a site", .timeLimit(.minutes(8)))
struct PageSiteTests {
    @Test func `values are escaped, in the layout too`() async throws {
        try await TestSite.loopback.test { client in
            let page = try await client.get("/?name=%3Cscript%3E%22%26'")
            #expect(page.text.contains("<p id=\"name\">&lt;script&gt;&quot;&amp;"))
            #expect(!page.text.contains("<script>\""))
            #expect(page.text.contains("<title>Start · herald &lt;1&gt;</title>"))
        }
    }

    @Test func `HEAD of a page has its status and no body, and takes no place of a live page`() async throws {
        try await TestSite.loopback.test { client in
            let head = try await client.head("/")
            #expect(head.status == .ok && head.text.isEmpty)
            for _ in 0...PageSite.mostStreams { #expect(try await client.head("/live").status == .ok) }
            #expect(try await client.head("/nowhere").status == .notFound)
        }
    }

    private static let browser = ["Accept": "text/html,application/xhtml+xml,*/*;q=0.8"]

    @Test func `a browser gets a page for an address without one, and a program does not`() async throws {
        try await TestSite.loopback.test { client in
            let cookie = try await client.get("/").cookie
            let page = try await client.get("/nowhere%3Cb%3E<b>", cookie: cookie, Self.browser)
            #expect(page.status == .notFound)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
            #expect(page.text.contains("There is no page /nowhere%3Cb%3E&lt;b&gt;."))
            #expect(page.text.contains("<a href=\"/\">Start</a>"))
            #expect(try await client.get("/" + String(repeating: "x", count: 5000), Self.browser).text.count < 3000)
            for headers in [[:], ["Accept": "*/*"], ["Accept": "application/json"]] {
                let error = try await client.get("/nowhere", headers)
                #expect(error.status == .notFound && !error.text.contains("<"))
            }
            #expect(try await client.post("/nowhere", "", cookie: nil, Self.browser).status == .notFound)
        }
    }

    @Test func `without a login the page of an unknown address names no other page`() async throws {
        try await TestSite.login.test { client in
            let page = try await client.get("/nowhere", Self.browser)
            #expect(page.status == .notFound && page.text.contains("There is no page /nowhere."))
            #expect(!page.text.contains(">Start</a>"))
        }
        try await TestSite(access: .off("Set admin.tls.")).test { client in
            let missing = try await client.get("/nowhere", Self.browser)
            #expect(missing.status == .notFound && !missing.text.contains("<"))
            let page = try await client.get("/", Self.browser)
            #expect(page.status == .forbidden && page.text.contains("Set admin.tls."))
        }
    }

    @Test(arguments: [("127.0.0.1:9470", true), ("evil.example", false)])
    func `a foreign name of the host gets no page for an unknown address`(host: String, hasPage: Bool) async throws {
        let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/nowhere")
        let page = try await TestSite.loopback.site().missingPage(
            Request(head: head, body: RequestBody(buffer: ByteBuffer())))
        #expect(page?.status == (hasPage ? .notFound : nil))
    }

    @Test func `blanks and plus signs of a search arrive`() async throws {
        try await TestSite.loopback.test { client in
            let page = try await client.get("/?name=a+b%2Bc%20d")
            #expect(page.text.contains("<p id=\"name\">a b+c d</p>"))
        }
    }

    @Test func `a quote with a combining mark is escaped too`() async throws {
        try await TestSite.loopback.test { client in
            let page = try await client.get("/?name=%22%CC%81%3C%CC%B8%27%CC%81")
            #expect(page.text.contains("<p id=\"name\">&quot;\u{301}&lt;\u{338}&#39;\u{301}</p>"))
        }
    }

    /// Source: W3C Content Security Policy Level 3; OWASP Secure Headers.
    @Test(arguments: ["/", "/assets/style.css", "/assets/live.js", "/fails"])
    func `every response forbids foreign content and inline scripts`(path: String) async throws {
        try await TestSite.loopback.test { client in
            let headers = try await client.get(path).headers
            let policy = headers[.contentSecurityPolicy] ?? ""
            #expect(policy.hasPrefix("default-src 'none'"))
            #expect(!policy.contains("unsafe") && !policy.contains("http"))
            #expect(headers[.xContentTypeOptions] == "nosniff")
        }
    }

    @Test func `no page has an inline script, an inline style or another host`() async throws {
        try await TestSite.loopback.test { client in
            let html = try await client.get("/").text
            #expect(html.components(separatedBy: "<script").count == 2)
            #expect(html.contains("<script src=\"/assets/live.js\" defer></script>"))
            #expect(!html.contains(" style=") && !html.contains(" onclick=") && !html.contains("//"))
        }
    }

    /// DNS rebinding: a foreign name that resolves to 127.0.0.1.
    @Test(arguments: [
        ("localhost:9470", true), ("127.0.0.1", true), ("127.9.0.1:80", true), ("[::1]:9470", true),
        ("LOCALHOST", true),
        ("evil.example:9470", false), ("127.0.0.1.evil.example", false), ("localhost.evil.example", false),
        ("192.0.2.10", false), ("127.0.0.256", false), ("", false),
    ])
    func `a site without TLS accepts names of this machine only`(host: String, isAccepted: Bool) {
        #expect(PageAccess.loopback.accepts(host: host) == isAccepted)
        let plain = PageAccess.login(label: "key", isSecure: false) { _, _ in true }
        #expect(plain.accepts(host: host) == isAccepted)
        let secure = PageAccess.login(label: "key", isSecure: true) { _, _ in true }
        #expect(secure.accepts(host: host))
    }

    @Test func `a form with the token of its session changes something, and the next page says so once`() async throws {
        let site = TestSite.loopback
        try await site.test { client in
            let first = try await client.get("/")
            let changed = try await client.post("/save", "token=\(first.token)&value=a+b%26c", cookie: first.cookie)
            #expect(changed.status == .seeOther)
            #expect(changed.headers[.location] == "/")
            #expect(site.saved.value == ["a b&c"])
            #expect(try await client.get("/", cookie: first.cookie).text.contains("Saved a b&amp;c"))
            #expect(try await client.get("/", cookie: first.cookie).text.contains("Saved") == false)
        }
    }

    @Test(arguments: [
        ("no token", "value=1", [:]), ("a token of nobody", "token=abc&value=1", [:]),
        ("a foreign origin", "token=TOKEN&value=1", ["Origin": "http://evil.example"]),
        ("an opaque origin", "token=TOKEN&value=1", ["Origin": "null"]),
        ("a foreign site", "token=TOKEN&value=1", ["Sec-Fetch-Site": "cross-site"]),
        ("another port of this machine", "token=TOKEN&value=1", ["Sec-Fetch-Site": "same-site"]),
    ])
    func `a form changes nothing`(with defect: String, body: String, headers: [String: String]) async throws {
        let site = TestSite.loopback
        try await site.test { client in
            let first = try await client.get("/")
            let body = body.replacing("TOKEN", with: first.token)
            let refused = try await client.post("/save", body, cookie: first.cookie, headers)
            #expect(refused.status == .forbidden, "\(defect)")
            #expect(refused.text.contains("Nothing was changed"))
            #expect(site.saved.value.isEmpty)
        }
    }

    @Test func `the token of one browser is worth nothing in another`() async throws {
        let site = TestSite.loopback
        try await site.test { client in
            let (one, other) = (try await client.get("/"), try await client.get("/"))
            #expect(one.token != other.token)
            #expect(try await client.post("/save", "token=\(one.token)", cookie: other.cookie).status == .forbidden)
            #expect(try await client.post("/save", "token=\(one.token)", cookie: nil).status == .forbidden)
            #expect(site.saved.value.isEmpty)
        }
    }

    @Test func `numbers are masked until this session asks, and again`() async throws {
        try await TestSite.loopback.test { client in
            let first = try await client.get("/")
            #expect(first.text.contains("+61******001"))
            let back = try await client.post(
                "/numbers", "token=\(first.token)&here=%2F%3Fname%3Dx", cookie: first.cookie)
            #expect(back.headers[.location] == "/?name=x")
            #expect(try await client.get("/", cookie: first.cookie).text.contains("+61491570001"))
            #expect(try await client.get("/").text.contains("+61******001"))
            _ = try await client.post("/numbers", "token=\(first.token)", cookie: first.cookie)
            #expect(try await client.get("/", cookie: first.cookie).text.contains("+61******001"))
        }
    }

    @Test(arguments: [
        "//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "", "/a\r\nSet-Cookie: x=1",
        "/ä",
    ])
    func `a form sends the browser to pages of the site only`(path: String) {
        #expect(PageSite.path(path) == "/")
    }

    @Test func `a form above its limit is refused`() async throws {
        let site = TestSite.loopback
        try await site.test { client in
            let first = try await client.get("/")
            let body = "token=\(first.token)&value=" + String(repeating: "a", count: 70_000)
            #expect(try await client.post("/save", body, cookie: first.cookie).status == .contentTooLarge)
            #expect(site.saved.value.isEmpty)
        }
    }

    @Test func `a page that fails names the cause`() async throws {
        try await TestSite.loopback.test { client in
            let failed = try await client.get("/fails")
            #expect(failed.status == .internalServerError)
            #expect(failed.text.contains("disk &lt;full&gt;"))
        }
    }

    @Test func `parts that update themselves are sent as events, and only when they change`() async throws {
        #expect(
            LiveParts.event("calls", "<b>1</b>\n<i>2</i>")
                == "event: part\ndata: calls\ndata: <b>1</b>\ndata: <i>2</i>\n\n")
        try await TestSite.loopback.test { client in
            let stream = try await client.get("/live")
            #expect(stream.headers[.contentType] == "text/event-stream; charset=utf-8")
            #expect(stream.text.components(separatedBy: "event: part").count == 2)
        }
    }
}
