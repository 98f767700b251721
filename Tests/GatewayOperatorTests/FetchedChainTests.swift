// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import GatewayTesting
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

/// The effect of a fetched chain on the stored one of its address, and on the store as a whole.
@Suite("Fetched chains and stored ones", .timeLimit(.minutes(8)))
struct FetchedChainTests {
    // MARK: Imports

    @Test func `a result that was fetched before an import does not replace the imported chain`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("delegate") }
        let address = gateway.address()
        try gateway.call(address)
        // Fetched, and not stored yet: the import ends in between.
        await gateway.service.round()
        await gateway.service.finishFetches()
        #expect(gateway.peer.requests.count == 1)
        let file = try gateway.signers.folder.write(
            gateway.lab.file(["spc"]).replacing(gateway.signers.address("spc"), with: address), to: "imported.pem")
        _ = try await TrustImport(
            gateway.signers.configuration(FetchFixture.trust), now: gateway.signers.time.now
        ).take([file])
        await gateway.publisher.look()
        await gateway.settle()
        await gateway.settle()
        #expect(try gateway.signers.stored().signers.map(\.certificates) == [gateway.lab.chain("spc")])
        #expect(try gateway.call(address).number == .passed(.a))
        #expect(gateway.peer.requests.count == 1)
    }

    // MARK: Refreshes

    @Test func `the same certificate without a validator is no change`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc", ["Cache-Control": "max-age=86400"]) }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        let before = try gateway.signers.stored()
        let snapshot = gateway.signers.current.load()
        gateway.signers.time.advance(by: .seconds(86_400 * 8 / 10))
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        let after = try gateway.signers.stored()
        #expect(after.generation == before.generation && after.signers == before.signers)
        #expect(gateway.signers.current.load() === snapshot, "the call path learns nothing new")
        let state = try #require(after.fetches[address])
        #expect(state.fetchedAt == gateway.signers.time.now && state.nextAt > gateway.signers.time.now + 60_000)
    }

    @Test func `an ended certificate is fetched for a call alone`() async throws {
        let gateway = try await FetchFixture { _, position in FetchFixture.chain(position < 2 ? "expired" : "spc") }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        for _ in 0..<3 {
            gateway.signers.time.advance(by: .seconds(86_400))
            await gateway.settle()
        }
        #expect(gateway.peer.requests.count == 1)
        #expect(try gateway.call(address).causes == [.certificateExpired])
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        // The decision of a day permits another one, and that finds its successor.
        try await gateway.signers.importSigners([], FetchFixture.trust)
        await gateway.publisher.look()
        try gateway.call(address)
        await gateway.settle()
        #expect(gateway.peer.requests.count == 3)
        #expect(try gateway.call(address).number == .passed(.a))
    }

    @Test func `invented addresses do not delay the refresh of a stored certificate`() async throws {
        let gateway = try await FetchFixture { request, _ in
            request.path == "/spc.pem" ? FetchFixture.chain("spc") : .silence
        }
        try gateway.call(gateway.address())
        await gateway.settle()
        gateway.signers.time.advance(by: .seconds(86_400))
        // The hosts of the flood send nothing, so its fetches run for the whole test.
        for number in 0..<200 {
            try gateway.call(
                gateway.address("\(number).pem", host: "host\(number).example"), trunk: UInt16(number / 20))
        }
        let service = Task { try await gateway.service.run() }
        let refreshed = ContinuousClock.now + .seconds(60)
        while gateway.peer.requests.count(where: { $0.path == "/spc.pem" }) < 2, ContinuousClock.now < refreshed {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(gateway.peer.requests.count { $0.path == "/spc.pem" } == 2)
        let figures = try #require(await gateway.service.fetchFigures)
        #expect(figures.waiting > 150)
        service.cancel()
        _ = await service.result
    }

    // MARK: Space

    @Test func `an address without space in the store is fetched once an hour`() async throws {
        let trust = "{regimes: [private], fetch: on, signers: 100}"
        let gateway = try await FetchFixture(trust: trust) { _, _ in FetchFixture.chain("spc") }
        let store = try SignerStore(folder: gateway.signers.state)
        let listed = (0..<100).map { "https://cert.example.net/\($0).pem" }
        _ = try await store.add(unknown: listed, at: gateway.signers.time.now, limit: 100)
        try store.close()
        await gateway.publisher.look()
        let generation = try gateway.signers.stored().generation
        for hour in 1...2 {
            for _ in 0..<10 {
                try gateway.call(gateway.address())
                await gateway.settle()
            }
            #expect(gateway.peer.requests.count == hour)
            gateway.signers.time.advance(by: .seconds(3600))
        }
        #expect(try gateway.signers.stored().generation == generation)
        #expect(try gateway.signers.stored().signers.isEmpty)
        #expect(gateway.signers.log.text.contains("see trust.signers"), "\(gateway.signers.log.text)")
    }
}
