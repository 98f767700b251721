// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import NIOHTTP1
import Synchronization
import Testing

@testable import PushSending

@Suite("Messages to APNs, over HTTP/2 of our own", .timeLimit(.minutes(15)))
struct APNsSenderTests {
    private static let key = P256.Signing.PrivateKey()
    private static let device = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"

    private static func apns(_ server: PushServer) throws -> APNsSettings {
        try APNsSettings(
            key: key.pemRepresentation, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", topic: "com.example.herald",
            url: server.url)
    }

    private static func sender(
        _ server: PushServer, now: @escaping @Sendable () -> Int64 = { present }
    ) throws -> PushSender {
        try PushSender(server.settings(apns: try apns(server)), now: now)
    }

    private func result(of reply: PushServer.Reply) async throws -> PushResult {
        let server = try await PushServer { _, _ in reply }
        let sender = try Self.sender(server)
        let result = await sender.send(missedCall(), to: .apns(token: Self.device), key: "k")
        await sender.shutdown()
        try await server.stop()
        return result
    }

    @Test func `each byte is what Apple describes`() async throws {
        let server = try await PushServer { request, _ in
            .status(200, ["apns-id": request.header("apns-id") ?? ""])
        }
        let sender = try Self.sender(server)
        let result = await sender.send(missedCall(), to: .apns(token: Self.device), key: "call-1 device-2")
        let request = try #require(server.requests.first)
        #expect(request.isHTTP2 && request.method == "POST" && request.path == "/3/device/\(Self.device)")
        #expect(request.header("apns-topic") == "com.example.herald")
        #expect(request.header("apns-push-type") == "alert" && request.header("apns-priority") == "10")
        #expect(request.header("apns-expiration") == "\(present + 3600)")
        #expect(request.header("apns-collapse-id") == "clx7g8h9i0j1k2l3m4n5o6p7")
        // The seed's payload in our own names.
        #expect(
            request.text == """
                {"aps":{"alert":{"body":"Your appointment tomorrow","title":"Harbour Dental tried to reach you"},\
                "category":"MISSED_CALL","sound":"default","thread-id":"clx8h9i0j1k2l3m4n5o6p7q8"},\
                "data":{"brand_id":"clx8h9i0j1k2l3m4n5o6p7q8","deep_link":"herald://brand/clx8h9i0j1k2l3m4n5o6p7q8",\
                "sent_at":"1767225600","tag":"clx7g8h9i0j1k2l3m4n5o6p7","type":"missed_call",\
                "web_url":"https://branding.example/card/harbour-dental"}}
                """)
        let bearer = try #require(request.header("authorization"))
        let token = try CheckedToken(
            bearer.dropFirst("bearer ".count), key: [UInt8](Self.key.publicKey.x963Representation))
        #expect(bearer.hasPrefix("bearer ") && token.header == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(token.claims == #"{"iat":\#(present),"iss":"DEF123GHIJ"}"#)
        let id = try #require(request.header("apns-id"))
        #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(UUID(uuidString: id) != nil && result == .delivered(id: id))
        _ = await sender.send(missedCall(), to: .apns(token: Self.device), key: "call-1 device-2")
        _ = await sender.send(missedCall(), to: .apns(token: Self.device), key: "call-1 device-3")
        #expect(server.requests.map { $0.header("apns-id") == id } == [true, true, false])
        #expect(server.connections == 1)
        await sender.shutdown()
        try await server.stop()
    }

    private static func reason(_ text: String) -> String { #"{"reason":"\#(text)"}"# }

    @Test(
        arguments: [
            (.status(200), .delivered(id: nil)),
            (.status(400, [:], reason("BadDeviceToken")), .refused(reason: "APNs returned 400: BadDeviceToken")),
            (
                .status(410, [:], #"{"reason":"Unregistered","timestamp":1767225600000}"#),
                .gone(reason: "APNs returned 410: Unregistered")
            ),
            (.status(410, [:], reason("ExpiredToken")), .gone(reason: "APNs returned 410: ExpiredToken")),
            (
                .status(400, [:], reason("DeviceTokenNotForTopic")),
                .refused(reason: "APNs returned 400: DeviceTokenNotForTopic")
            ),
            (.status(400, [:], reason("BadTopic")), .refused(reason: "APNs returned 400: BadTopic")),
            (.status(400, [:], reason("PayloadEmpty")), .refused(reason: "APNs returned 400: PayloadEmpty")),
            (.status(404, [:], reason("BadPath")), .refused(reason: "APNs returned 404: BadPath")),
            (
                .status(403, [:], reason("InvalidProviderToken")),
                .later(after: nil, reason: "APNs returned 403: InvalidProviderToken")
            ),
            (.status(413, [:], reason("PayloadTooLarge")), .tooLarge),
            (
                .status(429, ["Retry-After": "7"], reason("TooManyRequests")),
                .later(after: .seconds(7), reason: "APNs returned 429: TooManyRequests")
            ),
            (
                .status(429, [:], reason("TooManyProviderTokenUpdates")),
                .later(after: .seconds(1200), reason: "APNs returned 429: TooManyProviderTokenUpdates")
            ),
            (
                .status(500, [:], reason("InternalServerError")),
                .later(after: nil, reason: "APNs returned 500: InternalServerError")
            ),
            (.status(503, [:], reason("Shutdown")), .later(after: nil, reason: "APNs returned 503: Shutdown")),
            (.status(502, [:], "<html>"), .later(after: nil, reason: "APNs returned 502")),
            (.status(400, [:], reason("\\u001b[2J")), .refused(reason: "APNs returned 400: \\u{1b}[2J")),
            (.status(302), .refused(reason: "it redirects (302), which is not followed")),
        ] as [(PushServer.Reply, PushResult)])
    func `each reason has its result`(reply: PushServer.Reply, result: PushResult) async throws {
        #expect(try await self.result(of: reply) == result)
    }

    @Test func `an expired token is replaced once`() async throws {
        let time = Mutex(present)
        let server = try await PushServer { _, position in
            position == 1 ? .status(403, [:], Self.reason("ExpiredProviderToken")) : .status(200)
        }
        let sender = try Self.sender(server) { time.withLock { $0 } }
        let target = PushTarget.apns(token: Self.device)
        #expect(await sender.send(missedCall(), to: target, key: "1") == .delivered(id: nil))
        time.withLock { $0 += 20 * 60 }
        #expect(await sender.send(missedCall(), to: target, key: "2") == .delivered(id: nil))
        let tokens = server.requests.map { $0.header("authorization") ?? "" }
        #expect(tokens.count == 3 && tokens[0] == tokens[1] && tokens[1] != tokens[2])
        await sender.shutdown()
        try await server.stop()
    }

    @Test func `a service that calls every token expired is not asked in a circle`() async throws {
        let time = Mutex(present)
        let server = try await PushServer { _, _ in .status(403, [:], Self.reason("ExpiredProviderToken")) }
        let sender = try Self.sender(server) { time.withLock { $0 } }
        let target = PushTarget.apns(token: Self.device)
        let pause = PushResult.later(after: .seconds(1200), reason: "APNs calls a new token expired; check the clock")
        #expect(await sender.send(missedCall(), to: target, key: "1") == pause, "the account may make no other yet")
        #expect(server.requests.count == 1)
        time.withLock { $0 += 25 * 60 }
        let end = PushResult.later(after: nil, reason: "APNs calls a new token expired; check the clock")
        #expect(await sender.send(missedCall(), to: target, key: "2") == end)
        #expect(server.requests.count == 3)
        await sender.shutdown()
        try await server.stop()
    }

    @Test func `a token lasts fifty minutes`() throws {
        let settings = try APNsSettings(
            key: Self.key.pemRepresentation, keyID: "K", teamID: "T", topic: "com.example")
        let token = APNsToken(settings)
        let first = try token.value(at: present)
        #expect(try token.value(at: present + 3000 - 1) == first)
        #expect(try token.value(at: present + 3000) != first)
        #expect(try token.value(at: present) != first, "a clock set back")
    }

    @Test(arguments: ["", "xyz", "../../3/device/00", "00 11", String(repeating: "a", count: 201), "00\r\nx: y"])
    func `a device token is hexadecimal`(token: String) async throws {
        let server = try await PushServer { _, _ in .status(200) }
        let sender = try Self.sender(server)
        let result = await sender.send(missedCall(), to: .apns(token: token), key: "k")
        #expect(result == .gone(reason: "the device token is not hexadecimal") && server.connections == 0)
        await sender.shutdown()
        try await server.stop()
    }

    @Test func `a tag that is no collapse id is hashed`() {
        #expect(APNsSender.collapseID("a-B.9_") == "a-B.9_")
        #expect(APNsSender.collapseID(String(repeating: "a", count: 64)).hasPrefix("aaa"))
        for tag in ["", "a b", "a\r\nb", "\u{e9}", String(repeating: "a", count: 65)] {
            let id = APNsSender.collapseID(tag)
            #expect(id.wholeMatch(of: /[0-9a-f]{64}/) != nil, "\(tag)")
        }
    }

    @Test(arguments: [
        ("rubbish", "K", "T", "com.example", "https://api.push.apple.com"),
        (key.pemRepresentation, "", "T", "com.example", "https://api.push.apple.com"),
        (key.pemRepresentation, "K", "T\r\n", "com.example", "https://api.push.apple.com"),
        (key.pemRepresentation, "K", "T", "com.example", "http://api.push.apple.com"),
        (key.pemRepresentation, "K", "T", "com.example", "https://10.0.0.1"),
    ])
    func `a setting that cannot work is refused without its key`(
        key: String, keyID: String, teamID: String, topic: String, url: String
    ) {
        let error = #expect(throws: PushSettingsError.self) {
            let settings = try APNsSettings(key: key, keyID: keyID, teamID: teamID, topic: topic, url: url)
            _ = try PushSender(PushSettings(apns: settings))
        }
        #expect(error?.description.contains(key) == false)
    }
}
