// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import Foundation
import GatewayStore
import GatewaySyncTesting
import TestFixtures
import Testing

@testable import GatewaySync

@Suite("What a directory refuses concerns what it refuses", .timeLimit(.minutes(8)))
struct PartialRefusalTests {
    private static let counted = #"{"success":true,"event_id":"e","counted":true}"#
    private static let synced = #"{"success":true,"synced_at":"c","branding":[]}"#

    @Test func `an event that always fails holds up no other one`() async throws {
        let peer = try FaultyPeer { request, _ in
            request.body.contains("displayed:bad") ? .status(500) : .json(Self.counted)
        }
        let gateway = try await GatewayFixture(peer.url)
        // The first ones always fail, more than are sent at once.
        for number in 0..<40 { gateway.outbox.add(number < 5 ? "displayed:bad\(number)" : "displayed:\(number)") }
        let sender = gateway.sender()
        for _ in 0..<20 where sender.counts.delivered < 35 {
            let wait = await sender.sendBatch()
            // Successes between the failures: the sender's own wait does not grow.
            #expect(wait <= .seconds(1.1))
            try await gateway.time.clock.sleep(wait)
        }
        #expect(sender.counts.delivered == 35)
        await gateway.client.shutdown()
    }

    @Test(arguments: [401, 403]) func `an event's refusal of access has a sync decide at once`(status: Int) async throws
    {
        let peer = try FaultyPeer { request, _ in request.method == "GET" ? .json(Self.synced) : .refusal(status) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.outbox.add("displayed:1")
        await gateway.sender().sendBatch()
        #expect(gateway.closed == nil, "only a sync decides")
        // A bell that has not rung would be waited for until the suite's time limit.
        await gateway.publisher.wantsSync.wait(.seconds(3600), time: .system)
        await gateway.service().syncOnce()
        #expect(gateway.closed == nil)
        await gateway.client.shutdown()
    }

    @Test(arguments: [(401, true), (403, true), (401, false), (403, false)])
    func `events that are refused for hours stop events alone`(status: Int, together: Bool) async throws {
        let peer = try FaultyPeer { request, _ in
            if request.method == "GET" { return .json(Self.synced) }
            guard request.path.hasSuffix("/batch") else { return .refusal(status) }
            let results = (0..<3).map { _ in
                #"{"status":"error","status_code":\#(status),"error":{"success":false,"error":"no","code":"NO_EVENTS"}}"#
            }
            return .json(#"{"results":[\#(results.joined(separator: ","))]}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        if together {
            gateway.client.state.record(
                try JSONDecoder().decode(
                    RemoteConfiguration.self, from: Data(#"{"features":{"event_batch":true},"settings":{}}"#.utf8)))
        }
        gateway.outbox.add("displayed:1", "displayed:2", "displayed:3")
        let (service, sender) = (gateway.service(), gateway.sender())
        await service.syncOnce()
        var syncs = 1
        let end = gateway.time.now + 6 * 3600
        while gateway.time.now < end {
            // The sync that a refusal asks for, as `run` would begin it.
            let wait = await sender.sendBatch()
            if gateway.publisher.wantsSync.takeRing() {
                await service.syncOnce()
                syncs += 1
            }
            #expect(gateway.closed == nil)
            try await gateway.time.clock.sleep(wait)
        }
        #expect((8...14).contains(syncs), "\(syncs), which should be one an hour after the first few")
        #expect(!gateway.log.lines.contains { $0.contains("branding stopped") })
        #expect(sender.counts.delivered == 0 && sender.counts.refused == 0)
        await gateway.client.shutdown()
    }

    @Test func `records that grew too old have a sync begin at once`() async throws {
        let peer = try FaultyPeer { _, _ in .json(Self.synced) }
        let gateway = try await GatewayFixture(peer.url)
        let old = gateway.time.clock.now() - 7200
        let lifetime = CacheLifetime(
            publisher: gateway.publisher, state: gateway.client.state, own: .seconds(3600), time: gateway.time.clock
        ) { old }
        await lifetime.check()
        await gateway.publisher.wantsSync.wait(.seconds(3600), time: .system)
        await gateway.client.shutdown()
    }

    @Test func `a lookup that is forbidden stops no branding`() async throws {
        let peer = try FaultyPeer { _, _ in .status(403, body: #"{"error":"no lookups","code":"FORBIDDEN"}"#) }
        let gateway = try await GatewayFixture(peer.url)
        let lookup = NumberLookup(
            client: gateway.client, device: gateway.device, publisher: gateway.publisher, schedule: LookupSchedule(),
            time: gateway.time.clock, logger: gateway.logger, store: { _ in true },
            index: { [index = gateway.index] in try await index.rebuild() })
        lookup.ended(callFrom: try #require(E164Number("+61412345678")))
        _ = await lookup.step()
        #expect(lookup.counts.failed == 1)
        #expect(gateway.closed == nil)
        await gateway.client.shutdown()
    }

    @Test(arguments: [400, 403, 404, 405, 407, 409, 413, 421, 422, 431, 451])
    func `what a proxy or firewall refuses leaves events, brands, the cursor and the device alone`(
        status: Int
    ) async throws {
        let peer = try FaultyPeer { _, _ in .status(status, headers: ["Content-Type": "text/html"], body: "<h1>no</h1>")
        }
        let gateway = try await GatewayFixture(peer.url, records: [record("+61412345678")])
        let registered = gateway.folder.path + "/device-registered"
        try Data(gateway.device.id.utf8).write(to: URL(fileURLWithPath: registered))
        gateway.outbox.add("displayed:1")
        let sender = gateway.sender()
        await sender.sendBatch()
        #expect(sender.counts.refused == 0 && sender.counts.postponed == 1)
        let service = gateway.service()
        await service.syncOnce()
        await service.syncOnce()
        #expect(service.status.result == .failed)
        #expect(!service.status.wasFull)
        #expect(gateway.closed == nil)
        #expect(gateway.finds("+61412345678"))
        #expect(gateway.log.lines.contains { $0.contains("status \(status) came without its error body") })
        #expect(!gateway.log.lines.contains { $0.contains("api_key") })
        await DeviceLife(
            client: gateway.client, device: gateway.device, stateFolder: gateway.folder.path,
            time: gateway.time.clock, logger: gateway.logger
        ).report(lastSync: nil, isInSync: true)
        #expect(FileManager.default.fileExists(atPath: registered))
        await gateway.client.shutdown()
    }

    @Test func `a proxy's 404 asks for no full sync, the directory's refusal of a cursor for one without condition`()
        async throws
    {
        let tagged = FaultyPeer.Response.status(200, headers: ["ETag": "\"v1\""], body: Self.synced)
        let responses: [FaultyPeer.Response] = [
            // Both mounts are asked.
            tagged, .status(404), .status(404), tagged,
            .status(400, body: #"{"error":"no such cursor","code":"BAD_REQUEST"}"#), tagged,
        ]
        let peer = try FaultyPeer { _, position in responses[min(position, responses.count - 1)] }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        var wasFull: [Bool] = []
        for _ in 0..<5 {
            await service.syncOnce()
            wasFull.append(service.status.wasFull)
        }
        #expect(wasFull == [true, false, false, false, true])
        #expect(peer.requests.last?.headers["if-none-match"] == nil)
        await gateway.client.shutdown()
    }

    @Test func `an error with a megabyte of nested details is read like any other`() throws {
        let chain = String(repeating: "[", count: 250) + String(repeating: "]", count: 250)
        let details = (0..<2000).map { "\"k\($0)\":\(chain)" }.joined(separator: ",")
        for body in [
            #"{"error":"busy","code":"B","details":{\#(details)}}"#,
            #"{"error":{"message":"busy","code":"B","details":{\#(details)}}}"#,
        ] {
            let message = ServerMessage(Data(body.utf8)) { $0 }
            #expect(message.text == "busy" && message.code == "B")
        }
    }

    @Test func `a validator no proxy would carry is not kept`() async throws {
        let long = "\"" + String(repeating: "x", count: 5000) + "\""
        let peer = try FaultyPeer { _, _ in .status(200, headers: ["ETag": long], body: Self.synced) }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        await service.syncOnce()
        #expect(peer.requests.allSatisfy { $0.headers["if-none-match"] == nil })
        #expect(service.status.result == .succeeded)
        await gateway.client.shutdown()
    }
}
