// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import TestFixtures
import Testing

@Suite("The public cards of a sync", .timeLimit(.minutes(8)))
struct CardTemplateTests {
    private static let template = "https://cards.example/b/{brand_id}"

    /// A sync with this `config`; nil for one without.
    private static func response(_ config: String?) -> FaultyPeer.Response {
        .json(#"{"success":true,"synced_at":"c","branding":[]"# + (config.map { ",\"config\":\($0)" } ?? "") + "}")
    }

    private static func config(_ template: String) -> String {
        let text = (try? JSONEncoder().encode(template)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return "{\"branding_enabled\":true,\"card_url\":\(text)}"
    }

    @Test func `calls have them with the sync, a start later they are there, and a config without them closes them`()
        async throws
    {
        let other = "https://other.example/b/{brand_id}"
        let configs = [Self.config(Self.template), nil, Self.config(other), "{}"]
        let peer = try FaultyPeer { _, position in Self.response(configs[position]) }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        for template in [Self.template, Self.template, other, nil] {
            await service.syncOnce()
            #expect(gateway.current.load().cards?.template == template)
            let stored = try await BrandCacheStore(gateway.database).syncState()
            #expect(stored.cards?.template == template)
        }
        await gateway.client.shutdown()
    }

    @Test func `gates and brands that change leave them in force`() async throws {
        let peer = try FaultyPeer { _, _ in Self.response(Self.config(Self.template)) }
        let gateway = try await GatewayFixture(peer.url, records: [record("+61412000001")])
        await gateway.service().syncOnce()
        await gateway.publisher.closeUnauthorised()
        #expect(gateway.closed != nil && gateway.current.load().cards?.template == Self.template)
        await gateway.publisher.publish(try await gateway.index.rebuild())
        #expect(gateway.current.load().cards?.template == Self.template)
        await gateway.client.shutdown()
    }

    @Test func `a template that no header field may carry is named once, and its bytes reach no terminal`() async throws
    {
        let refused = [
            "http://cards.example/b/{brand_id}", "https://cards.example/b/{brand_id}>;x=",
            "https://cards.example/\r\nVia: x{brand_id}", "https://cards.example/\u{1B}[31m{brand_id}",
        ]
        let peer = try FaultyPeer { _, position in
            Self.response(Self.config(position == 0 ? Self.template : refused[(position - 1) / 2]))
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        for position in 0..<refused.count * 2 {
            await service.syncOnce()
            #expect(service.status.result == .succeeded)
            #expect(gateway.current.load().cards == nil)
            let lines = gateway.log.lines.filter { $0.contains("card_url") }
            #expect(lines.count == position / 2 + 1 && lines.allSatisfy { $0.hasPrefix("warning") })
            #expect(lines.allSatisfy { !$0.contains("\u{1B}") && !$0.contains("\r") })
        }
        await gateway.client.shutdown()
    }

    @Test func `a disk that takes nothing leaves them in memory, and the next sync stores them`() async throws {
        let peer = try FaultyPeer { _, _ in Self.response(Self.config(Self.template)) }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        try await gateway.database.brands.write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER full BEFORE UPDATE OF card_url ON sync_state
                    BEGIN SELECT RAISE(ABORT, 'the disk is full'); END
                    """)
        }
        await service.syncOnce()
        #expect(gateway.current.load().cards?.template == Self.template)
        #expect(try await gateway.cache.syncState().cards == nil)
        try await gateway.database.brands.write { try $0.execute(sql: "DROP TRIGGER full") }
        await service.syncOnce()
        #expect(try await gateway.cache.syncState().cards?.template == Self.template)
        await gateway.client.shutdown()
    }

    @Test func `a refused template is named again after a good one`() async throws {
        let refused = Self.config("http://cards.example/b/{brand_id}")
        let configs = [refused, Self.config(Self.template), refused, "{}", refused]
        let peer = try FaultyPeer { _, position in Self.response(configs[position]) }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        for _ in configs { await service.syncOnce() }
        #expect(gateway.log.lines.filter { $0.contains("card_url") }.count == 3)
        await gateway.client.shutdown()
    }

    // A 304 has no `config`: a validator may stand only for a response whose `card_url` is stored.
    @Test func `cards that the disk refused are asked for again where the directory would respond with 304`()
        async throws
    {
        let body =
            #"{"success":true,"synced_at":"c","branding":[],"config":"# + Self.config(Self.template) + "}"
        let peer = try FaultyPeer { request, _ in
            guard request.headers["if-none-match"] == nil else { return .status(304) }
            return .status(200, headers: ["Content-Type": "application/json", "ETag": "\"v1\""], body: body)
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        try await gateway.database.brands.write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER full BEFORE UPDATE OF card_url ON sync_state
                    BEGIN SELECT RAISE(ABORT, 'the disk is full'); END
                    """)
        }
        // A full sync, and one with its cursor.
        for _ in 0..<2 { await service.syncOnce() }
        try await gateway.database.brands.write { try $0.execute(sql: "DROP TRIGGER full") }
        await service.syncOnce()
        #expect(try await gateway.cache.syncState().cards?.template == Self.template)
        #expect(try await gateway.cache.syncState().cursorValidator != nil)
        await service.syncOnce()
        #expect(peer.requests.last?.headers["if-none-match"] == "\"v1\"")
        #expect(gateway.current.load().cards?.template == Self.template)
        await gateway.client.shutdown()
    }
}
