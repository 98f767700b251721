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

@Suite("Remote configuration, mobile-api Mobile Configuration", .timeLimit(.minutes(8)))
struct RemoteConfigurationTests {
    private static func service(_ gateway: GatewayFixture) -> RemoteConfigurationService {
        RemoteConfigurationService(
            client: gateway.client, device: gateway.device, time: gateway.time.clock, logger: gateway.logger)
    }

    @Test func `it is asked for with platform and version, and what it says is used`() async throws {
        let peer = try FaultyPeer { _, _ in
            .json(
                #"{"min_supported_version":"1.0.0","features":{"event_batch":true},"#
                    + #""settings":{"sync_interval_minutes":15,"cache_ttl_hours":24,"max_batch_size":7}}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        #expect(await Self.service(gateway).fetch())
        #expect(peer.requests.map(\.target) == ["/api/mobile/config?platform=linux&app_version=1.2.3"])
        #expect(gateway.client.state.eventsInBatch == 7)
        #expect(gateway.client.state.cacheLifetime == .seconds(86_400))
        var schedule = SyncSchedule()
        #expect(gateway.client.interval(schedule) == .seconds(1800), "the operator's interval stays")
        schedule.intervalIsOpen = true
        #expect(gateway.client.interval(schedule) == .seconds(900))
        await gateway.client.shutdown()
    }

    @Test(arguments: [
        (#"{"min_supported_version":"1.2.3"}"#, false), (#"{"min_supported_version":"1.2.4"}"#, true),
        (#"{"min_supported_version":"1.10"}"#, true), (#"{"min_supported_version":"nonsense"}"#, false),
        (#"{"latest_version":"9.0.0"}"#, false), (#"{"latest_version":"9.0.0","force_update":true}"#, true),
        (#"{"latest_version":"1.2.3","force_update":true}"#, false), (#"{"force_update":true}"#, true), ("{}", false),
    ])
    func `a version that is too old is said once and stops nothing`(body: String, isDue: Bool) async throws {
        let peer = try FaultyPeer { _, _ in .json(body) }
        let gateway = try await GatewayFixture(peer.url)
        let service = Self.service(gateway)
        await service.fetch()
        await service.fetch()
        #expect(service.standing.isUpdateDue == isDue)
        #expect(gateway.log.lines.filter { $0.contains("newer herald") }.count == (isDue ? 1 : 0))
        #expect(gateway.closed == nil)
        await gateway.client.shutdown()
    }

    /// The seed's response names the platform; versions of another one are not Herald's.
    @Test(arguments: [
        ("linux", #""platform":"linux","#, true), ("linux", #""platform":"Linux","#, true), ("linux", "", true),
        ("linux", #""platform":"ios","#, false), ("linux", #""platform":"android","#, false),
        ("sip", #""platform":"sip","#, true), ("sip", #""platform":"linux","#, false),
        // Registered as a phone, where the directory takes nothing else.
        ("ios", #""platform":"ios","#, false), ("android", "", false),
    ])
    func `versions of another platform are not compared with Herald's`(
        own: String, member: String, isDue: Bool
    ) async throws {
        let peer = try FaultyPeer { _, _ in
            .json(
                #"{\#(member)"min_supported_version":"8.0.0","latest_version":"9.1.0","force_update":true,"#
                    + #""settings":{"sync_interval_minutes":15}}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        let device = DeviceIdentity(id: "g", platform: own, systemVersion: "Debian 12", version: "1.2.3")
        let service = RemoteConfigurationService(
            client: gateway.client, device: device, time: gateway.time.clock, logger: gateway.logger)
        await service.fetch()
        #expect(service.standing.isUpdateDue == isDue)
        #expect(service.standing.minimumVersion == (isDue ? "8.0.0" : nil))
        #expect(gateway.log.lines.contains { $0.contains("newer herald") } == isDue)
        #expect(gateway.client.state.syncInterval == .seconds(900), "settings are for every client")
        await gateway.client.shutdown()
    }

    @Test(arguments: [
        (FaultyPeer.Response.status(404), true), (.status(405), true), (.refusal(400), true), (.status(503), false),
        (.status(403), false), (.status(400), false),
    ])
    func `a directory without one is left in peace, one that is away is asked again`(
        response: FaultyPeer.Response, isSettled: Bool
    ) async throws {
        let peer = try FaultyPeer { _, _ in response }
        let gateway = try await GatewayFixture(peer.url)
        #expect(await Self.service(gateway).fetch() == isSettled)
        #expect(gateway.client.state.remote == nil)
        await gateway.client.shutdown()
    }

    @Test(arguments: [("1.2", "1.2.0"), ("1.2.3-beta", "1.2.3"), ("0", "0.0.0")])
    func `versions that say the same are the same`(left: String, right: String) throws {
        #expect(try #require(VersionNumber(left)) == #require(VersionNumber(right)))
    }

    @Test(arguments: ["", "1.", "a", "1.-2", "1.2.3.4.5", "99999999999999999999"])
    func `what is no version is none`(text: String) { #expect(VersionNumber(text) == nil) }

    @Test(arguments: [(401, 0), (503, 0), (301, 1)])
    func `a directory that is away or refuses the key is reported by the sync`(status: Int, lines: Int) async throws {
        let peer = try FaultyPeer { _, _ in .status(status) }
        let gateway = try await GatewayFixture(peer.url)
        #expect(await !Self.service(gateway).fetch())
        #expect(gateway.log.lines.filter { $0.contains("no remote configuration") }.count == lines)
        await gateway.client.shutdown()
    }
}

@Suite("How long records are shown without a sync", .timeLimit(.minutes(8)))
struct CacheLifetimeTests {
    /// The operator's lifetime, the directory's in hours, the age in hours, and whether that is stale.
    @Test(arguments: [
        (Duration?.none, Int?.none, 100_000, false), (nil, 24, 23, false), (nil, 24, 25, true),
        (.seconds(7200), 24, 3, true), (.seconds(7200), nil, 1, false), (.zero, 24, 100, false),
    ])
    func `the operator's word counts before the directory's`(
        own: Duration?, hours: Int?, age: Int, isStale: Bool
    ) async throws {
        let peer = try FaultyPeer { _, _ in .status(404) }
        let gateway = try await GatewayFixture(peer.url, records: [try record("+61412345678")])
        var remote = RemoteConfiguration()
        remote.settings.cacheTTLHours = hours
        gateway.client.state.record(remote)
        let last = Mutex(ManualTime.start - Int64(age) * 3600)
        let lifetime = CacheLifetime(
            publisher: gateway.publisher, state: gateway.client.state, own: own, time: gateway.time.clock,
            lastSuccess: { last.withLock { $0 } })
        await lifetime.check()
        #expect((gateway.closed == .stale) == isStale)
        #expect(gateway.finds("+61412345678"), "the records stay")
        last.withLock { $0 = ManualTime.start }
        await lifetime.check()
        #expect(gateway.closed == nil, "a success shows them again")
        await gateway.client.shutdown()
    }

    @Test func `before the first sync nothing is stale`() async throws {
        let peer = try FaultyPeer { _, _ in .status(404) }
        let gateway = try await GatewayFixture(peer.url)
        let lifetime = CacheLifetime(
            publisher: gateway.publisher, state: gateway.client.state, own: .seconds(1), time: gateway.time.clock,
            lastSuccess: { nil })
        await lifetime.check()
        #expect(gateway.closed == nil)
        await gateway.client.shutdown()
    }

    @Test func `a gate has the time of its closing, and staleness is not stored`() async throws {
        let peer = try FaultyPeer { _, _ in .status(404) }
        let gateway = try await GatewayFixture(peer.url)
        #expect(await gateway.publisher.changedAt.isEmpty)
        gateway.time.advance(by: .seconds(5))
        await gateway.publisher.change { gates in
            var gates = gates
            gates.isStale = true
            gates.accountStatus = "suspended"
            return gates
        }
        #expect(
            await gateway.publisher.changedAt
                == ["fresh": ManualTime.start + 5, "account_status": ManualTime.start + 5])
        let stored = try await gateway.cache.syncState().gates
        #expect(!stored.isStale && stored.accountStatus == "suspended")
        await gateway.client.shutdown()
    }
}
