// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import DirectoryFixtures
import DirectoryStore
import Foundation
import GatewayStore
import GatewaySyncTesting
import Synchronization
import TestFixtures
import Testing

@testable import GatewaySync

/// The gateway's sync side and the directory of this package, over a real socket.
@Suite("Against the real directory", .timeLimit(.minutes(8)))
struct DirectoryServerTests {
    private let numbers = ["+61412000001", "+61412000002", "+61412000003"]

    @Test(arguments: ["", "/api", "/api/"])
    func `the first sync brings every brand, whatever the base ends in`(base: String) async throws {
        let directory = try await RunningDirectory()
        try directory.put(numbers)
        let gateway = try await GatewayFixture(directory.url + base, key: directory.key)
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.result == .succeeded, "\(service.status.lastError ?? "")")
        #expect(service.status.records == 3)
        #expect(try await gateway.stored(numbers) == numbers)
        #expect(numbers.allSatisfy(gateway.finds))
        #expect(gateway.closed == nil)
        try await directory.stop()
    }

    @Test func `an incremental sync brings what changed and purges what was deactivated`() async throws {
        let directory = try await RunningDirectory()
        try directory.put(numbers)
        let gateway = try await GatewayFixture(directory.url, key: directory.key)
        let service = gateway.service()
        // The remote configuration says that the directory can name what is no longer branded.
        await RemoteConfigurationService(
            client: gateway.client, device: gateway.device, time: gateway.time.clock, logger: gateway.logger
        ).fetch()
        await service.syncOnce()
        await service.syncOnce()
        #expect(service.status.written == 0)
        #expect(service.status.generation == 1)
        try directory.put(["+61412000004"])
        try directory.deactivate("+61412000002")
        await service.syncOnce()
        #expect(!service.status.wasFull)
        #expect(service.status.written == 1)
        #expect(service.status.removed == 1)
        #expect(!gateway.finds("+61412000002"))
        #expect(gateway.finds("+61412000004"))
        try await directory.stop()
    }

    @Test func `what was deactivated while the gateway was down goes with the first sync after the start`() async throws
    {
        let directory = try await RunningDirectory()
        try directory.put(numbers)
        let gateway = try await GatewayFixture(directory.url, key: directory.key)
        await RemoteConfigurationService(
            client: gateway.client, device: gateway.device, time: gateway.time.clock, logger: gateway.logger
        ).fetch()
        await gateway.service().syncOnce()
        try directory.put(["+61412000004"])
        try directory.deactivate("+61412000002")
        // After a start the remote configuration is fetched beside the first sync, and comes too late for it.
        gateway.client.state.record(RemoteConfiguration?.none)
        let restarted = gateway.service()
        await restarted.syncOnce()
        #expect(!restarted.status.wasFull)
        #expect(!gateway.finds("+61412000002"))
        #expect(gateway.finds("+61412000004"))
        try await directory.stop()
    }

    @Test func `a full sync removes what the directory no longer has`() async throws {
        let directory = try await RunningDirectory()
        try directory.put(["+61412000001"])
        let gateway = try await GatewayFixture(
            directory.url, key: directory.key, records: [record("+61412000009"), record("+61412000001")])
        let service = gateway.service()
        service.syncNow(full: true)
        await service.syncOnce()
        #expect(service.status.wasFull)
        #expect(try await gateway.stored(["+61412000001", "+61412000009"]) == ["+61412000001"])
        try await directory.stop()
    }

    @Test func `an event that arrives twice is recorded once, with the same response`() async throws {
        let directory = try await RunningDirectory()
        try directory.put(["+61412345678"])
        let gateway = try await GatewayFixture(directory.url, key: directory.key)
        gateway.outbox.add("displayed:1", "displayed:2")
        let sender = gateway.sender()
        // The responses of the first round are lost before they are written down.
        gateway.outbox.isBroken.withLock { $0 = true }
        await sender.sendBatch()
        let before = try directory.events()
        gateway.outbox.isBroken.withLock { $0 = false }
        await sender.sendBatch()
        let after = try directory.events()
        #expect(before == after)
        #expect(Set(after.map(\.eventKey)) == ["displayed:1", "displayed:2"])
        for event in after {
            let key = try #require(event.eventKey)
            #expect(
                gateway.outbox.fate(key)
                    == .delivered(EventReceipt(eventID: event.eventID, counted: true, reason: nil)))
            #expect(event.deviceID == "gateway-1")
            #expect(event.meta?["ring_duration_seconds"] == .int(12))
            #expect(event.meta?["platform"] == .string("linux"))
        }
        try await directory.stop()
    }

    @Test func `an event that does not count is delivered with its reason`() async throws {
        let directory = try await RunningDirectory()
        let gateway = try await GatewayFixture(directory.url, key: directory.key)
        gateway.outbox.add("displayed:1")
        await gateway.sender().sendBatch()
        guard case .delivered(let receipt) = gateway.outbox.fate("displayed:1") else {
            Issue.record("not delivered")
            return
        }
        #expect(receipt.counted == false)
        #expect(receipt.reason == "no_match")
        try await directory.stop()
    }

    @Test func `a key that is revoked stops branding, and nothing else`() async throws {
        let directory = try await RunningDirectory()
        try directory.put(numbers)
        let gateway = try await GatewayFixture(directory.url, key: directory.key)
        let service = gateway.service()
        await service.syncOnce()
        #expect(try directory.accounts.revokeKey(name: "test", now: ManualTime.start))
        await service.syncOnce()
        #expect(service.status.result == .unauthorised)
        #expect(gateway.closed == .gatedUnauthorised)
        #expect(try await gateway.stored(numbers) == numbers)
        #expect(try !#require(service.status.lastError).contains(directory.key))
        try await directory.stop()
    }

    @Test func `an unknown key is refused before anything is stored`() async throws {
        let directory = try await RunningDirectory()
        try directory.put(numbers)
        let gateway = try await GatewayFixture(directory.url, key: "nobody")
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.result == .unauthorised)
        #expect(try await gateway.cache.syncState().cursor == nil)
        try await directory.stop()
    }

    @Test func `the account's gates reach calls by sync and by event response`() async throws {
        let directory = try await RunningDirectory()
        try directory.put(["+61412345678"])
        let gateway = try await GatewayFixture(directory.url, key: directory.key)
        let service = gateway.service()
        await service.syncOnce()
        var change = AccountStore.Change()
        change.status = "suspended"
        try directory.accounts.change(change)
        gateway.outbox.add("displayed:1")
        await gateway.sender().sendBatch()
        #expect(gateway.closed == .gatedAccountStatus)
        change.status = "active"
        change.cap = 0
        try directory.accounts.change(change)
        await service.syncOnce()
        #expect(gateway.closed == .gatedCapReached)
        change.cap = -1
        try directory.accounts.change(change)
        await service.syncOnce()
        #expect(gateway.closed == nil)
        try await directory.stop()
    }

    @Test func `the device is registered, updated and present without a complaint`() async throws {
        let directory = try await RunningDirectory()
        let gateway = try await GatewayFixture(directory.url, key: directory.key, time: ManualTime())
        var schedule = SyncSchedule()
        schedule.acknowledges = true
        let service = gateway.service(schedule)
        let running = Task { try await service.run() }
        // The second sleeper is the wait for the next heartbeat, after the report that follows the first sync.
        await until { service.status.successes == 1 && gateway.time.sleeping.count == 2 }
        #expect(FileManager.default.fileExists(atPath: gateway.folder.path + "/device-registered"))
        #expect(gateway.log.lines.filter { $0.hasPrefix("notice") || $0.hasPrefix("warning") } == [])
        running.cancel()
        try await running.value
        try await directory.stop()
    }

    @Test func `a gateway keeps its brands while the directory is away, and goes on when it is back`() async throws {
        // Not one of those the system gives to whoever asks: nobody else has it while the directory is away.
        let first = try await RunningDirectory(port: Int.random(in: 20_000..<30_000))
        try first.put(numbers)
        let gateway = try await GatewayFixture(first.url, key: first.key)
        let service = gateway.service()
        await service.syncOnce()
        try await first.stop()
        await service.syncOnce()
        #expect(service.status.result == .failed)
        #expect(numbers.allSatisfy(gateway.finds))
        let second = try await RunningDirectory(folder: first.folder, port: first.port, key: first.key)
        try second.put(["+61412000004"])
        await service.syncOnce()
        #expect(service.status.result == .succeeded, "\(service.status.lastError ?? "")")
        #expect(!service.status.wasFull)
        #expect(gateway.finds("+61412000004"))
        try await second.stop()
    }
}

extension RunningDirectory {
    func put(_ numbers: [String]) throws {
        let entries = try numbers.map { text in
            BrandEntries.Entry(number: try #require(E164Number(text)), name: "Acme \(text)", brandID: "acme")
        }
        _ = try BrandEntries(database).put(entries, now: ManualTime.start)
    }

    func deactivate(_ text: String) throws {
        let number = try #require(E164Number(text))
        _ = try BrandEntries(database).deactivate(number, now: ManualTime.start + 1)
    }

    var accounts: AccountStore { AccountStore(database) }

    func events() throws -> [EventLedger.Recorded] { try EventLedger(database).page(.init(), limit: 100).events }
}
