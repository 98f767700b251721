// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import GRDB
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("Access to the directory's pages", .timeLimit(.minutes(8)), .bothEngines)
struct PageAccessTests {
    private static let pages = [
        "/", "/accounts", "/accounts/main", "/accounts/main/brands", "/accounts/main/new-brand",
        "/accounts/main/brand?id=brand-1", "/accounts/main/numbers", "/accounts/main/import", "/accounts/main/keys",
        "/accounts/main/devices", "/accounts/main/events", "/accounts/main/debug", "/accounts/main/remove",
        "/accounts/main/brand/remove?id=brand-1", "/logos", "/logo-removal?name=a.png", "/report",
    ]

    private static let forms = [
        "/accounts", "/accounts/main", "/accounts/main/remove", "/accounts/main/brands", "/accounts/main/brand",
        "/accounts/main/brands/preview", "/accounts/main/brand/preview", "/accounts/main/import/x/region",
        "/accounts/main/brand/numbers", "/accounts/main/numbers/add", "/accounts/main/brand/remove",
        "/accounts/main/numbers/remove",
        "/accounts/main/import/text", "/accounts/main/import/x", "/accounts/main/import/x/cancel",
        "/accounts/main/keys", "/accounts/main/keys/x/rotate", "/accounts/main/keys/x/remove", "/accounts/main/debug",
        "/accounts/main/debug/withdraw", "/logo-upload/x", "/logo-removal",
    ]

    @Test func `every page opens after the login, and none before`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156")
            for path in Self.pages {
                let before = try await PageVisitor.get(path, on: visitor.directory)
                #expect(before.status == 303 && before.headers["location"] == "/login", "\(path)")
                let after = try await visitor.get(path)
                #expect(after.status == 200, "\(path): \(after.text)")
                #expect(after.text.contains("Herald 9.8.7") && after.text.contains("<h1>"), "\(path)")
                #expect(after.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
            }
        }
    }

    @Test func `buttons and links have the verbs of the commands`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156")
            var texts = ""
            for path in Self.pages { texts += try await visitor.get(path).text }
            // Verbs that decision 0108 has replaced.
            for verb in ["Close", "Create", "Deactivate", "Delete", "Forget", "Revoke", "Take"] {
                #expect(!texts.contains(">\(verb) ") && !texts.contains(">\(verb)…"), "\(verb)")
            }
            for text in [
                ">Add account<", ">Add brand<", ">Add key<", ">Remove…<", ">Remove main<", ">Remove this account…<",
            ] {
                #expect(texts.contains(text), "\(text)")
            }
        }
    }

    @Test func `no form changes anything without the token of its session`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156")
            let fields: KeyValuePairs = [
                "name": "x", "id": "brand-1", "brand_name": "Other", "number": "+61491570156",
                "numbers": "+61491570155", "status": "closed",
                "text": "number,brand_name\n+61491570157,X\n", "kind": "gateway",
            ]
            for path in Self.forms {
                let refused = try await visitor.post(path, fields, token: "wrong")
                #expect(refused.status == 403, "\(path)")
                #expect(refused.text.contains("Nothing was changed"), "\(path)")
            }
            for path in ["/accounts/main/import/file", "/logo-file", "/accounts/main/brand"] {
                let refused = try await visitor.send(file: "number,brand_name\n", to: path, token: "wrong")
                #expect(refused.status == 403, "\(path)")
            }
            let foreign = try await PageVisitor.send(
                "POST", "/accounts", on: visitor.directory, cookie: visitor.cookie,
                headers: [("Origin", "http://evil.example")], body: "token=\(visitor.token)&name=evil")
            #expect(foreign.status == 403)
            #expect(try AccountList(visitor.directory.database).all(now: 0).map(\.name) == ["main"])
            #expect(try AccountList(visitor.directory.database).all(now: 0).first?.status == "active")
            #expect(try BrandList(visitor.directory.database).brand("brand-1").numbers == 1)
        }
    }

    @Test func `without an admin key the login explains how to make one`() async throws {
        try await RunningDirectory.run(edit: { $0.pages = .loopback }) { directory in
            let form = try await PageVisitor.get("/login", on: directory)
            #expect(form.text.contains("<pre tabindex=\"0\">herald-directory admin-keys add NAME</pre>"))
            #expect(form.text.contains("There is no admin key yet"))
            let tried = try await PageVisitor.send(
                "POST", "/login", on: directory, cookie: form.newCookie ?? "",
                body: "token=\(form.formToken)&secret=x")
            #expect(tried.status == 403 && tried.text.contains("herald-directory admin-keys add"))
        }
    }

    @Test func `the login shows the command that makes a key, whoever has one`() async throws {
        let command = "herald-directory admin-keys add NAME --config '/srv/<a> b.yaml'"
        try await PageVisitor.run(edit: { $0.keyCommand = command }) { visitor in
            let form = try await PageVisitor.get("/login", on: visitor.directory).text
            #expect(!form.contains("There is no admin key yet") && form.contains("The key is shown once"))
            #expect(form.contains("add NAME --config &#39;/srv/&lt;a&gt; b.yaml&#39;</pre>"))
        }
    }

    @Test func `wrong keys at the login and at the API count together`() async throws {
        let pauses = Pauses()
        try await PageVisitor.run(edit: { $0.pause = { pauses.add($0) } }) { visitor in
            let form = try await PageVisitor.get("/login", on: visitor.directory)
            let wrong = try await PageVisitor.send(
                "POST", "/login", on: visitor.directory, cookie: form.newCookie ?? "",
                body: "token=\(form.formToken)&secret=hda_wrong")
            #expect(wrong.status == 401 && wrong.text.contains("This admin key is wrong"))
            let api = try await LoopbackClient.ask(
                RawRequest(path: "/admin/v1/accounts", headers: [("X-Admin-Key", "wrong")]),
                port: visitor.directory.port)
            #expect(api.status == 401)
            #expect(pauses.all == [.milliseconds(250), .milliseconds(500)])
        }
    }

    @Test func `a session ends when its key is removed`() async throws {
        try await PageVisitor.run { visitor in
            let keys = AdminKeys(visitor.directory.database)
            let other = try await PageVisitor.logIn(visitor.directory, key: try keys.create(name: "other", now: 1))
            #expect(try keys.revoke("portal", now: 2))
            let removed = try await visitor.get("/accounts")
            #expect(removed.status == 303 && removed.headers["location"] == "/login")
            let kept = try await other.get("/accounts")
            #expect(kept.status == 200)
        }
    }

    @Test func `many wrong keys do not lock the operator out`() async throws {
        try await PageVisitor.run(edit: { $0.pause = { _ in } }) { visitor in
            let form = try await PageVisitor.get("/login", on: visitor.directory)
            for _ in 0..<40 {
                let wrong = try await PageVisitor.send(
                    "POST", "/login", on: visitor.directory, cookie: form.newCookie ?? "",
                    body: "token=\(form.formToken)&secret=x")
                #expect(wrong.status == 401)
            }
            let right = try await PageVisitor.logIn(visitor.directory, key: visitor.adminKey)
            #expect(try await right.get("/").status == 200)
        }
    }

    @Test func `an API key of an account does not open the pages`() async throws {
        try await PageVisitor.run(edit: { $0.pause = { _ in } }) { visitor in
            let form = try await PageVisitor.get("/login", on: visitor.directory)
            let tried = try await PageVisitor.send(
                "POST", "/login", on: visitor.directory, cookie: form.newCookie ?? "",
                body: "token=\(form.formToken)&secret=\(visitor.directory.key)")
            #expect(tried.status == 401)
        }
    }

    @Test func `pages are at the operator's own address only, and nowhere unless switched on`() async throws {
        try await PageVisitor.run(edit: { $0.admin = .at(host: "127.0.0.1", port: 0) }) { visitor in
            let contract = try await LoopbackClient.ask(RawRequest(path: "/login"), port: visitor.directory.port)
            #expect(contract.status == 404)
            let own = try await visitor.get("/accounts")
            #expect(own.status == 200)
        }
        try await RunningDirectory.run { directory in
            let page = try await directory.ask("/login")
            #expect(page.status == 404)
        }
        try await RunningDirectory.run(edit: { ($0.pages, $0.admin) = (.loopback, .off) }) { directory in
            let page = try await directory.ask("/login")
            #expect(page.status == 404)
        }
    }

    @Test func `the contract works beside the pages`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156")
            #expect(try await visitor.directory.sync().branding.count == 1)
            #expect(try await visitor.directory.ask("/logos/none.png").status == 404)
        }
    }

    @Test func `names and texts of others appear as text`() async throws {
        // A quote with a combining mark is one character, and not equal to a quote.
        let hostile = "\"\u{301} onmouseover=x <script>'&"
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156", name: hostile, reason: hostile)
            for path in ["/accounts/main/brands", "/accounts/main/brand?id=brand-1", "/accounts/main/numbers"] {
                let text = try await visitor.get(path).text
                #expect(!text.contains("<script>'"), "\(path)")
                #expect(
                    !text.unicodeScalars.contains("\u{301}") || text.contains("&quot;\u{301} onmouseover"), "\(path)")
            }
        }
    }

    @Test func `numbers are masked until this session asks`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156")
            _ = try await visitor.directory.report("displayed")
            let paths = ["/accounts/main/numbers", "/accounts/main/events", "/accounts/main/brand?id=brand-1"]
            for path in paths {
                let text = try await visitor.get(path).text.replacing("Brand +61491570156", with: "")
                #expect(text.contains("+61******156") && !text.contains("61491570156"), "\(path)")
            }
            _ = try await visitor.post("/numbers")
            for path in paths {
                #expect(try await visitor.get(path).text.contains("<span class=\"value\">+61491570156"))
            }
        }
    }

    @Test func `an unknown account or brand is a page that says so`() async throws {
        try await PageVisitor.run { visitor in
            let account = try await visitor.get("/accounts/nobody/brands")
            #expect(account.status == 404 && account.text.contains("list the accounts to see their names"))
            let brand = try await visitor.get("/accounts/main/brand?id=nothing")
            #expect(brand.status == 404 && brand.text.contains("There is no brand"))
            let headers = [(name: "Accept", value: "text/html,*/*;q=0.8")]
            let page = try await PageVisitor.send(
                "GET", "/access", on: visitor.directory, cookie: visitor.cookie, headers: headers, body: "")
            #expect(page.status == 404 && page.text.contains("There is no page /access."))
            #expect(page.text.contains("<a href=\"/accounts\">Accounts</a>"))
            #expect(try await visitor.get("/access").isEnvelope("not_found"))
        }
    }

    @Test(
        .sqliteAlone,
        arguments: [
            (ResultCode.SQLITE_FULL, "is full. Free space"),
            (.SQLITE_READONLY, "cannot be written. Mount it for writing"),
            (.SQLITE_IOERR, "does not work"), (.SQLITE_CANTOPEN, "Check that its disk is mounted"),
            (.SQLITE_CORRUPT, "restore a backup"), (.SQLITE_BUSY, "Try again in a minute"),
        ])
    func `an error of the database has its cause and remedy`(code: ResultCode, text: String) throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let trouble = database.trouble(of: DatabaseError(resultCode: code))
        #expect(trouble?.contains(text) == true && trouble?.contains(folder.path) == true, "\(trouble ?? "none")")
    }

    @Test(.sqliteAlone) func `an entry of the future shows a wrong clock`() async throws {
        try await PageVisitor.run { visitor in
            let now = visitor.directory.time.now
            let database = visitor.directory.database
            try visitor.directory.put("+61491570156")
            try await database.file.write {
                try $0.execute(sql: "UPDATE brand_number SET updated = ?", arguments: [now + 60])
            }
            #expect(try await visitor.get("/").text.contains("Disk, database and clock work."))
            try await database.file.write {
                try $0.execute(sql: "UPDATE brand_number SET updated = ?", arguments: [now + 86_400])
            }
            let page = try await visitor.get("/").text
            #expect(page.contains("The clock of this machine is wrong") && page.contains("Let chrony"))
        }
    }

    @Test(.sqliteAlone) func `a missing disk and a newer schema are named on the page`() async throws {
        try await PageVisitor.run { visitor in
            let database = visitor.directory.database
            try await database.file.write {
                try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('from the future')")
            }
            #expect(try await visitor.get("/").text.contains("written by a newer herald-directory"))
            try await database.file.write {
                try $0.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'from the future'")
            }
            #expect(try await visitor.get("/").text.contains("Disk, database and clock work."))
            let gone = database.folder + ".gone"
            try FileManager.default.moveItem(atPath: database.folder, toPath: gone)
            let page = try await visitor.get("/")
            #expect(page.status == 200 && page.text.contains("is missing"))
            try FileManager.default.moveItem(atPath: gone, toPath: database.folder)
        }
    }
}
