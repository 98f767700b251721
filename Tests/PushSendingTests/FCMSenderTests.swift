// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Foundation
import NIOHTTP1
import Synchronization
import Testing

@testable import PushSending

@Suite("Messages to FCM HTTP v1 and its token server", .timeLimit(.minutes(15)))
struct FCMSenderTests {
    private static let key = (try? _RSA.Signing.PrivateKey(keySize: .bits2048))
    private static let granted = #"{"access_token":"ya29.first","expires_in":3599,"token_type":"Bearer"}"#
    private static let sent = #"{"name":"projects/herald-push/messages/0:1500415314455276%31bd1c9631bd1c96"}"#

    private static func account(
        tokens: String, type: String = "service_account", project: String = "herald-push", key pem: String? = nil
    ) throws -> [UInt8] {
        let pem = try pem ?? #require(key).pkcs8PEMRepresentation
        return [UInt8](
            try JSONEncoder().encode([
                "type": type, "project_id": project, "private_key_id": "0af1", "private_key": pem,
                "client_email": "push@herald-push.iam.gserviceaccount.com", "token_uri": tokens,
            ]))
    }

    /// A sender to a server of both services: tokens at `/token`, all else messages.
    private static func sender(
        _ server: PushServer, now: @escaping @Sendable () -> Int64 = { present }
    ) throws -> PushSender {
        let fcm = try FCMSettings(account: account(tokens: server.url + "/token"), url: server.url, color: "#6366F1")
        return try PushSender(server.settings(fcm: fcm), now: now)
    }

    private func result(tokens: PushServer.Reply? = nil, of reply: PushServer.Reply) async throws -> PushResult {
        let server = try await PushServer { request, _ in
            request.path == "/token" ? tokens ?? .status(200, [:], Self.granted) : reply
        }
        let sender = try Self.sender(server)
        let result = await sender.send(
            missedCall(), to: .fcm(token: "bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1"), key: "k")
        await sender.shutdown()
        try await server.stop()
        return result
    }

    @Test func `each byte is what Google describes`() async throws {
        let server = try await PushServer { request, _ in
            .status(200, [:], request.path == "/token" ? Self.granted : Self.sent)
        }
        let sender = try Self.sender(server)
        let result = await sender.send(missedCall(), to: .fcm(token: "bk3RNwTe3H0:CI2k"), key: "k")
        #expect(result == .delivered(id: "projects/herald-push/messages/0:1500415314455276%31bd1c9631bd1c96"))
        let requests = server.requests
        try #require(requests.count == 2)
        #expect(requests[0].header("Content-Type") == "application/x-www-form-urlencoded")
        let form = try #require(
            requests[0].text.wholeMatch(
                of: /grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=([A-Za-z0-9_.-]+)/))
        let parts = form.1.split(separator: ".")
        try #require(parts.count == 3)
        #expect(try text(parts[0]) == #"{"alg":"RS256","kid":"0af1","typ":"JWT"}"#)
        #expect(
            try text(parts[1]) == """
                {"aud":"\(server.url)/token","exp":\(present + 3600),"iat":\(present),\
                "iss":"push@herald-push.iam.gserviceaccount.com","scope":"https://www.googleapis.com/auth/firebase.messaging"}
                """)
        let signature = _RSA.Signing.RSASignature(rawRepresentation: Data(try bytes(String(parts[2]))))
        let isValid = try #require(Self.key).publicKey.isValidSignature(
            signature, for: Data("\(parts[0]).\(parts[1])".utf8), padding: .insecurePKCS1v1_5)
        #expect(isValid)
        #expect(requests[1].path == "/v1/projects/herald-push/messages:send" && requests[1].method == "POST")
        #expect(requests[1].header("Authorization") == "Bearer ya29.first")
        // The seed's payload in our own names and in the form of HTTP v1.
        #expect(
            requests[1].text == """
                {"message":{"android":{"notification":{"color":"#6366F1","icon":"ic_notification","sound":"default",\
                "tag":"clx7g8h9i0j1k2l3m4n5o6p7"},"priority":"HIGH","ttl":"3600s"},\
                "data":{"brand_id":"clx8h9i0j1k2l3m4n5o6p7q8","deep_link":"herald://brand/clx8h9i0j1k2l3m4n5o6p7q8",\
                "sent_at":"1767225600","tag":"clx7g8h9i0j1k2l3m4n5o6p7","type":"missed_call",\
                "web_url":"https://branding.example/card/harbour-dental"},\
                "notification":{"body":"Your appointment tomorrow","title":"Harbour Dental tried to reach you"},\
                "token":"bk3RNwTe3H0:CI2k"}}
                """)
        await sender.shutdown()
        try await server.stop()
    }

    private static func error(_ status: String, code: String? = nil, field: String? = nil) -> String {
        var details: [String] = []
        if let code {
            details.append(#"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#)
        }
        if let field {
            details.append(
                #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)","description":"x"}]}"#
            )
        }
        return
            #"{"error":{"code":1,"message":"m","status":"\#(status)","details":[\#(details.joined(separator: ","))]}}"#
    }

    @Test(
        arguments: [
            (
                .status(404, [:], error("NOT_FOUND", code: "UNREGISTERED")),
                .gone(reason: "FCM returned 404: UNREGISTERED")
            ),
            (
                .status(400, [:], error("INVALID_ARGUMENT", code: "INVALID_ARGUMENT", field: "message.token")),
                .gone(reason: "FCM returned 400: INVALID_ARGUMENT")
            ),
            (
                .status(400, [:], error("INVALID_ARGUMENT", code: "INVALID_ARGUMENT", field: "message.android.ttl")),
                .refused(reason: "FCM returned 400: INVALID_ARGUMENT")
            ),
            (
                .status(400, [:], error("INVALID_ARGUMENT", code: "INVALID_ARGUMENT")),
                .refused(reason: "FCM returned 400: INVALID_ARGUMENT")
            ),
            (
                .status(403, [:], error("PERMISSION_DENIED", code: "SENDER_ID_MISMATCH")),
                .refused(reason: "FCM returned 403: SENDER_ID_MISMATCH")
            ),
            (
                .status(403, [:], error("PERMISSION_DENIED")),
                .later(after: nil, reason: "FCM returned 403: PERMISSION_DENIED")
            ),
            (.status(404, [:], error("NOT_FOUND")), .refused(reason: "FCM returned 404: NOT_FOUND")),
            (
                .status(429, ["Retry-After": "90"], error("RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED")),
                .later(after: .seconds(90), reason: "FCM returned 429: QUOTA_EXCEEDED")
            ),
            (
                .status(429, [:], error("RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED")),
                .later(after: .seconds(60), reason: "FCM returned 429: QUOTA_EXCEEDED")
            ),
            (
                .status(503, ["Retry-After": "5"], error("UNAVAILABLE", code: "UNAVAILABLE")),
                .later(after: .seconds(5), reason: "FCM returned 503: UNAVAILABLE")
            ),
            (
                .status(500, [:], error("INTERNAL", code: "INTERNAL")),
                .later(after: nil, reason: "FCM returned 500: INTERNAL")
            ),
            (.status(502, [:], "<html>"), .later(after: nil, reason: "FCM returned 502")),
            (.status(413), .tooLarge), (.status(302), .refused(reason: "it redirects (302), which is not followed")),
        ] as [(PushServer.Reply, PushResult)])
    func `each error has its result`(reply: PushServer.Reply, result: PushResult) async throws {
        #expect(try await self.result(of: reply) == result)
    }

    @Test(
        arguments: [
            (
                .status(400, [:], #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#),
                .later(after: nil, reason: "no token for FCM: its token server returned 400: invalid_grant")
            ),
            (
                .status(503, ["Retry-After": "3"]),
                .later(after: .seconds(3), reason: "no token for FCM: its token server returned 503")
            ),
            (.status(200, [:], "{}"), .later(after: nil, reason: "no token for FCM: its token server returned 200")),
            (
                .status(200, [:], #"{"access_token":"a\r\nx: y","expires_in":10}"#),
                .later(after: nil, reason: "no token for FCM: its token server returned 200")
            ),
        ] as [(PushServer.Reply, PushResult)])
    func `without an access token no message is sent`(tokens: PushServer.Reply, result: PushResult) async throws {
        #expect(try await self.result(tokens: tokens, of: .status(500)) == result)
    }

    @Test func `one token serves all messages until its last minute`() async throws {
        let time = Mutex(present)
        let server = try await PushServer { request, _ in
            .status(200, [:], request.path == "/token" ? Self.granted : Self.sent)
        }
        let sender = try Self.sender(server) { time.withLock { $0 } }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { _ = await sender.send(missedCall(), to: .fcm(token: "t\(number)"), key: "\(number)") }
            }
        }
        #expect(server.requests.filter { $0.path == "/token" }.count == 1 && server.requests.count == 51)
        time.withLock { $0 += 3599 - 60 }
        _ = await sender.send(missedCall(), to: .fcm(token: "t"), key: "k")
        #expect(server.requests.filter { $0.path == "/token" }.count == 2)
        await sender.shutdown()
        try await server.stop()
    }

    @Test func `a withdrawn token is replaced once`() async throws {
        let server = try await PushServer { request, position in
            if request.path == "/token" {
                return .status(200, [:], #"{"access_token":"ya29.\#(position)","expires_in":3599}"#)
            }
            let isFirst = request.header("Authorization") == "Bearer ya29.0"
            return isFirst ? .status(401, [:], Self.error("UNAUTHENTICATED")) : .status(200, [:], Self.sent)
        }
        let sender = try Self.sender(server)
        let result = await sender.send(missedCall(), to: .fcm(token: "t"), key: "k")
        #expect(result == .delivered(id: "projects/herald-push/messages/0:1500415314455276%31bd1c9631bd1c96"))
        #expect(server.requests.map(\.path).filter { $0 == "/token" }.count == 2 && server.requests.count == 4)
        await sender.shutdown()
        try await server.stop()
    }

    @Test func `a service account that cannot work is refused without its key`() throws {
        let good = "https://oauth2.googleapis.com/token"
        let bodies = try [
            Array("rubbish".utf8), Array("{}".utf8), Self.account(tokens: good, type: "authorized_user"),
            Self.account(tokens: good, project: "../x"), Self.account(tokens: good, key: "SECRET"),
            Self.account(tokens: "http://oauth2.googleapis.com/token"), Self.account(tokens: "https://10.0.0.1/token"),
        ]
        for body in bodies {
            let error = #expect(throws: PushSettingsError.self) {
                _ = try PushSender(PushSettings(fcm: try FCMSettings(account: body)))
            }
            #expect(error?.description.contains("SECRET") == false && error?.description.contains("BEGIN") == false)
        }
    }
}
