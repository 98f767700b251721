// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import HummingbirdTesting
import Testing

@testable import WebPages

@Suite("Login of a site", .timeLimit(.minutes(8)))
struct LoginTests {
    @Test func `without a login there is only the login page`() async throws {
        let site = TestSite.login
        try await site.test { client in
            let first = try await client.get("/")
            #expect(first.headers[.location] == "/login")
            #expect(try await client.post("/save", "value=1", cookie: nil).status == .unauthorized)
            #expect(try await client.get("/login").text.contains("<label for=\"secret\">token</label>"))
            #expect(site.saved.value.isEmpty)
        }
    }

    /// Source: OWASP Session Management Cheat Sheet, "Renew the Session ID After Any Privilege Level Change".
    @Test func `a login begins a new session, whose cookie is strict`() async throws {
        let site = TestSite.login
        try await site.test { client in
            let form = try await client.get("/login")
            let done = try await client.post("/login", "token=\(form.token)&secret=open+sesame", cookie: form.cookie)
            #expect(done.headers[.location] == "/")
            let cookie = try #require(done.headers[.setCookie])
            #expect(cookie.hasPrefix("__Host-herald"))
            for part in ["Path=/", "HttpOnly", "Secure", "SameSite=Strict"] { #expect(cookie.contains(part)) }
            #expect(done.cookie != form.cookie)
            #expect(try await client.get("/", cookie: form.cookie).headers[.location] == "/login")

            let page = try await client.get("/", cookie: done.cookie)
            #expect(page.status == .ok)
            #expect(
                try await client.post("/save", "token=\(page.token)&value=1", cookie: done.cookie).status == .seeOther)
            #expect(site.saved.value == ["1"])

            _ = try await client.post("/logout", "token=\(page.token)", cookie: done.cookie)
            #expect(try await client.get("/", cookie: done.cookie).headers[.location] == "/login")
        }
    }

    @Test func `wrong secrets are delayed, the right one works at any time`() async throws {
        let site = TestSite.login
        try await site.test { client in
            let form = try await client.get("/login")
            for _ in 0..<2 * WrongLogins.few {
                let wrong = try await client.post("/login", "token=\(form.token)&secret=x", cookie: form.cookie)
                #expect(wrong.status == .unauthorized)
                #expect(wrong.text.contains("This token is wrong"))
            }
            let waits = site.pauses.value
            #expect(waits.count == 2 * WrongLogins.few)
            #expect(waits.first == "1.0 seconds" && waits.last == "4.0 seconds")
            let right = "token=\(form.token)&secret=open+sesame"
            #expect(try await client.post("/login", right, cookie: form.cookie).status == .seeOther)
            #expect(site.pauses.value.count == waits.count, "without a delay")
        }
    }

    @Test func `few wrong logins wait at once`() {
        let (clock, wrong) = (TestClock(), WrongLogins())
        for _ in 0..<WrongLogins.mostWaiting { #expect(wrong.enter(clock.now) == .seconds(1)) }
        #expect(wrong.enter(clock.now) == nil)
        wrong.leave()
        #expect(wrong.enter(clock.now) == .seconds(1))
        for _ in 0..<WrongLogins.few {
            wrong.leave()
            _ = wrong.enter(clock.now)
        }
        wrong.leave()
        #expect(wrong.enter(clock.now) == .seconds(4))
        clock.advance(by: .seconds(61))
        wrong.leave()
        #expect(wrong.enter(clock.now) == .seconds(1))
    }

    @Test func `logins that others begin do not end one`() async throws {
        try await TestSite.login.test { client in
            let form = try await client.get("/login")
            for _ in 0..<PageSessions.most + 5 { _ = try await client.get("/login") }
            let done = try await client.post("/login", "token=\(form.token)&secret=open+sesame", cookie: form.cookie)
            #expect(done.headers[.location] == "/")
        }
    }

    @Test func `requests without a cookie end no session of a site on loopback`() async throws {
        let site = TestSite.loopback
        try await site.test { client in
            let page = try await client.get("/")
            _ = try await client.post("/numbers", "token=\(page.token)&here=/", cookie: page.cookie)
            #expect(try await client.get("/", cookie: page.cookie).text.contains("+61491570001"))
            for _ in 0..<PageSessions.most + 20 { _ = try await client.get("/") }
            #expect(try await client.get("/", cookie: page.cookie).text.contains("+61491570001"))
            let saved = try await client.post("/save", "token=\(page.token)&value=1", cookie: page.cookie)
            #expect(saved.status == .seeOther && site.saved.value == ["1"])
        }
    }

    @Test(arguments: ["", "x", "x.y", "0123456789abcdef.0123456789abcdef", "."])
    func `a cookie that the site did not make is none`(id: String) {
        let sessions = PageSessions(now: { .now })
        #expect(sessions.find(id, cookie: "c") == nil)
        let foreign = PageSessions(now: { .now }).fresh(cookie: "c")
        #expect(sessions.find(foreign.id, cookie: "c") == nil, "of the process before")
        let own = sessions.fresh(cookie: "c")
        #expect(sessions.find(own.id, cookie: "c")?.token == own.token)
        #expect(own.token != own.id && sessions.fresh(cookie: "c").token != own.token)
    }

    @Test func `a change does not bring back a login that has ended`() {
        let sessions = PageSessions(now: { .now })
        let person = sessions.begin(cookie: "c")
        sessions.end(person.id)
        sessions.change(person) { $0.showsNumbers = true }
        #expect(sessions.find(person.id, cookie: "c")?.isLoggedIn == false)
    }

    @Test func `a login from another site is refused`() async throws {
        try await TestSite.login.test { client in
            let form = try await client.get("/login")
            let body = "token=\(form.token)&secret=open+sesame"
            let refused = try await client.post("/login", body, cookie: form.cookie, ["Origin": "http://evil.example"])
            #expect(refused.status == .forbidden)
        }
    }

    @Test func `a session ends after eight hours without a request`() {
        let clock = TestClock()
        let sessions = PageSessions(now: { clock.now })
        let session = sessions.begin(cookie: "c")
        clock.advance(by: .seconds(7 * 3600))
        #expect(sessions.find(session.id, cookie: "c")?.isLoggedIn == true)
        clock.advance(by: .seconds(7 * 3600))
        #expect(sessions.find(session.id, cookie: "c")?.isLoggedIn == true)
        clock.advance(by: .seconds(8 * 3600))
        #expect(sessions.find(session.id, cookie: "c") == nil)
    }

    @Test func `sessions are bounded, the one used least recently ends first`() {
        let clock = TestClock()
        let sessions = PageSessions(now: { clock.now })
        let (first, second) = (sessions.begin(cookie: "c"), sessions.begin(cookie: "c"))
        clock.advance(by: .seconds(1))
        _ = sessions.find(first.id, cookie: "c")
        for _ in 0..<PageSessions.most - 1 { _ = sessions.begin(cookie: "c") }
        #expect(sessions.find(first.id, cookie: "c")?.isLoggedIn == true)
        #expect(sessions.find(second.id, cookie: "c")?.isLoggedIn == false)
    }

    @Test func `sessions without a login do not end that of a person`() {
        let clock = TestClock()
        let sessions = PageSessions(now: { clock.now })
        let person = sessions.begin(cookie: "c")
        for _ in 0..<PageSessions.most * 2 {
            clock.advance(by: .seconds(1))
            sessions.change(sessions.fresh(cookie: "c")) { $0.showsNumbers = true }
        }
        #expect(sessions.find(person.id, cookie: "c")?.isLoggedIn == true)
    }

    @Test func `a live stream neither outlives its session nor prolongs it`() {
        let clock = TestClock()
        let sessions = PageSessions(now: { clock.now })
        let person = sessions.begin(cookie: "c")
        clock.advance(by: PageSessions.idle - .seconds(1))
        #expect(sessions.isLoggedIn(person.id))
        clock.advance(by: .seconds(2))
        #expect(!sessions.isLoggedIn(person.id))
        #expect(!sessions.isLoggedIn(sessions.fresh(cookie: "c").id))
    }

    /// Source: RFC 6265 §8.5, cookies have no isolation by port.
    @Test(arguments: [
        ("127.0.0.1:9470", "herald-session-9470"), ("[::1]:8080", "herald-session-8080"),
        ("localhost", "herald-session"),
        ("[::1]", "herald-session"),
    ])
    func `two programs of one machine have cookies of their own`(host: String, name: String) {
        #expect(PageSite.cookieName(.loopback, host: host) == name)
        #expect(PageSite.cookieName(.token("t", isSecure: true), host: host).hasPrefix("__Host-herald"))
    }

    @Test func `a site that is off shows only how to turn it on`() async throws {
        let site = TestSite(access: .off("set admin.tls <now>"))
        try await site.test { client in
            for path in ["/", "/live"] {
                let page = try await client.get(path)
                #expect(page.status == .forbidden && page.text.contains("set admin.tls &lt;now&gt;"))
                #expect(page.cookie == nil)
            }
            #expect(try await client.post("/save", "value=1", cookie: nil).status == .forbidden)
            #expect(site.saved.value.isEmpty)
        }
    }

    @Test func `a blank in a query is a blank`() async throws {
        try await TestSite.loopback.test { client in
            let page = try await client.get("/?name=+089+12%2B3+").text
            #expect(page.contains("<p id=\"name\">089 12+3</p>"))
        }
    }
}
