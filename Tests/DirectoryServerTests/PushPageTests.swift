// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("Page of push messages", .timeLimit(.minutes(8)), .bothEngines)
struct PushPageTests {
    private static let files: [(path: String, type: String)] = [
        ("/push", "text/html; charset=utf-8"), ("/push/page.css", "text/css; charset=utf-8"),
        ("/push/page.js", "text/javascript; charset=utf-8"), ("/push/device.js", "text/javascript; charset=utf-8"),
        ("/push/worker.js", "text/javascript; charset=utf-8"),
        ("/push/manifest.webmanifest", "application/manifest+json"), ("/push/icon.svg", "image/svg+xml"),
        ("/push/icon-192.png", "image/png"), ("/push/icon-512.png", "image/png"),
    ]

    /// Uses a link as a browser does; the headers of its later requests.
    private static func subscribe(
        _ directory: RunningDirectory, account: AccountID = .first, number: String = ScriptedPush.person,
        subscription: String = ScriptedPush.subscription
    ) async throws -> [String: String] {
        let link = try await PushInvitations(directory.database).invite(
            try #require(E164Number(number)), of: account, expires: directory.time.now + 60, now: directory.time.now)
        let made = try await directory.send(
            "POST", "/push/api/devices", #"{"invitation":"\#(link)","subscription":\#(subscription)}"#,
            headers: ["X-API-Key": ""])
        guard made.status == 200, case .string(let secret) = made.object["secret"] else {
            throw InvalidResponse(text: made.text)
        }
        return ["X-API-Key": "", "Authorization": "Bearer \(secret)"]
    }

    private struct InvalidResponse: Error { let text: String }

    private static func calls(_ directory: RunningDirectory, _ headers: [String: String]) async throws -> [JSONValue] {
        let response = try await directory.send("GET", "/push/api/calls", headers: headers)
        guard response.status == 200, case .array(let calls) = response.object["calls"] else {
            throw InvalidResponse(text: response.text)
        }
        #expect(response.headers["cache-control"] == "no-store")
        return calls
    }

    // MARK: Files

    @Test func `the page and its files need no login, and run nothing inline or foreign`() async throws {
        try await ScriptedPush.run { directory, _ in
            for file in Self.files {
                let response = try await directory.send("GET", file.path, headers: ["X-API-Key": ""])
                #expect(response.status == 200 && response.headers["content-type"] == file.type, "\(file.path)")
                #expect(!response.body.isEmpty)
                let policy = response.headers["content-security-policy"] ?? ""
                #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'"), "\(policy)")
                #expect(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "\(policy)")
                #expect(response.headers["x-content-type-options"] == "nosniff")
                #expect(response.headers["referrer-policy"] == "no-referrer")
                #expect(response.headers["cache-control"] == "no-cache")
                #expect(
                    response.headers["service-worker-allowed"] == (file.path.hasSuffix("worker.js") ? "../push" : nil))
                let head = try await directory.send("HEAD", file.path, headers: ["X-API-Key": ""])
                #expect(head.status == 200 && head.body.isEmpty, "\(file.path)")
                #expect(try await directory.send("POST", file.path, "{}").status == 405, "\(file.path)")
            }
            let page = try await directory.send("GET", "/push").text
            #expect(page.contains("<noscript>") && !page.contains("<script>") && !page.contains("style="))
            #expect(!page.contains("onclick") && !page.contains("http://") && !page.contains("https://"))
            #expect(try await directory.send("GET", "/push/other.js").status == 404)
        }
    }

    @Test func `the manifest describes an app with icons, whose start is the page`() async throws {
        try await ScriptedPush.run { directory, _ in
            let manifest = try await directory.send("GET", "/push/manifest.webmanifest").object
            #expect(manifest["display"] == .string("standalone") && manifest["start_url"] == .string("../push"))
            guard case .array(let icons) = manifest["icons"] else {
                Issue.record("no icons")
                return
            }
            for case .object(let icon) in icons {
                guard case .string(let source) = icon["src"] else { continue }
                #expect(try await directory.send("GET", "/push/\(source)").status == 200, "\(source)")
            }
            #expect(icons.count == 3)
        }
    }

    @Test func `an address that ends in a slash leads to the page`() async throws {
        try await ScriptedPush.run { directory, _ in
            let response = try await directory.send("GET", "/push/")
            #expect(response.status == 308 && response.headers["location"] == "../push", "\(response.head)")
        }
    }

    @Test func `there is no page without Web Push`() async throws {
        try await RunningDirectory.run { directory in
            for file in Self.files {
                let response = try await directory.send("GET", file.path)
                #expect(response.status == 404 && response.isEnvelope("push_off"), "\(file.path)")
            }
        }
        try await ScriptedPush.run({ $0.publicKey = nil }) { directory, _ in
            let response = try await directory.send("GET", "/push")
            #expect(response.status == 404 && response.isEnvelope("push_off"))
        }
    }

    // MARK: The list

    @Test func `the browser of a link reads its missed calls`() async throws {
        try await ScriptedPush.run { directory, push in
            let own = try await Self.subscribe(directory)
            #expect(try await Self.calls(directory, own).isEmpty)
            try await directory.end("missed", "MISSED", call: "a-1")
            #expect(try await waits { push.attempts.count == 1 })
            let expected: [String: JSONValue] = [
                "id": .string("a-1"), "brand_id": .string("acme"), "brand_name": .string("Harbour Dental"),
                "reason": .string("Your appointment tomorrow"), "called": .string("+61******001"),
                "time": .string("2026-01-01T00:00:00Z"), "withdrawn": .bool(false),
                "web_url": .string("https://brands.example/b/acme"),
            ]
            #expect(try await Self.calls(directory, own) == [.object(expected)])
            try await directory.end("returned", "ANSWERED", call: "a-1", to: ScriptedPush.brand)
            #expect(try await waits { push.attempts.count == 2 })
            guard case .object(let call)? = try await Self.calls(directory, own).first else {
                Issue.record("the list is empty")
                return
            }
            #expect(call["withdrawn"] == .bool(true) && call.count == expected.count)
        }
    }

    @Test func `hostile names and reasons are texts of JSON`() async throws {
        let name = #""</script><img src=x onerror=alert(1)>"#
        try await ScriptedPush.run { directory, push in
            try directory.put(try entry(ScriptedPush.brand, name, reason: "<b>\\u0022</b>"))
            let own = try await Self.subscribe(directory)
            try await directory.end("missed", "MISSED", call: "a-1")
            #expect(try await waits { push.attempts.count == 1 })
            guard case .object(let call)? = try await Self.calls(directory, own).first else {
                Issue.record("the list is empty")
                return
            }
            #expect(call["brand_name"] == .string(name) && call["reason"] == .string("<b>\\u0022</b>"))
        }
    }

    @Test func `a list needs the secret of its browser, and has the calls of its numbers alone`() async throws {
        try await ScriptedPush.run { directory, push in
            let own = try await Self.subscribe(directory)
            let other = try AccountList(directory.database).create(name: "other", now: 0)
            let colleague = try await Self.subscribe(
                directory, number: "+61255501002",
                subscription: ScriptedPush.subscription.replacing("JzLQ3raZ", with: "KzLQ3raZ"))
            let foreign = try await Self.subscribe(directory, account: other)
            try await directory.end("missed", "MISSED", call: "a-1")
            #expect(try await waits { push.attempts.count == 1 })
            #expect(try await Self.calls(directory, own).count == 1)
            #expect(try await Self.calls(directory, colleague).isEmpty)
            #expect(try await Self.calls(directory, foreign).isEmpty)
            for headers in [[:], ["Authorization": "Bearer hp_wrong"], ["Authorization": "Basic YTpi"]] {
                let refused = try await directory.send("GET", "/push/api/calls", headers: headers)
                #expect(refused.status == 401 && refused.isEnvelope("not_registered"), "\(headers)")
            }
            #expect(try await directory.send("DELETE", "/push/api/device", headers: own).status == 200)
            #expect(try await directory.send("GET", "/push/api/calls", headers: own).status == 401)
        }
    }

    @Test func `a browser has 60 requests a minute, and its neighbour keeps its own`() async throws {
        try await ScriptedPush.run { directory, _ in
            let own = try await Self.subscribe(directory)
            let other = try await Self.subscribe(
                directory, number: "+61255501002",
                subscription: ScriptedPush.subscription.replacing("JzLQ3raZ", with: "KzLQ3raZ"))
            for _ in 0..<60 { _ = try await Self.calls(directory, own) }
            let refused = try await directory.send("GET", "/push/api/calls", headers: own)
            #expect(refused.status == 429 && refused.isEnvelope("RATE_LIMIT_EXCEEDED"), "\(refused.text)")
            #expect(refused.headers["retry-after"] == "60")
            #expect(try await Self.calls(directory, other).isEmpty)
        }
    }
}
