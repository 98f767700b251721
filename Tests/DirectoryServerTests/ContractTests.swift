// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import Foundation
import TestFixtures
import Testing

/// What every path has in common: mounts, keys, methods, the error envelope.
@Suite("The contract's paths", .timeLimit(.minutes(8)), .bothEngines)
struct ContractTests {
    struct Route: Sendable, CustomTestStringConvertible {
        var method: String
        var path: String
        var body = ""

        var testDescription: String { "\(method) \(path)" }
    }

    static let routes = [
        Route(method: "GET", path: APIPath.sync),
        Route(
            method: "POST", path: APIPath.sync,
            body: #"{"last_synced_at":"2026-01-01T00:00:00Z","e164_numbers":["+61491570156"]}"#),
        Route(method: "GET", path: APIPath.lookup + "?e164=%2B61491570156"),
        Route(
            method: "POST", path: APIPath.event,
            body: #"{"phone_number_e164":"+61491570156","outcome":"displayed"}"#),
        Route(
            method: "POST", path: APIPath.deviceLog, body: #"{"device_id":"gw-1","level":"info","message":"sync:ok"}"#),
        Route(method: "POST", path: APIPath.register, body: #"{"device_id":"gw-1","platform":"sip"}"#),
        Route(method: "POST", path: APIPath.update, body: #"{"device_id":"gw-0","platform":"sip"}"#),
        Route(
            method: "POST", path: APIPath.presence,
            body: #"{"device_id":"gw-0","observed_at":"2026-01-01T00:00:00Z"}"#),
    ]

    @Test(arguments: routes, ["/", "/api/"])
    func `every route is served below both mounts`(route: Route, mount: String) async throws {
        try await RunningDirectory.run { directory in
            let known = try await directory.post("/" + APIPath.register, #"{"device_id":"gw-0","platform":"sip"}"#)
            #expect(known.status == 200)
            let response = try await directory.ask(mount + route.path, method: route.method, body: route.body)
            #expect(response.status == 200, "\(response.text)")
            #expect(response.object["success"] == .bool(true))
            #expect(response.headers["content-type"] == "application/json; charset=utf-8")
        }
    }

    @Test(arguments: routes)
    func `every route turns down a request without a good key`(route: Route) async throws {
        try await RunningDirectory.run { directory in
            let accounts = AccountStore(directory.database)
            let revoked = try accounts.createKey(name: "revoked", now: 0)
            #expect(try accounts.revokeKey(name: "revoked", now: 1))
            let wrong: [[(String, String)]] = [
                [], [("X-API-Key", "")], [("X-API-Key", "hd_wrong")], [("X-API-Key", revoked)],
                [("X-API-Key", directory.key.uppercased())], [("X-API-Key", String(repeating: "k", count: 5000))],
                [("Authorization", "Basic \(directory.key)")],
            ]
            for headers in wrong {
                let response = try await LoopbackClient.ask(
                    RawRequest(
                        method: route.method, path: "/api/" + route.path, headers: headers.map { ($0.0, $0.1) },
                        body: Array(route.body.utf8)),
                    port: directory.port)
                #expect(response.status == 401, "\(headers)")
                #expect(response.isEnvelope("unauthorized"), "\(response.text)")
            }
        }
    }

    @Test func `a key stops working the moment it is revoked`() async throws {
        try await RunningDirectory.run { directory in
            let before = try await directory.ask("/" + APIPath.sync)
            let isRevoked = try AccountStore(directory.database).revokeKey(name: "test", now: 5)
            let after = try await directory.ask("/" + APIPath.sync)
            #expect(isRevoked)
            #expect(before.status == 200)
            #expect(after.status == 401)
        }
    }

    @Test(arguments: [
        "/", "/mobile", "/mobile/branding", "/mobile/branding/sync/more", "/api", "/api/api/mobile", "/logos",
    ])
    func `a missing path gets an error in the envelope`(path: String) async throws {
        try await RunningDirectory.run { directory in
            let response = try await directory.ask(path)
            #expect(response.status == 404)
            #expect(response.isEnvelope("not_found"), "\(response.text)")
        }
    }

    @Test(arguments: [
        ("DELETE", APIPath.sync, "GET, POST"), ("PUT", APIPath.sync, "GET, POST"), ("POST", APIPath.lookup, "GET"),
        ("GET", APIPath.event, "POST"), ("PATCH", APIPath.register, "POST"), ("GET", APIPath.update, "POST"),
        ("PUT", APIPath.presence, "POST"),
    ])
    func `a method the path does not have is refused with those it has`(
        method: String, path: String, allowed: String
    ) async throws {
        try await RunningDirectory.run { directory in
            let response = try await directory.ask("/api/" + path, method: method)
            #expect(response.status == 405)
            #expect(response.headers["allow"] == allowed)
            #expect(response.isEnvelope("method_not_allowed"), "\(response.text)")
        }
    }

    @Test(arguments: [true, false])
    func `a body above one mebibyte is refused, announced or not`(isChunked: Bool) async throws {
        try await RunningDirectory.run { directory in
            let size = (1 << 20) + 1
            let response = try await LoopbackClient.ask(
                RawRequest(
                    method: "POST", path: "/" + APIPath.event, headers: [("X-API-Key", directory.key)],
                    body: isChunked ? [UInt8](repeating: 32, count: size) : [], isChunked: isChunked, announced: size),
                port: directory.port)
            #expect(response.status == 413)
            #expect(response.isEnvelope("too_large"), "\(response.text)")
        }
    }

    @Test func `a body of one mebibyte is read`() async throws {
        try await RunningDirectory.run { directory in
            let event = #"{"phone_number_e164":"+61491570156","outcome":"missed"}"#
            let body = event + String(repeating: " ", count: (1 << 20) - event.utf8.count)
            let response = try await directory.post("/" + APIPath.event, body)
            #expect(response.status == 200)
        }
    }

    @Test func `the health check needs no key`() async throws {
        try await RunningDirectory.run { directory in
            let response = try await LoopbackClient.ask(RawRequest(path: "/healthz"), port: directory.port)
            #expect(response.status == 200)
            #expect(response.text == "ok\n")
        }
    }
}
