// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import Crypto
import Foundation
import NIOHTTP1
import Synchronization
import TestFixtures
import Testing

@testable import PushSending

@Suite("Web push to a service of our own", .timeLimit(.minutes(15)))
struct WebPushSenderTests {
    private static func web() throws -> WebPushSettings {
        try WebPushSettings(key: VAPIDKey(), subject: "mailto:push@example.com")
    }

    /// The result of a message for which the service has one reply.
    private func result(
        of reply: PushServer.Reply, timeout: Duration = .seconds(30)
    ) async throws -> PushResult {
        let server = try await PushServer { _, _ in reply }
        let sender = try PushSender(server.settings(web: try Self.web(), timeout: timeout), now: { present })
        let result = await sender.send(missedCall(), to: Browser().target(server.url + "/p/1"), key: "k")
        await sender.shutdown()
        try await server.stop()
        return result
    }

    @Test(arguments: [true, false])
    func `each byte is that of the standards`(isPlain: Bool) async throws {
        let server = try await PushServer(isPlain: isPlain) { _, _ in
            .status(201, ["Location": "https://push.example/m/7"])
        }
        let sender = try PushSender(server.settings(web: try Self.web()), now: { present + 600 })
        let browser = Browser()
        let result = await sender.send(missedCall(), to: browser.target(server.url + "/p/abc?x=1"), key: "k")
        #expect(result == .delivered(id: "https://push.example/m/7"))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.path == "/p/abc?x=1" && request.isHTTP2 == !isPlain)
        #expect(request.header("TTL") == "3000" && request.header("Urgency") == "high")
        #expect(request.header("Content-Encoding") == "aes128gcm")
        #expect(request.header("Content-Type") == "application/octet-stream")
        let topic = base64url(SHA256.hash(data: Array("clx7g8h9i0j1k2l3m4n5o6p7".utf8)).prefix(24))
        #expect(request.header("Topic") == topic && topic.count == 32)
        #expect(request.body.count % 256 == (86 + 17) % 256, "padded")
        #expect(
            String(decoding: try browser.open(request.body), as: UTF8.self) == """
                {"body":"Your appointment tomorrow","data":{"brand_id":"clx8h9i0j1k2l3m4n5o6p7q8",\
                "deep_link":"herald://brand/clx8h9i0j1k2l3m4n5o6p7q8","sent_at":"1767225600","tag":"clx7g8h9i0j1k2l3m4n5o6p7",\
                "web_url":"https://branding.example/card/harbour-dental"},"title":"Harbour Dental tried to reach you",\
                "type":"missed_call"}
                """)
        let authorization = try #require(request.header("Authorization"))
        let parts = try #require(authorization.wholeMatch(of: /vapid t=([^,]+), k=([A-Za-z0-9_-]+)/))
        #expect(String(parts.2) == sender.vapidPublicKey)
        let token = try CheckedToken(parts.1, key: bytes(String(parts.2)))
        #expect(
            token.claims == """
                {"aud":"\(server.url)","exp":\(present + 600 + 12 * 3600),"sub":"mailto:push@example.com"}
                """)
        await sender.shutdown()
        try await server.stop()
    }

    @Test(
        arguments: [
            (.status(201), .delivered(id: nil)), (.status(200), .delivered(id: nil)),
            (.status(202), .delivered(id: nil)), (.stall(201), .delivered(id: nil)),
            (.status(404), .gone(reason: "the push service returned 404")),
            (.status(410, [:], "gone"), .gone(reason: "the push service returned 410")), (.status(413), .tooLarge),
            (.status(429), .later(after: nil, reason: "the push service returned 429")),
            (
                .status(429, ["Retry-After": "120"]),
                .later(after: .seconds(120), reason: "the push service returned 429")
            ),
            (
                .status(503, ["Retry-After": "Thu, 01 Jan 2026 00:05:00 GMT"]),
                .later(after: .seconds(300), reason: "the push service returned 503")
            ),
            (
                .status(503, ["Retry-After": "Wed, 31 Dec 2025 00:00:00 GMT"]),
                .later(after: .zero, reason: "the push service returned 503")
            ),
            (
                .status(503, ["Retry-After": "99999999999"]),
                .later(after: .seconds(86_400), reason: "the push service returned 503")
            ),
            (.status(503, ["Retry-After": "soon"]), .later(after: nil, reason: "the push service returned 503")),
            (.status(500), .later(after: nil, reason: "the push service returned 500")),
            (.status(400), .refused(reason: "the push service returned 400")),
            (.status(401), .refused(reason: "the push service returned 401")),
            (.status(403), .refused(reason: "the push service returned 403")),
            (
                .status(307, ["Location": "https://other.example/"]),
                .refused(reason: "it redirects (307), which is not followed")
            ),
        ] as [(PushServer.Reply, PushResult)])
    func `each status has its result`(reply: PushServer.Reply, result: PushResult) async throws {
        // A body that never ends costs one timeout, no more.
        var timeout = Duration.seconds(30)
        if case .stall = reply { timeout = .seconds(3) }
        #expect(try await self.result(of: reply, timeout: timeout) == result)
    }

    @Test func `a service without a response is tried later`() async throws {
        #expect(
            try await result(of: .silence, timeout: .seconds(1))
                == .later(after: nil, reason: "no complete response within 1.0 seconds"))
    }

    @Test func `a service that is down, a foreign certificate and a name without address are tried later`() async throws
    {
        let server = try await PushServer(name: "other.example") { _, _ in .status(201) }
        let settings = server.settings(web: try Self.web())
        var nameless = settings
        nameless.resolve = { _ in [] }
        let url = server.url
        for settings in [settings, nameless] {
            let sender = try PushSender(settings, now: { present })
            let result = await sender.send(missedCall(), to: Browser().target(url + "/p"), key: "k")
            if case .later = result {} else { Issue.record("\(result)") }
            await sender.shutdown()
        }
        #expect(server.requests.isEmpty)
        try await server.stop()
    }

    @Test(arguments: [
        ["10.0.0.1"], ["127.0.0.1"], ["8.8.8.8", "192.168.0.1"], ["::ffff:127.0.0.1"], ["169.254.169.254"],
    ])
    func `a name with a private address gets no connection`(addresses: [String]) async throws {
        let server = try await PushServer { _, _ in .status(201) }
        var settings = server.settings(web: try Self.web())
        settings.allowPrivateAddresses = false
        settings.resolve = { _ in addresses.compactMap { HostAddress($0) } }
        let sender = try PushSender(settings, now: { present })
        let result = await sender.send(missedCall(), to: Browser().target(server.url + "/p"), key: "k")
        #expect(result == .refused(reason: "\(addresses.last ?? "") is no public address"))
        #expect(server.connections == 0)
        await sender.shutdown()
        try await server.stop()
    }

    @Test func `a stored target of an earlier configuration is checked again`() async throws {
        let sender = try PushSender(PushSettings(web: try Self.web()), now: { present })
        for endpoint in ["http://127.0.0.1:1/x", "https://10.0.0.1/x", "nothing", "http://a.example/"] {
            guard case .refused = await sender.send(missedCall(), to: Browser().target(endpoint), key: "k") else {
                Issue.record("\(endpoint)")
                continue
            }
        }
        let damaged = PushTarget.web(
            endpoint: "https://a.example/", p256dh: [4] + [UInt8](repeating: 1, count: 64), auth: Browser().auth)
        let result = await sender.send(missedCall(), to: damaged, key: "k")
        #expect(result == .gone(reason: "the key of the subscription is not one of P-256"))
        await sender.shutdown()
    }

    @Test func `a message too late is not sent, and one for now alone is`() async throws {
        let server = try await PushServer { _, _ in .status(201) }
        let time = Mutex(present)
        let sender = try PushSender(server.settings(web: try Self.web())) { time.withLock { $0 } }
        let target = Browser().target(server.url + "/p")
        time.withLock { $0 = present + 3600 }
        #expect(await sender.send(missedCall(), to: target, key: "k") == .refused(reason: "its lifetime has ended"))
        #expect(server.requests.isEmpty)
        let atOnce = missedCall { $0.lifetime = 0 }
        #expect(await sender.send(atOnce, to: target, key: "k") == .delivered(id: nil))
        #expect(server.requests.first?.header("TTL") == "0")
        await sender.shutdown()
        try await server.stop()
    }

    @Test func `many messages share one connection and one token`() async throws {
        let server = try await PushServer { _, _ in .status(201) }
        let sender = try PushSender(server.settings(web: try Self.web()), now: { present })
        let url = server.url
        // Until the first response the client does not know that the server speaks HTTP/2.
        #expect(await sender.send(missedCall(), to: Browser().target(url), key: "first") == .delivered(id: nil))
        let results = await withTaskGroup(of: PushResult.self) { group in
            for number in 0..<100 {
                group.addTask {
                    await sender.send(missedCall(), to: Browser().target("\(url)/p/\(number)"), key: "\(number)")
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == [PushResult](repeating: .delivered(id: nil), count: 100))
        #expect(Set(server.requests.map(\.path)).count == 101 && server.connections == 1)
        #expect(Set(server.requests.map { $0.header("Authorization") }).count == 1)
        await sender.shutdown()
        try await server.stop()
    }

    @Test func `a service that is not configured is named`() async throws {
        let sender = try PushSender(PushSettings(), now: { present })
        #expect(sender.vapidPublicKey == nil)
        let targets = [Browser().target("https://a.example/"), .apns(token: "00"), .fcm(token: "t")]
        var results: [PushResult] = []
        for target in targets { results.append(await sender.send(missedCall(), to: target, key: "k")) }
        #expect(results == ["Web Push", "APNs", "FCM"].map { .refused(reason: "\($0) is not configured") })
        await sender.shutdown()
    }
}
