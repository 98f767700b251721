// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import TestFixtures
import Testing

@Suite("Syncs that are conditional", .timeLimit(.minutes(8)))
struct ConditionalSyncTests {
    private static func response(
        _ numbers: [String], at cursor: String, tag: String? = nil, modified: String? = nil
    ) -> FaultyPeer.Response {
        let items = numbers.map {
            #"{"phone_number_e164":"\#($0)","brand_name":"Acme","brand_id":"b","updated_at":"2026-02-01T00:00:00Z"}"#
        }
        var headers = ["Content-Type": "application/json"]
        headers["ETag"] = tag
        headers["Last-Modified"] = modified
        return .status(
            200, headers: headers,
            body: #"{"success":true,"synced_at":"\#(cursor)","branding":[\#(items.joined(separator: ","))]}"#)
    }

    @Test func `a full sync sends back what the last one said of its version, and 304 is success`() async throws {
        let peer = try FaultyPeer { _, position in
            position == 0
                ? Self.response(["+61412000001"], at: "c1", tag: "\"v1\"", modified: "Mon, 15 Jan 2024 10:30:00 GMT")
                : .status(304)
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        service.syncNow(full: true)
        gateway.time.advance(by: .seconds(60))
        await service.syncOnce()
        #expect(peer.requests[1].headers["if-none-match"] == "\"v1\"")
        #expect(peer.requests[1].headers["if-modified-since"] == "Mon, 15 Jan 2024 10:30:00 GMT")
        #expect(service.status.result == .succeeded)
        #expect(service.status.successes == 2)
        #expect(service.status.lastFullSuccess == ManualTime.start + 60)
        #expect(try await gateway.cache.syncState().lastFullSync == ManualTime.start + 60)
        #expect(try await gateway.cache.syncState().cursor == "c1")
        #expect(gateway.finds("+61412000001"))
        await gateway.client.shutdown()
    }

    @Test func `once records have changed, the next full sync is not conditional`() async throws {
        let peer = try FaultyPeer { _, position in
            Self.response(["+6141200000\(position)"], at: "c\(position)", tag: "\"v\(position)\"")
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        await service.syncOnce()
        service.syncNow(full: true)
        await service.syncOnce()
        // What the directory had when it gave the tag is no longer what is stored here.
        #expect(peer.requests[2].headers["if-none-match"] == nil)
        #expect(!peer.requests[2].target.contains("since"))
        await gateway.client.shutdown()
    }

    @Test func `an empty incremental response leaves the cursor, and the same request is conditional`() async throws {
        let peer = try FaultyPeer { _, position in
            switch position {
            case 0: Self.response(["+61412000001"], at: "c1")
            case 1: Self.response([], at: "c2", tag: "\"nothing\"")
            case 2: .status(304)
            default: Self.response(["+61412000002"], at: "c4", tag: "\"more\"")
            }
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        for _ in 0..<5 { await service.syncOnce() }
        #expect(
            peer.requests.map { $0.target.contains("since=c1") } == [false, true, true, true, false])
        #expect(peer.requests.map { $0.headers["if-none-match"] } == [nil, nil, "\"nothing\"", "\"nothing\"", nil])
        #expect(peer.requests[4].target.contains("since=c4"))
        #expect(gateway.finds("+61412000002"))
        await gateway.client.shutdown()
    }

    @Test func `304 opens the gate that 401 closed`() async throws {
        let peer = try FaultyPeer { _, position in
            switch position {
            case 0: Self.response(["+61412000001"], at: "c1")
            case 1: Self.response([], at: "c2", tag: "\"nothing\"")
            case 2: .status(401)
            default: .status(304)
            }
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        for _ in 0..<3 { await service.syncOnce() }
        #expect(gateway.closed == .gatedUnauthorised)
        await service.syncOnce()
        #expect(gateway.closed == nil)
        #expect(try await gateway.cache.syncState().gates.authorised)
        await gateway.client.shutdown()
    }

    @Test func `304 to a request that was not conditional is no valid response`() async throws {
        let peer = try FaultyPeer { _, _ in .status(304) }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.result == .failed)
        await gateway.client.shutdown()
    }
}
