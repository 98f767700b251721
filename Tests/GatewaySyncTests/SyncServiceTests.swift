// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import GatewayStore
import GatewayStoreTesting
import GatewaySync
import GatewaySyncTesting
import ServiceLifecycle
import Synchronization
import TestFixtures
import Testing

@Suite("Keeping in step with the directory", .timeLimit(.minutes(8)))
struct SyncServiceTests {
    private static func response(
        _ numbers: [String] = [], at cursor: String = "cursor-1", name: String = "Acme", extra: String = ""
    ) -> FaultyPeer.Response {
        let items = numbers.map {
            #"{"phone_number_e164":"\#($0)","brand_name":"\#(name)","brand_id":"b","updated_at":"2026-02-01T00:00:00Z"}"#
        }
        return .json(
            #"{"success":true,"synced_at":"\#(cursor)","branding":[\#(items.joined(separator: ","))]\#(extra)}"#)
    }

    @Test func `the first sync is full, the next go on from the server's cursor`() async throws {
        let peer = try FaultyPeer { _, position in Self.response(["+6141200000\(position)"], at: "c+\(position)") }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.wasFull)
        await service.syncOnce()
        #expect(!service.status.wasFull)
        #expect(
            peer.requests.map(\.target) == [
                "/api/mobile/branding/sync?device_id=gateway-1",
                "/api/mobile/branding/sync?since=c%2B0&device_id=gateway-1",
            ])
        #expect(gateway.finds("+61412000000"))
        #expect(gateway.finds("+61412000001"))
        #expect(service.status.cursor == "c+1")
        #expect(service.status.records == 2)
        await gateway.client.shutdown()
    }

    @Test func `after a day the whole set is asked for, and what is not in it goes`() async throws {
        let peer = try FaultyPeer { _, position in Self.response(position == 0 ? ["+61412000001"] : ["+61412000002"]) }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        await service.syncOnce()
        #expect(gateway.finds("+61412000001"))
        gateway.time.advance(by: .seconds(86_400))
        await service.syncOnce()
        #expect(service.status.wasFull)
        #expect(!gateway.finds("+61412000001"))
        #expect(gateway.finds("+61412000002"))
        await gateway.client.shutdown()
    }

    @Test func `a clock set back leads to a full sync, not to none`() async throws {
        let peer = try FaultyPeer { _, _ in Self.response() }
        let gateway = try await GatewayFixture(peer.url)
        _ = try await gateway.cache.apply(
            StoredResponse(
                isFull: true, upserts: [], removals: [], cursor: "c", gates: BrandingGates(),
                now: ManualTime.start + 999_999))
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.wasFull)
        await gateway.client.shutdown()
    }

    @Test func `an item marked inactive is purged`() async throws {
        let inactive =
            #"{"success":true,"synced_at":"c2","branding":[{"phone_number_e164":"+61412000001","brand_name":"Acme","#
            + #""brand_id":"b","updated_at":"2026-03-01T00:00:00Z","is_active":false}]}"#
        let peer = try FaultyPeer { _, position in
            position == 0 ? Self.response(["+61412000001", "+61412000002"]) : .json(inactive)
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        await service.syncOnce()
        #expect(!gateway.finds("+61412000001"))
        #expect(gateway.finds("+61412000002"))
        #expect(service.status.removed == 1)
        await gateway.client.shutdown()
    }

    @Test func `records that cannot be used are counted by reason, the others are taken`() async throws {
        let peer = try FaultyPeer { _, _ in Self.response(["12", "+0123456789", "+61412000001", "n/a"]) }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.result == .succeeded)
        #expect(service.status.rejected.values.reduce(0, +) == 3)
        #expect(gateway.finds("+61412000001"))
        #expect(gateway.log.lines.contains { $0.contains("left out") })
        await gateway.client.shutdown()
    }

    @Test func `a whole set without a logo is logged once, and again after one that had one`() async throws {
        let logo = #","logo_url":"https://logos.example.com/a.png""#
        // True where the set has a logo.
        let sets = [false, false, true, false]
        let peer = try FaultyPeer { _, position in
            let item = #"{"phone_number_e164":"+61491570156","brand_name":"Acme"\#(sets[position] ? logo : "")}"#
            return .json(#"{"branding":[\#(item)],"synced_at":"c\#(position)"}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        var counts: [Int] = []
        for _ in sets {
            service.syncNow(full: true)
            await service.syncOnce()
            counts.append(gateway.log.lines.filter { $0.contains("no brand of the directory has a logo") }.count)
        }
        #expect(counts == [1, 1, 1, 2])
        await gateway.client.shutdown()
    }

    @Test func `an element that is no record costs only itself`() async throws {
        let odd = #"{"phone_number_e164":5,"brand_name":"x"},null,[],"x",{"brand_name":"y"}"#
        let nul = #"{"phone_number_e164":"+61412000002","brand_name":"a\u0000b"}"#
        let good = #"{"phone_number_e164":"+61412000001","brand_name":"Acme"}"#
        let peer = try FaultyPeer { _, _ in
            .json(#"{"success":true,"synced_at":"c","branding":[\#(odd),\#(nul),\#(good)]}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.rejected == ["no branding record": 5, "NUL in a text": 1])
        #expect(service.status.records == 1)
        #expect(gateway.finds("+61412000001"))
        await gateway.client.shutdown()
    }

    @Test func `a gate alone changes without a new index`() async throws {
        let peer = try FaultyPeer { _, position in
            Self.response(
                ["+61412000001"], extra: position == 0 ? "" : #","config":{"branding_enabled":false}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        let index = gateway.current.load().index
        await service.syncOnce()
        #expect(gateway.closed == .gatedBrandingDisabled)
        #expect(gateway.current.load().index === index)
        await gateway.client.shutdown()
    }

    @Test func `a gate closes although the records that came with it cannot be stored`() async throws {
        let peer = try FaultyPeer { _, position in
            Self.response(
                ["+6141200000\(position)"], extra: position == 0 ? "" : #","config":{"branding_enabled":false}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        #expect(gateway.closed == nil)
        try await gateway.database.brands.write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER full BEFORE INSERT ON brand
                    BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END
                    """)
        }
        await service.syncOnce()
        #expect(service.status.lastError != nil)
        #expect(gateway.closed == .gatedBrandingDisabled)
        #expect(try await gateway.cache.syncState().gates.closed == .gatedBrandingDisabled)
        await gateway.client.shutdown()
    }

    @Test func `a refused cursor leads to a full sync`() async throws {
        let peer = try FaultyPeer { request, _ in
            request.target.contains("since=") ? .refusal(400) : Self.response(["+61412000002"])
        }
        let gateway = try await GatewayFixture(peer.url, records: [record("+61412000001")])
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.result == .failed)
        await service.syncOnce()
        #expect(service.status.result == .succeeded)
        #expect(!gateway.finds("+61412000001"))
        await gateway.client.shutdown()
    }

    @Test func `a sync is acknowledged where that is wanted, and its refusal changes nothing`() async throws {
        let peer = try FaultyPeer { request, _ in
            request.method == "POST" ? .status(500) : Self.response(["+61412000001"])
        }
        let gateway = try await GatewayFixture(peer.url)
        var schedule = SyncSchedule()
        schedule.acknowledges = true
        let service = gateway.service(schedule)
        await service.syncOnce()
        #expect(service.status.result == .succeeded)
        let posts = peer.requests.filter { $0.method == "POST" }
        #expect(posts.first?.path == "/api/mobile/branding/sync")
        #expect(posts.first?.body.contains("+61412000001") == true)
        await gateway.client.shutdown()
    }

    @Test func `it syncs at once, then every interval, and when it is asked to`() async throws {
        let peer = try FaultyPeer { request, _ in request.method == "GET" ? Self.response() : .json("{}") }
        let time = ManualTime()
        let gateway = try await GatewayFixture(peer.url, time: time)
        let service = gateway.service()
        let group = ServiceGroup(services: [gateway.client, service], logger: gateway.logger)
        async let running: Void = group.run()
        await until { service.status.successes == 1 && time.sleeping.contains(.seconds(1800)) }
        #expect(service.status.nextAt == ManualTime.start + 1800)
        time.advance(by: .seconds(1800))
        await until { service.status.successes == 2 && time.sleeping.contains(.seconds(1800)) }
        service.syncNow()
        await until { service.status.successes == 3 }
        #expect(service.status.successes == 3)
        await group.triggerGracefulShutdown()
        try await running
    }

    @Test func `failed syncs are repeated after half a minute, then ever more rarely`() async throws {
        let peer = try FaultyPeer { _, _ in .status(400) }
        let time = ManualTime()
        let gateway = try await GatewayFixture(peer.url, time: time)
        let service = gateway.service()
        let running = Task { try await service.run() }
        for (failures, seconds) in [(1, 30), (2, 60), (3, 120), (4, 240), (5, 480), (6, 960), (7, 1800), (8, 1800)] {
            await until { service.status.failures == failures && service.status.nextAt == time.now + Int64(seconds) }
            #expect(service.status.nextAt == time.now + Int64(seconds))
            await until { time.sleeping.contains(.seconds(seconds)) }
            time.advance(by: .seconds(seconds))
        }
        running.cancel()
        try await running.value
        await gateway.client.shutdown()
    }

    @Test(arguments: [200, 500])
    func `calls are put before a sync from its request to its end, good or bad`(status: Int) async throws {
        let told = Mutex<[String]>([])
        let peer = try FaultyPeer { _, _ in
            told.withLock { $0.append("asked") }
            return status == 200 ? Self.response(["+61412000001"]) : .status(status, body: "")
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = SyncService(
            client: gateway.client, cache: gateway.cache, publisher: gateway.publisher, device: gateway.device,
            stateFolder: gateway.folder.path, time: gateway.time.clock, logger: gateway.logger,
            whileSyncing: { isSo in told.withLock { $0.append("\(isSo)") } },
            index: {
                told.withLock { $0.append("indexed") }
                return try await gateway.index.rebuild()
            })
        await service.syncOnce()
        let words = told.withLock { $0 }
        #expect(words.prefix(2) == ["true", "asked"])
        #expect(words.filter { $0 != "asked" } == (status == 200 ? ["true", "indexed", "false"] : ["true", "false"]))
        #expect(words.last == "false")
        await gateway.client.shutdown()
    }

    @Test func `an index that could not be built is built with the next sync`() async throws {
        let peer = try FaultyPeer { _, _ in Self.response(["+61412000001"]) }
        let gateway = try await GatewayFixture(peer.url)
        let mayBuild = Flag()
        let service = SyncService(
            client: gateway.client, cache: gateway.cache, publisher: gateway.publisher, device: gateway.device,
            stateFolder: gateway.folder.path, time: gateway.time.clock, logger: gateway.logger,
            index: {
                guard mayBuild.isSet else { throw CocoaError(.fileReadNoSuchFile) }
                return try await gateway.index.rebuild()
            })
        await service.syncOnce()
        #expect(service.status.result == .failed)
        #expect(!gateway.finds("+61412000001"))
        mayBuild.set()
        await service.syncOnce()
        #expect(service.status.result == .succeeded)
        #expect(gateway.finds("+61412000001"))
        await gateway.client.shutdown()
    }
}
