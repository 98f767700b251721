// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewaySyncTesting
import TestFixtures
import Testing

@testable import GatewaySync

@Suite("Reports about the device", .timeLimit(.minutes(8)))
struct DeviceLifeTests {
    private static let sync = FaultyPeer.Response.json(#"{"success":true,"synced_at":"c","branding":[]}"#)

    private static func posts(_ peer: FaultyPeer) -> [String] {
        peer.requests.filter { $0.method == "POST" }.map { String($0.path.split(separator: "/").last ?? "") }
    }

    /// Runs the sync service until `condition` holds, with time standing still but for what the condition moves.
    private func run(
        _ gateway: GatewayFixture, until condition: @escaping @Sendable () async -> Bool
    ) async throws {
        let service = gateway.service()
        let running = Task { try await service.run() }
        await until(condition)
        running.cancel()
        try await running.value
    }

    @Test func `a start registers once per device id, updates and reports presence`() async throws {
        let peer = try FaultyPeer { request, _ in request.method == "GET" ? Self.sync : .json(#"{"success":true}"#) }
        let gateway = try await GatewayFixture(peer.url, time: ManualTime())
        // Start, and once more after the first sync.
        try await run(gateway) { Self.posts(peer).count >= 5 }
        #expect(Self.posts(peer) == ["register", "update", "presence", "update", "presence"])
        let before = Self.posts(peer).count
        try await run(gateway) { Self.posts(peer).count >= before + 4 }
        #expect(Self.posts(peer).filter { $0 == "register" }.count == 1)
        await gateway.client.shutdown()
    }

    @Test func `presence goes out every five minutes`() async throws {
        let peer = try FaultyPeer { request, _ in request.method == "GET" ? Self.sync : .json(#"{"success":true}"#) }
        let time = ManualTime()
        let gateway = try await GatewayFixture(peer.url, time: time)
        let service = gateway.service()
        let running = Task { try await service.run() }
        await until { Self.posts(peer).count >= 5 && time.sleeping.contains(.seconds(300)) }
        time.advance(by: .seconds(300))
        await until { Self.posts(peer).count >= 6 }
        #expect(Self.posts(peer).dropFirst(5) == ["presence"])
        let presence = try #require(peer.requests.last)
        #expect(presence.body.contains(#""device_id":"gateway-1""#))
        #expect(presence.body.contains(#""observed_at":"2026-01-01T00:05:00Z""#))
        #expect(presence.body.contains(#""last_synced_at":"2026-01-01T00:00:00Z""#))
        running.cancel()
        try await running.value
        await gateway.client.shutdown()
    }

    @Test func `a refused platform is logged once and stops nothing`() async throws {
        let peer = try FaultyPeer { request, _ in
            request.method == "GET"
                ? Self.sync : .status(400, body: #"{"success":false,"error":"unknown platform linux"}"#)
        }
        let gateway = try await GatewayFixture(peer.url, time: ManualTime())
        let service = gateway.service()
        let running = Task { try await service.run() }
        await until { service.status.successes == 1 && Self.posts(peer).count >= 6 }
        service.syncNow()
        await until { service.status.successes == 2 && Self.posts(peer).count >= 9 }
        #expect(service.status.result == .succeeded)
        #expect(gateway.closed == nil)
        #expect(gateway.log.lines.filter { $0.contains("request=register") }.count == 1)
        running.cancel()
        try await running.value
        await gateway.client.shutdown()
    }

    @Test(arguments: [401, 403, 404, 301, 501])
    func `a directory that refuses everything is reported by the sync alone`(status: Int) async throws {
        let peer = try FaultyPeer { _, _ in .status(status) }
        let time = ManualTime()
        let gateway = try await GatewayFixture(peer.url, time: time)
        let service = gateway.service()
        let running = Task { try await service.run() }
        await until { service.status.failures == 1 && time.sleeping.contains(.seconds(300)) }
        #expect(Set(Self.posts(peer)) == ["register", "update", "presence"])
        #expect(gateway.log.lines.filter { $0.contains("the directory") }.count == 1, "\(gateway.log.lines)")
        running.cancel()
        try await running.value
        await gateway.client.shutdown()
    }

    @Test func `a device the directory has forgotten is registered again`() async throws {
        let peer = try FaultyPeer { request, position in
            if request.method == "GET" { return Self.sync }
            return request.path.hasSuffix("/update") && position < 4 ? .refusal(404) : .json(#"{"success":true}"#)
        }
        let gateway = try await GatewayFixture(peer.url, time: ManualTime())
        let service = gateway.service()
        let running = Task { try await service.run() }
        await until { service.status.successes == 1 && Self.posts(peer).filter { $0 == "register" }.count >= 2 }
        #expect(Self.posts(peer).filter { $0 == "register" }.count == 2)
        running.cancel()
        try await running.value
        await gateway.client.shutdown()
    }
}
