// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import Foundation
import GatewayStore
import GatewaySyncTesting
import Synchronization
import TestFixtures
import Testing

@testable import GatewaySync

@Suite("Lookups after a call, securenode-endpoint-contract §6", .timeLimit(.minutes(8)))
struct NumberLookupTests {
    private static let found =
        #"{"success":true,"e164":"+61412345678","brand_name":"Acme","brand_id":"b","updated_at":"2026-01-01T00:00:00Z"}"#

    /// Requests, without those on the second mount that follow a 404 on the first.
    private static func asked(_ peer: FaultyPeer) -> Int { peer.requests.filter { $0.path.hasPrefix("/api/") }.count }

    private static func lookup(_ gateway: GatewayFixture, _ schedule: LookupSchedule = LookupSchedule()) -> NumberLookup
    {
        NumberLookup(
            client: gateway.client, device: gateway.device, publisher: gateway.publisher, schedule: schedule,
            time: gateway.time.clock, logger: gateway.logger,
            store: { [cache = gateway.cache] in try await cache.addProvisional($0) },
            unconfirmed: NumberLookup.Unconfirmed(
                numbers: { [cache = gateway.cache] in try await cache.provisional(limit: $0) },
                replace: { [cache = gateway.cache] in try await cache.replaceProvisional($0, by: $1) }),
            index: { [index = gateway.index] in try await index.rebuild() })
    }

    @Test func `a brand that is found is shown from then on, until a full sync does not list it`() async throws {
        let peer = try FaultyPeer { request, _ in
            request.path.hasSuffix("/lookup")
                ? .json(Self.found) : .json(#"{"success":true,"branding":[],"synced_at":"c"}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        let lookup = Self.lookup(gateway)
        lookup.ended(callFrom: try #require(E164Number("+61412345678")))
        #expect(!gateway.finds("+61412345678"))
        _ = await lookup.step()
        #expect(gateway.finds("+61412345678"))
        #expect(peer.requests.map(\.target) == ["/api/mobile/branding/lookup?e164=%2B61412345678&device_id=gateway-1"])
        #expect(lookup.counts.found == 1)
        await gateway.service().syncOnce()
        #expect(!gateway.finds("+61412345678"))
        await gateway.client.shutdown()
    }

    @Test(arguments: [
        FaultyPeer.Response.status(404), .status(200), .json(#"{"success":true,"e164":"+61412345678"}"#),
        .json(#"{"success":true,"e164":"+61400000000","brand_name":"Another"}"#),
    ])
    func `a number the directory does not know is asked once until its time is over`(
        response: FaultyPeer.Response
    ) async throws {
        let peer = try FaultyPeer { _, _ in response }
        let gateway = try await GatewayFixture(peer.url)
        let lookup = Self.lookup(gateway, LookupSchedule(negativeTTL: .seconds(600)))
        let number = try #require(E164Number("+61412345678"))
        lookup.ended(callFrom: number)
        lookup.ended(callFrom: number)
        _ = await lookup.step()
        lookup.ended(callFrom: number)
        _ = await lookup.step()
        #expect(Self.asked(peer) == 1)
        #expect(
            lookup.counts
                == {
                    var counts = NumberLookup.Counts(); counts.unknown = 1; counts.skipped = 2; return counts
                }())
        gateway.time.advance(by: .seconds(601))
        lookup.ended(callFrom: number)
        _ = await lookup.step()
        #expect(Self.asked(peer) == 2)
        await gateway.client.shutdown()
    }

    @Test func `requests keep their distance, and what waits is bounded`() async throws {
        let peer = try FaultyPeer { _, _ in .status(404) }
        let gateway = try await GatewayFixture(peer.url)
        var schedule = LookupSchedule(perMinute: 20)
        schedule.waiting = 3
        let lookup = Self.lookup(gateway, schedule)
        for last in 0..<9 { lookup.ended(callFrom: try #require(E164Number("+6141234567\(last)"))) }
        #expect(lookup.counts.skipped == 6)
        for _ in 0..<5 { _ = await lookup.step() }
        #expect(Self.asked(peer) == 3)
        #expect(gateway.time.asked == [.seconds(3), .seconds(3), .seconds(3)])
        await gateway.client.shutdown()
    }

    @Test func `a memory of unknown numbers that is full begins anew`() async throws {
        let peer = try FaultyPeer { _, _ in .status(404) }
        let gateway = try await GatewayFixture(peer.url)
        var schedule = LookupSchedule()
        schedule.remembered = 2
        let lookup = Self.lookup(gateway, schedule)
        for last in 0..<6 {
            lookup.ended(callFrom: try #require(E164Number("+6141234567\(last)")))
            _ = await lookup.step()
        }
        #expect(Self.asked(peer) == 6)
        lookup.ended(callFrom: try #require(E164Number("+61412345675")))
        #expect(lookup.counts.skipped == 1)
        await gateway.client.shutdown()
    }

    @Test func `a failed lookup is no result and closes no gate; after a 401 a sync decides`() async throws {
        let peer = try FaultyPeer { _, position in position == 0 ? .status(503) : .refusal(401) }
        let gateway = try await GatewayFixture(peer.url)
        let lookup = Self.lookup(gateway)
        let number = try #require(E164Number("+61412345678"))
        lookup.ended(callFrom: number)
        _ = await lookup.step()
        #expect(gateway.closed == nil)
        #expect(!gateway.publisher.wantsSync.takeRing())
        lookup.ended(callFrom: number)
        _ = await lookup.step()
        #expect(gateway.closed == nil)
        #expect(gateway.publisher.wantsSync.takeRing())
        #expect(lookup.counts.failed == 2)
        await gateway.service().syncOnce()
        #expect(gateway.closed == .gatedUnauthorised)
        let asked = peer.requests.count
        lookup.ended(callFrom: number)
        _ = await lookup.step()
        #expect(peer.requests.count == asked, "nobody is asked while the key is refused")
        await gateway.client.shutdown()
    }

    @Test func `a brand that no sync lists is looked up again after each sync, and ends with the directory's`()
        async throws
    {
        let isKnown = Mutex(true)
        let peer = try FaultyPeer { request, _ in
            guard request.path.hasSuffix("/lookup") else {
                return .json(#"{"success":true,"branding":[],"synced_at":"c"}"#)
            }
            return isKnown.withLock { $0 } ? .json(Self.found) : .status(404)
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        let lookup = Self.lookup(gateway)
        service.onSuccess { lookup.synced() }
        lookup.ended(callFrom: try #require(E164Number("+61412345678")))
        _ = await lookup.step()
        #expect(gateway.finds("+61412345678"))
        // The incremental sync does not list the number, and the directory still knows it.
        await service.syncOnce()
        #expect(!service.status.wasFull)
        _ = await lookup.step()
        #expect(Self.asked(peer) == 2 + 2)
        #expect(gateway.finds("+61412345678"))
        #expect(try await gateway.cache.provisional(limit: 10).count == 1, "it stays unconfirmed")
        // The directory has taken it out.
        isKnown.withLock { $0 = false }
        gateway.time.advance(by: .seconds(60))
        await service.syncOnce()
        _ = await lookup.step()
        _ = await lookup.step()
        #expect(!gateway.finds("+61412345678"))
        #expect(try await gateway.cache.provisional(limit: 10).isEmpty)
        // Nothing is left to look up.
        let asked = peer.requests.count
        await service.syncOnce()
        _ = await lookup.step()
        #expect(peer.requests.count == asked + 1)
        await gateway.client.shutdown()
    }

    @Test func `a lookup that fails after a sync keeps the brand until the next one`() async throws {
        let isAway = Mutex(false)
        let peer = try FaultyPeer { request, _ in
            guard request.path.hasSuffix("/lookup") else {
                return .json(#"{"success":true,"branding":[],"synced_at":"c"}"#)
            }
            return isAway.withLock { $0 } ? .status(503) : .json(Self.found)
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        let lookup = Self.lookup(gateway)
        service.onSuccess { lookup.synced() }
        lookup.ended(callFrom: try #require(E164Number("+61412345678")))
        _ = await lookup.step()
        isAway.withLock { $0 = true }
        await service.syncOnce()
        _ = await lookup.step()
        #expect(lookup.counts.failed == 1)
        #expect(gateway.finds("+61412345678"))
        isAway.withLock { $0 = false }
        await service.syncOnce()
        _ = await lookup.step()
        #expect(lookup.counts.found == 2)
        await gateway.client.shutdown()
    }

    @Test func `a sync that lists the number confirms it`() async throws {
        let peer = try FaultyPeer { request, position in
            guard !request.path.hasSuffix("/lookup") else { return .json(Self.found) }
            let items = position == 0 ? "" : #"{"phone_number_e164":"+61412345678","brand_name":"Acme"}"#
            return .json(#"{"success":true,"branding":[\#(items)],"synced_at":"c"}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        let lookup = Self.lookup(gateway)
        service.onSuccess { lookup.synced() }
        lookup.ended(callFrom: try #require(E164Number("+61412345678")))
        _ = await lookup.step()
        await service.syncOnce()
        #expect(try await gateway.cache.provisional(limit: 10).isEmpty)
        #expect(gateway.finds("+61412345678"))
        let asked = peer.requests.count
        _ = await lookup.step()
        #expect(peer.requests.count == asked)
        await gateway.client.shutdown()
    }
}
