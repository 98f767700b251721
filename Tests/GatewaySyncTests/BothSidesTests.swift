// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import DirectoryFixtures
import DirectoryStore
import Foundation
import GatewaySyncTesting
import Synchronization
import TestFixtures
import Testing

@testable import GatewaySync

/// What only some directories offer, between this gateway and this directory over a real socket.
@Suite("Both sides of the whole contract", .timeLimit(.minutes(8)))
struct BothSidesTests {
    private let number = "+61412345678"

    /// A gateway that signs in for tokens and signs its requests.
    ///
    /// - Parameter way: the address of the directory; nil for its own.
    private func gateway(
        _ directory: RunningDirectory, signed: Bool = true, over way: String? = nil
    ) async throws -> GatewayFixture {
        let secret = signed ? try SigningSecrets(directory.database).create(forKey: directory.key) : nil
        let tokens = TemporaryFolder()
        let device = DeviceIdentity(id: "gateway-1", platform: "linux", systemVersion: "Debian 12", version: "1.2.3")
        return try await GatewayFixture(way ?? directory.url, key: directory.key) { settings in
            settings.signing = secret.map { RequestSigning(id: $0.id, secret: $0.secret) }
            settings.bearer = BearerSettings(device: device, tokenFile: tokens.path + "/tokens")
        }
    }

    private func remote(_ gateway: GatewayFixture) -> RemoteConfigurationService {
        RemoteConfigurationService(
            client: gateway.client, device: gateway.device, time: gateway.time.clock, logger: gateway.logger)
    }

    @Test(arguments: [true, false])
    func `a gateway registers, signs in, syncs and reports in batches`(signed: Bool) async throws {
        let directory = try await RunningDirectory()
        try directory.put([number])
        let gateway = try await gateway(directory, signed: signed)
        await remote(gateway).fetch()
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.result == .succeeded, "\(service.status.lastError ?? "")")
        #expect(gateway.finds(number))
        #expect(gateway.client.state.eventsInBatch > 1)
        gateway.outbox.add("displayed:1", "displayed:2", "displayed:3")
        await gateway.sender().sendBatch()
        #expect(Set(try directory.events().map(\.eventKey)) == ["displayed:1", "displayed:2", "displayed:3"])
        let areCounted = gateway.outbox.fates.map { fate in
            if case .delivered(let receipt) = fate { receipt.counted == true } else { false }
        }
        #expect(areCounted == [true, true, true])
        await gateway.client.shutdown()
        try await directory.stop()
    }

    @Test func `a request that is not signed as its key asks is refused, and branding stops`() async throws {
        let directory = try await RunningDirectory()
        _ = try SigningSecrets(directory.database).create(forKey: directory.key)
        let gateway = try await GatewayFixture(directory.url, key: directory.key) { settings in
            settings.signing = RequestSigning(id: "nobody", secret: "guessed")
        }
        await gateway.service().syncOnce()
        #expect(gateway.closed == .gatedUnauthorised)
        await gateway.client.shutdown()
        try await directory.stop()
    }

    @Test func `an access token that expires is refreshed without anybody noticing`() async throws {
        let directory = try await RunningDirectory()
        try directory.put([number])
        let gateway = try await gateway(directory, signed: false)
        let service = gateway.service()
        await service.syncOnce()
        directory.time.advance(by: .seconds(3600))
        gateway.time.advance(by: .seconds(3600))
        await service.syncOnce()
        #expect(service.status.result == .succeeded, "\(service.status.lastError ?? "")")
        #expect(service.status.successes == 2)
        await gateway.client.shutdown()
        try await directory.stop()
    }

    /// Passes requests on to a directory, loses the responses to refreshes, or is broken.
    private final class Way: Sendable {
        let losesRefreshes = Mutex(false)
        let isBroken = Mutex(false)
        let port: Int

        init(to directory: RunningDirectory) { port = directory.port }

        func response(_ request: FaultyPeer.Request) -> FaultyPeer.Response {
            guard !isBroken.withLock({ $0 }) else { return .raw("") }
            let headers = request.headers.filter { !["host", "content-length", "accept-encoding"].contains($0.key) }
            let passed = RawRequest(
                method: request.method, path: request.target, headers: headers.map { ($0.key, $0.value) },
                body: Array(request.body.utf8))
            guard let response = try? LoopbackClient.askHere(passed, port: port) else { return .raw("") }
            if request.path.hasSuffix("/refresh"), losesRefreshes.withLock({ $0 }) { return .raw("") }
            return .status(
                response.status, headers: response.headers.filter { ["etag", "content-type"].contains($0.key) },
                body: response.text)
        }
    }

    @Test(arguments: [75, 86_400])
    func `a lost token response and an outage cost no brands`(outage: Int64) async throws {
        let directory = try await RunningDirectory()
        try directory.put([number])
        let way = Way(to: directory)
        let peer = try FaultyPeer { request, _ in way.response(request) }
        let gateway = try await gateway(directory, signed: false, over: peer.url)
        let service = gateway.service()
        func pass(_ seconds: Int64) {
            directory.time.advance(by: .seconds(seconds))
            gateway.time.advance(by: .seconds(seconds))
        }
        await service.syncOnce()
        #expect(service.status.result == .succeeded, "\(service.status.lastError ?? "")")
        // The directory replaces the refresh token, and its response is lost.
        pass(901)
        way.losesRefreshes.withLock { $0 = true }
        await service.syncOnce()
        #expect(service.status.result == .failed)
        #expect(peer.requests.contains { $0.path.hasSuffix("/refresh") })
        way.isBroken.withLock { $0 = true }
        pass(outage)
        await service.syncOnce()
        #expect(service.status.result == .failed)
        #expect(gateway.closed == nil && gateway.finds(number), "the brands stay in use")
        way.isBroken.withLock { $0 = false }
        way.losesRefreshes.withLock { $0 = false }
        await service.syncOnce()
        #expect(service.status.result == .succeeded, "\(service.status.lastError ?? "")")
        #expect(gateway.closed == nil && gateway.finds(number))
        #expect(!gateway.log.lines.contains { $0.contains("branding stopped") })
        gateway.outbox.add("displayed:1")
        await gateway.sender().sendBatch()
        #expect(try directory.events().map(\.eventKey) == ["displayed:1"])
        await gateway.client.shutdown()
        try await directory.stop()
    }

    @Test func `a key that is revoked stops branding, with tokens as without`() async throws {
        let directory = try await RunningDirectory()
        try directory.put([number])
        let gateway = try await gateway(directory, signed: false)
        let service = gateway.service()
        await service.syncOnce()
        _ = try AccountStore(directory.database).revokeKey(name: "test", now: 0)
        await service.syncOnce()
        #expect(gateway.closed == .gatedUnauthorised)
        #expect(service.status.result == .unauthorised)
        await service.syncOnce()
        #expect(gateway.closed == .gatedUnauthorised)
        await gateway.client.shutdown()
        try await directory.stop()
    }

    @Test func `logs that are asked for arrive once, in chunks when they are long`() async throws {
        let directory = try await RunningDirectory()
        let gateway = try await gateway(directory)
        try DebugRequests(directory.database).request(device: "gateway-1", expires: ManualTime.start + 600)
        await remote(gateway).fetch()
        let service = gateway.service()
        await service.syncOnce()
        let line = String(repeating: "all is well ", count: 50_000)
        let uploader = DebugUploader(
            client: gateway.client, device: gateway.device, current: gateway.current, stateFolder: gateway.folder.path,
            content: .init(logs: { [line] }, state: { Data(#"{"version":"1.2.3"}"#.utf8) }), time: gateway.time.clock,
            logger: gateway.logger)
        await uploader.check()
        let uploads = try DebugUploads(directory.database).latest(limit: 10)
        #expect(uploads.map(\.device) == ["gateway-1"])
        #expect(uploads.first?.logsUploadID != nil, "\(gateway.log.lines)")
        #expect(uploads.first?.state == .object(["version": .string("1.2.3")]))
        await service.syncOnce()
        await uploader.check()
        #expect(try DebugUploads(directory.database).latest(limit: 10).count == 1)
        #expect(gateway.client.state.config.debugUI?.requestUpload == false)
        await gateway.client.shutdown()
        try await directory.stop()
    }

    @Test func `a second full sync of the same set gets 304 and is no delivery`() async throws {
        let directory = try await RunningDirectory()
        try directory.put([number])
        let gateway = try await gateway(directory)
        let service = gateway.service()
        await service.syncOnce()
        service.syncNow(full: true)
        await service.syncOnce()
        #expect(service.status.result == .succeeded)
        #expect(service.status.successes == 2)
        let day = try #require(
            try SyncDeliveries(directory.database).days(from: "2000-01-01", through: "2100-01-01").first)
        #expect(day.unchanged == 1)
        #expect(gateway.finds(number))
        await gateway.client.shutdown()
        try await directory.stop()
    }

    @Test func `a number that came after the sync is found by a lookup`() async throws {
        let directory = try await RunningDirectory()
        let gateway = try await gateway(directory)
        try directory.put([number])
        let found = try await gateway.client.lookup(try #require(E164Number(number)), deviceID: "gateway-1")
        #expect(found?.brandName == "Acme \(number)")
        let unknown = try await gateway.client.lookup(try #require(E164Number("+61412000099")), deviceID: "gateway-1")
        #expect(unknown?.brandName == nil)
        await gateway.client.shutdown()
        try await directory.stop()
    }
}
