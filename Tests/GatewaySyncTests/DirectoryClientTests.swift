// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewaySync
import GatewaySyncTesting
import Logging
import TestFixtures
import Testing

@Suite("Requests to the directory", .timeLimit(.minutes(8)))
struct DirectoryClientTests {
    private static let emptySync = #"{"success":true,"branding":[],"synced_at":"2026-01-01T00:00:00Z"}"#

    @Test func `a sync carries the key, the client type, the cursor and the device`() async throws {
        let peer = try FaultyPeer { _, _ in .json(Self.emptySync) }
        try await withClient(of: peer) { client in
            _ = try await client.sync(since: "2026-01-01T00:00:00+00:00", deviceID: "d-1")
        }
        let request = try #require(peer.requests.first)
        #expect(request.method == "GET")
        #expect(
            request.target == "/api/mobile/branding/sync?since=2026-01-01T00%3A00%3A00%2B00%3A00&device_id=d-1")
        #expect(request.headers["x-api-key"] == testKey)
        #expect(request.headers["x-client-type"] == "herald")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["user-agent"] == "herald/1.2.3")
    }

    @Test(arguments: [404, 405])
    func `the other mount is tried after a miss, and remembered`(status: Int) async throws {
        let peer = try FaultyPeer { request, _ in
            request.path.hasPrefix("/api/") ? .status(status) : .json(Self.emptySync)
        }
        try await withClient(of: peer) { client in
            _ = try await client.sync(since: nil, deviceID: "d")
            _ = try await client.sync(since: nil, deviceID: "d")
        }
        #expect(
            peer.requests.map(\.path) == [
                "/api/mobile/branding/sync", "/mobile/branding/sync", "/mobile/branding/sync",
            ])
    }

    @Test func `a mount that stops working is left for the other`() async throws {
        let peer = try FaultyPeer { request, position in
            request.path.hasPrefix("/api/") == (position == 0) ? .json(Self.emptySync) : .status(404)
        }
        try await withClient(of: peer) { client in
            _ = try await client.sync(since: nil, deviceID: "d")
            _ = try await client.sync(since: nil, deviceID: "d")
        }
        #expect(peer.requests.count == 3)
    }

    @Test(arguments: [400, 401, 403, 409, 301, 302])
    func `no other response leads to the other mount or to a second attempt`(status: Int) async throws {
        let peer = try FaultyPeer { _, _ in .status(status, headers: ["Location": "/elsewhere"]) }
        await #expect(throws: DirectoryError.self) {
            try await withClient(of: peer) { _ = try await $0.sync(since: nil, deviceID: "d") }
        }
        #expect(peer.requests.map(\.path) == ["/api/mobile/branding/sync"])
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func `a passing failure is tried three times, one and two seconds apart`(status: Int) async throws {
        let time = ManualTime(passesByItself: true)
        let peer = try FaultyPeer { _, _ in .status(status) }
        await #expect(throws: DirectoryError.self) {
            try await withClient(of: peer, time: time) { _ = try await $0.sync(since: nil, deviceID: "d") }
        }
        #expect(peer.requests.count == 3)
        #expect(time.asked == [.seconds(1), .seconds(2)])
    }

    @Test func `success after a failure is success`() async throws {
        let time = ManualTime(passesByItself: true)
        let peer = try FaultyPeer { _, position in position == 0 ? .status(500) : .json(Self.emptySync) }
        try await withClient(of: peer, time: time) { _ = try await $0.sync(since: nil, deviceID: "d") }
        #expect(time.asked == [.seconds(1)])
    }

    @Test func `Retry-After lengthens the wait, and a long one ends the attempts`() async throws {
        let time = ManualTime(passesByItself: true)
        let peer = try FaultyPeer { _, position in
            .status(429, headers: ["Retry-After": position == 0 ? "7" : "120"])
        }
        let error = await #expect(throws: DirectoryError.self) {
            try await withClient(of: peer, time: time) { _ = try await $0.sync(since: nil, deviceID: "d") }
        }
        #expect(time.asked == [.seconds(7)])
        #expect(error?.retryAfter == .seconds(120))
    }

    @Test func `a directory that is not there is unavailable`() async throws {
        // Below 1024 the system gives no port to another test's server.
        let time = ManualTime(passesByItself: true)
        let error = await #expect(throws: DirectoryError.self) {
            try await withClient(at: "http://127.0.0.1:1", time: time) {
                _ = try await $0.sync(since: nil, deviceID: "d")
            }
        }
        #expect(error == .unavailable(reason: "127.0.0.1:1: Connection refused", retryAfter: nil))
        #expect(time.asked.count == 2)
    }

    private static func noResponse(_ status: String) -> String {
        """
        no response of the directory: status \(status) came without its error body, so a proxy or firewall sent it; check \
        directory.url and the way there
        """
    }

    @Test(arguments: [
        (404, noResponse("404")), (400, noResponse("400")), (403, noResponse("403")),
        (502, "the directory is not available: it returned 502"),
        (
            401,
            """
            the directory refused access (401); check the key that api_key_file or api_key_env of this account's section \
            directory names, and the account
            """
        ),
    ]) func `a response without a reason phrase leaves no gap`(status: Int, text: String) async throws {
        let peer = try FaultyPeer { _, _ in .status(status, body: "<html>") }
        let error = await #expect(throws: DirectoryError.self) {
            try await withClient(of: peer) { _ = try await $0.sync(since: nil, deviceID: "d") }
        }
        #expect(error?.description == text)
    }

    @Test func `the server's words reach the operator, without the key and without control characters`() async throws {
        let peer = try FaultyPeer { _, _ in
            .status(400, body: #"{"success":false,"error":"no \#(testKey) \u001b[31m","code":"bad"}"#)
        }
        let error = await #expect(throws: DirectoryError.self) {
            try await withClient(of: peer) { _ = try await $0.sync(since: nil, deviceID: "d") }
        }
        #expect(error == .rejected(status: 400, message: .init(text: "no <redacted> \\u{1b}[31m", code: "bad")))
        #expect(try !#require(error).description.contains(testKey))
    }

    @Test(arguments: [true, false])
    func `a response above the limit is refused, announced or not`(announced: Bool) async throws {
        let body = #"{"success":true,"synced_at":"x","branding":[], "pad":""# + String(repeating: "x", count: 5000)
        let peer = try FaultyPeer { _, _ in
            announced ? .json(body) : .raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body)
        }
        let error = await #expect(throws: DirectoryError.self) {
            try await withClient(of: peer, configure: { $0.syncLimit = 4096 }) {
                _ = try await $0.sync(since: nil, deviceID: "d")
            }
        }
        #expect(error == .badResponse(reason: "it is larger than the limit of 4096 bytes"))
        #expect(peer.requests.count == 1)
    }
}

let testKey = "sk_test_0815"

/// Runs a body with a client for the peer and closes it afterwards.
func withClient<T>(
    of peer: FaultyPeer, time: ManualTime = ManualTime(passesByItself: true),
    configure: (inout DirectorySettings) -> Void = { _ in }, _ body: (DirectoryClient) async throws -> T
) async throws -> T {
    try await withClient(at: peer.url, time: time, configure: configure, body)
}

func withClient<T>(
    at url: String, time: ManualTime, configure: (inout DirectorySettings) -> Void = { _ in },
    _ body: (DirectoryClient) async throws -> T
) async throws -> T {
    let client = try client(at: url, time: time, configure: configure)
    do {
        let result = try await body(client)
        await client.shutdown()
        return result
    } catch {
        await client.shutdown()
        throw error
    }
}

func client(
    at url: String, key: String = testKey, time: ManualTime, configure: (inout DirectorySettings) -> Void = { _ in }
) throws -> DirectoryClient {
    var settings = DirectorySettings(
        address: try #require(DirectoryAddress(url)), key: try #require(APIKey(key)), version: "1.2.3")
    // All tests run at once: a response may wait long for a thread.
    settings.requestTimeout = .seconds(450)
    settings.resourceTimeout = .seconds(450)
    settings.connectTimeout = .seconds(450)
    configure(&settings)
    return DirectoryClient(settings, time: time.clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
}
