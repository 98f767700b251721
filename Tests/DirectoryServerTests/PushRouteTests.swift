// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("Routes of push messages", .timeLimit(.minutes(8)), .bothEngines)
struct PushRouteTests {
    private static let push = RunningDirectory.push
    private static let token = ScriptedPush.appleToken

    private static func phone(_ more: String = "") -> String {
        #"{"device_id":"phone","platform":"ios","token":"\#(token)","app_version":"1.2.0"\#(more)}"#
    }

    // MARK: The shapes of the Mobile API

    @Test func `a registration has the fields of the published response`() async throws {
        try await ScriptedPush.run { directory, _ in
            let response = try await directory.send(
                "POST", Self.push, Self.phone(#","numbers":["+61255501001"]"#))
            #expect(response.status == 200, "\(response.text)")
            let client = try AccountStore(directory.database).config(now: directory.time.now).clientID
            #expect(
                response.object == [
                    "id": .string("phone"), "user_id": .string(client ?? ""), "token": .string(Self.token),
                    "platform": .string("ios"), "app_version": .string("1.2.0"), "is_active": .bool(true),
                    "created_at": .string("2026-01-01T00:00:00Z"),
                    "numbers": .array([
                        .object(["number": .string("+61255501001"), "confirmed": .bool(false)])
                    ]),
                ])
        }
    }

    @Test func `a removal has the published response, by token, subscription or device`() async throws {
        try await ScriptedPush.run { directory, _ in
            let done: [String: JSONValue] = [
                "success": .bool(true), "message": .string("Device token unregistered successfully"),
            ]
            for name in [#""token":"\#(Self.token)""#, #""device_id":"phone""#] {
                #expect(try await directory.send("POST", Self.push, Self.phone()).status == 200)
                let removed = try await directory.send("DELETE", Self.push, "{\(name)}")
                #expect(removed.status == 200 && removed.object == done, "\(removed.text)")
                #expect(try await directory.send("DELETE", Self.push, "{\(name)}").isEnvelope("not_registered"))
            }
            try await directory.addBrowser()
            let removed = try await directory.send(
                "DELETE", Self.push, #"{"subscription":\#(ScriptedPush.subscription)}"#)
            #expect(removed.object == done, "\(removed.text)")
        }
    }

    @Test func `preferences are set and read in the published form`() async throws {
        try await ScriptedPush.run { directory, _ in
            #expect(try await directory.send("POST", Self.push, Self.phone()).status == 200)
            let path = Self.push + "/preferences"
            let set = try await directory.send(
                "PUT", path,
                #"{"token":"\#(Self.token)","preferences":{"missed_call":true,"call_returned":false,"brand_changed":false}}"#
            )
            let expected: [String: JSONValue] = [
                "success": .bool(true),
                "preferences": .object([
                    "missed_call": .bool(true), "call_returned": .bool(false), "brand_changed": .bool(false),
                ]),
            ]
            #expect(set.status == 200 && set.object == expected, "\(set.text)")
            let read = try await directory.ask(path + "?device_id=phone")
            #expect(read.object == expected, "\(read.text)")
            let part = try await directory.send(
                "PUT", path, #"{"device_id":"phone","preferences":{"privacy":"name"}}"#)
            #expect(
                part.object["preferences"]
                    == .object([
                        "missed_call": .bool(true), "call_returned": .bool(false), "brand_changed": .bool(false),
                        "privacy": .string("name"),
                    ]))
            for bad in [#"{"likes":true}"#, #"{"missed_call":1}"#, #"{"privacy":"loud"}"#, "[]"] {
                let refused = try await directory.send("PUT", path, #"{"device_id":"phone","preferences":\#(bad)}"#)
                #expect(refused.isEnvelope("bad_request"), "\(bad): \(refused.text)")
            }
        }
    }

    @Test func `a test message is sent at once, and its failure is the published error`() async throws {
        try await ScriptedPush.run { directory, push in
            #expect(try await directory.send("POST", Self.push, Self.phone()).status == 200)
            let path = "/api/" + APIPath.pushTest
            let body = #"{"token":"\#(Self.token)","platform":"ios"}"#
            let sent = try await directory.send("POST", path, body)
            #expect(sent.status == 200, "\(sent.text)")
            #expect(sent.object["success"] == .bool(true))
            #expect(sent.object["message"] == .string("Test notification sent successfully"))
            guard case .string(let id) = sent.object["notification_id"] else {
                Issue.record("\(sent.text)")
                return
            }
            #expect(push.attempts.map(\.notice.kind) == [.test] && push.attempts.map(\.notice.tag) == [id])
            push.respond { _ in .later(after: nil, reason: "down") }
            let failed = try await directory.send("POST", path, body)
            #expect(failed.status == 502 && failed.isEnvelope("PUSH_SERVICE_ERROR"), "\(failed.text)")
            #expect(
                failed.object["error"]
                    == .string("Failed to send push notification due to external service error"))
            #expect(
                failed.object["details"]
                    == .object(["service": .string("APNs"), "error_type": .string("service_unavailable")]))
            let unknown = try await directory.send("POST", path, #"{"token":"another","platform":"ios"}"#)
            #expect(unknown.status == 404 && unknown.isEnvelope("not_registered"))
            let wrong = try await directory.send("POST", path, #"{"device_id":"phone","platform":"web"}"#)
            #expect(wrong.isEnvelope("bad_request"))
        }
    }

    @Test func `browsers get the public key`() async throws {
        try await ScriptedPush.run { directory, _ in
            for path in [Self.push + "/key", "/push/api/key"] {
                let key = try await directory.ask(path).object["public_key"]
                #expect(key == .string(ScriptedPush().gateway().publicKey ?? ""))
            }
        }
    }

    // MARK: Bad input

    @Test func `malformed, expired and foreign addresses are refused with the field`() async throws {
        let good = ScriptedPush.subscription
        let rows: [(name: String, body: String, status: Int, code: String)] = [
            ("no address", #""platform":"web""#, 400, "INVALID_SUBSCRIPTION"),
            ("a text", #""platform":"web","subscription":"x""#, 400, "INVALID_SUBSCRIPTION"),
            ("http", good.replacing("https:", with: "http:"), 400, "INVALID_SUBSCRIPTION"),
            ("login", good.replacing("https://", with: "https://a:b@"), 400, "INVALID_SUBSCRIPTION"),
            ("no host", good.replacing("https://push.example.net", with: "https://"), 400, "INVALID_SUBSCRIPTION"),
            ("line break", good.replacing("/push/", with: #"/\r\nX: y/"#), 400, "INVALID_SUBSCRIPTION"),
            ("no point", good.replacing("BCVxsr7N", with: "BCVxsr7M"), 400, "INVALID_SUBSCRIPTION"),
            ("short key", good.replacing("BCVxsr7N_eNg", with: ""), 400, "INVALID_SUBSCRIPTION"),
            ("short secret", good.replacing("BTBZMqHH", with: ""), 400, "INVALID_SUBSCRIPTION"),
            ("expired", good.replacing("null", with: "1767225600000"), 400, "INVALID_SUBSCRIPTION"),
            ("token", #""platform":"ios","token":"zz""#, 400, "INVALID_TOKEN"),
            ("blank", #""platform":"android","token":"a token with blanks""#, 400, "INVALID_TOKEN"),
            ("no token", #""platform":"ios""#, 400, "bad_request"),
            ("platform", #""platform":"fax","token":"0123456789abcdef""#, 400, "bad_request"),
            ("number", #""platform":"ios","token":"\#(Self.token)","numbers":["0255501001"]"#, 400, "bad_request"),
            ("numbers", #""platform":"ios","token":"\#(Self.token)","numbers":"+61255501001""#, 400, "bad_request"),
            ("unknown field", #""platform":"ios","token":"\#(Self.token)","badge":1"#, 400, "bad_request"),
        ]
        try await ScriptedPush.run { directory, _ in
            for row in rows {
                let fields = row.body.hasPrefix("{") ? #""platform":"web","subscription":\#(row.body)"# : row.body
                let response = try await directory.send("POST", Self.push, #"{"device_id":"d",\#(fields)}"#)
                #expect(response.status == row.status && response.isEnvelope(row.code), "\(row.name): \(response.text)")
            }
            #expect(try await PushDevices(directory.database).page(after: nil, limit: 9).isEmpty)
        }
    }

    @Test func `a platform without a service is refused with those there are`() async throws {
        try await ScriptedPush.run({ $0.platforms = [.web] }) { directory, _ in
            let response = try await directory.send("POST", Self.push, Self.phone())
            #expect(response.status == 422 && response.isEnvelope("UNSUPPORTED_PLATFORM"), "\(response.text)")
        }
    }

    @Test func `a directory without push services has none of the routes`() async throws {
        try await RunningDirectory.run { directory in
            for (method, path) in [
                ("POST", Self.push), ("DELETE", Self.push), ("GET", Self.push + "/preferences?device_id=d"),
                ("PUT", Self.push + "/preferences"), ("GET", Self.push + "/key"), ("POST", "/api/" + APIPath.pushTest),
                ("GET", "/push/api/key"), ("POST", "/push/api/devices"),
            ] {
                let response = try await directory.send(method, path, method == "GET" ? "" : "{}")
                #expect(response.status == 404 && response.isEnvelope("push_off"), "\(method) \(path)")
            }
            // The secret of a browser is asked for first.
            #expect(try await directory.send("GET", "/push/api/device", "").status == 401)
            #expect(try await directory.send("PUT", Self.push, "{}").status == 405)
        }
    }

    @Test func `accounts do not see each other's devices`() async throws {
        try await ScriptedPush.run { directory, _ in
            let other = try AccountList(directory.database).create(name: "other", now: 0)
            let key = try AccountStore(directory.database, account: other).createKey(name: "other", now: 0)
            #expect(try await directory.send("POST", Self.push, Self.phone()).status == 200)
            for (method, path) in [
                ("DELETE", Self.push), ("PUT", Self.push + "/preferences"), ("POST", "/api/" + APIPath.pushTest),
            ] {
                let more = method == "PUT" ? #","preferences":{}"# : ""
                let response = try await directory.send(
                    method, path, #"{"token":"\#(Self.token)"\#(more)}"#, headers: ["X-API-Key": key])
                #expect(response.status == 404 && response.isEnvelope("not_registered"), "\(method): \(response.text)")
            }
            let mine = try await directory.ask(Self.push + "/preferences?device_id=phone")
            #expect(mine.status == 200)
        }
    }

    // MARK: Browsers with an invitation

    @Test func `an invitation registers a browser once, which then needs its own secret`() async throws {
        try await ScriptedPush.run { directory, push in
            let number = try #require(E164Number(ScriptedPush.person))
            let link = try await PushInvitations(directory.database).invite(
                number, of: .first, expires: directory.time.now + 60, now: directory.time.now)
            let body = #"{"invitation":"\#(link)","subscription":\#(ScriptedPush.subscription)}"#
            let none = ["X-API-Key": ""]
            let made = try await directory.send("POST", "/push/api/devices", body, headers: none)
            #expect(made.status == 200, "\(made.text)")
            let again = try await directory.send("POST", "/push/api/devices", body, headers: none)
            #expect(again.status == 401 && again.isEnvelope("invitation_invalid"), "\(again.text)")
            guard case .string(let secret) = made.object["secret"] else {
                Issue.record("\(made.text)")
                return
            }
            let own = ["X-API-Key": "", "Authorization": "Bearer \(secret)"]
            let state = try await directory.send("GET", "/push/api/device", headers: own)
            #expect(state.text.contains(#""confirmed":true"#) && !state.text.contains("push.example.net"))
            let chosen = try await directory.send(
                "PUT", "/push/api/device/preferences", #"{"preferences":{"missed_call":false}}"#, headers: own)
            #expect(chosen.status == 200, "\(chosen.text)")
            let moved = ScriptedPush.subscription.replacing("JzLQ3raZ", with: "KzLQ3raZ")
            let move = try await directory.send(
                "PUT", "/push/api/device", #"{"subscription":\#(moved)}"#, headers: own)
            #expect(move.status == 200 && move.text.contains(#""confirmed":true"#), "\(move.text)")
            #expect(try await directory.send("POST", "/push/api/test", "{}", headers: own).status == 200)
            #expect(push.attempts.map { $0.address.contains("KzLQ3raZ") } == [true])
            #expect(try await directory.send("DELETE", "/push/api/device", headers: own).status == 200)
            let gone = try await directory.send("GET", "/push/api/device", headers: own)
            #expect(gone.status == 401 && gone.isEnvelope("not_registered"), "\(gone.text)")
        }
    }
}
