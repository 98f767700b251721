// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Crypto
import Foundation
import GatewaySyncTesting
import NIOHTTP1
import TestFixtures
import Testing

@testable import GatewaySync

@Suite("Rate limits of the directory, mobile-api Rate Limits", .timeLimit(.minutes(8)))
struct RequestRateLimiterTests {
    private static let now = ManualTime.start
    private static let sync = #"{"success":true,"branding":[],"synced_at":"2026-01-01T00:00:00Z"}"#

    private static func headers(_ remaining: String, _ reset: String) -> HTTPHeaders {
        ["X-RateLimit-Limit": "150", "X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset]
    }

    @Test(arguments: [
        ("1", "\(now + 45)", 0), ("0", "\(now + 45)", 45), ("0", "45", 45), ("0", "\((now + 45) * 1000)", 45),
        ("0", "\(now - 1)", 0),
        ("0", "99999999999", 3600), ("-1", "45", 45), ("x", "45", 0), ("0", "soon", 0), ("0", "-9", 0),
    ])
    func `nothing is asked when nothing remains, until the window ends`(remaining: String, reset: String, wait: Int) {
        let rateLimiter = RequestRateLimiter()
        rateLimiter.record(Self.headers(remaining, reset), asked: nil, now: Self.now, wall: Self.now)
        #expect(rateLimiter.pause(now: Self.now) == .seconds(wait))
        #expect((rateLimiter.admit(now: Self.now) == nil) == (wait == 0))
        if wait > 0 { #expect(rateLimiter.pause(now: Self.now + Int64(wait)) == .zero) }
    }

    @Test(arguments: [-86_400, -3_600, -30, 30, 3_600, 86_400] as [Int64])
    func `a wall clock that is set changes no wait`(step: Int64) {
        let rateLimiter = RequestRateLimiter()
        let steady: Int64 = 500
        // The window's end is told as a time of day, and that clock is set while it is waited for.
        rateLimiter.record(Self.headers("0", "\(Self.now + 45)"), asked: .seconds(60), now: steady, wall: Self.now)
        #expect(rateLimiter.pause(now: steady) == .seconds(60))
        #expect(rateLimiter.pause(now: steady + 59) == .seconds(1))
        #expect(rateLimiter.admit(now: steady + 60) == nil)
        rateLimiter.record(
            Self.headers("0", "\(Self.now + step + 105)"), asked: nil, now: steady + 60, wall: Self.now + step + 60)
        #expect(rateLimiter.pause(now: steady + 60) == .seconds(45))
    }

    @Test func `requests in flight are counted before their answers say so`() {
        let rateLimiter = RequestRateLimiter()
        rateLimiter.record(Self.headers("2", "60"), asked: nil, now: Self.now, wall: Self.now)
        #expect(rateLimiter.admit(now: Self.now) == nil)
        #expect(rateLimiter.admit(now: Self.now) == nil)
        #expect(rateLimiter.admit(now: Self.now) == .seconds(60))
        // The late answer of the first of both.
        rateLimiter.record(Self.headers("1", "60"), asked: nil, now: Self.now, wall: Self.now)
        #expect(rateLimiter.admit(now: Self.now) == .seconds(60))
        #expect(rateLimiter.admit(now: Self.now + 60) == nil)
    }

    @Test func `what one request learns holds for all`() async throws {
        let time = ManualTime(passesByItself: true)
        let peer = try FaultyPeer { _, _ in
            .status(
                200, headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(ManualTime.start + 45)"],
                body: Self.sync)
        }
        try await withClient(of: peer, time: time) { client in
            _ = try await client.sync(since: nil, deviceID: "d")
            let error = await #expect(throws: DirectoryError.self) {
                try await client.sync(since: nil, deviceID: "d")
            }
            #expect(error?.retryAfter == .seconds(45))
            #expect(peer.requests.count == 1)
            time.advance(by: .seconds(45))
            _ = try await client.sync(since: nil, deviceID: "d")
        }
        #expect(peer.requests.count == 2)
    }

    @Test func `a short wait is waited`() async throws {
        let time = ManualTime(passesByItself: true)
        let peer = try FaultyPeer { _, _ in
            .status(200, headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4"], body: Self.sync)
        }
        try await withClient(of: peer, time: time) { client in
            _ = try await client.sync(since: nil, deviceID: "d")
            _ = try await client.sync(since: nil, deviceID: "d")
        }
        #expect(time.asked == [.seconds(4)])
    }
}

@Suite("Signed requests, api-client-networking Request Signing Headers", .timeLimit(.minutes(8)))
struct RequestSigningTests {
    @Test func `a request carries id, signature and time, over the path with its mount and the body`() async throws {
        let peer = try FaultyPeer { request, position in
            position == 0 ? .status(404) : .json(#"{"success":true,"event_id":"e"}"#)
        }
        let signing = RequestSigning(id: "app-1", secret: "hush")
        try await withClient(of: peer, configure: { $0.signing = signing }) { client in
            _ = try await client.send(.init(phoneNumber: "+61412345678", outcome: "displayed", eventKey: "k"))
        }
        #expect(peer.requests.map(\.path) == ["/api/mobile/branding/event", "/mobile/branding/event"])
        for request in peer.requests {
            let message = "app-1POST\(request.path)\(request.body)\(ManualTime.start)"
            let expected = HMAC<SHA256>.authenticationCode(
                for: Data(message.utf8), using: SymmetricKey(data: Data("hush".utf8)))
            #expect(request.headers["x-api-id"] == "app-1")
            #expect(request.headers["x-nonce"] == "\(ManualTime.start)")
            #expect(request.headers["x-signature"] == expected.map { String(format: "%02x", $0) }.joined())
        }
        #expect("\(signing)\(String(reflecting: signing))".contains("hush") == false)
    }

    @Test func `a request without body signs none, and the query is not signed`() async throws {
        let peer = try FaultyPeer { _, _ in
            .json(#"{"success":true,"branding":[],"synced_at":"2026-01-01T00:00:00Z"}"#)
        }
        try await withClient(of: peer, configure: { $0.signing = RequestSigning(id: "a", secret: "s") }) { client in
            _ = try await client.sync(since: nil, deviceID: "d")
        }
        let message = "aGET/api/mobile/branding/sync\(ManualTime.start)"
        let expected = HMAC<SHA256>.authenticationCode(
            for: Data(message.utf8), using: SymmetricKey(data: Data("s".utf8)))
        #expect(peer.requests.first?.headers["x-signature"] == expected.map { String(format: "%02x", $0) }.joined())
    }
}
