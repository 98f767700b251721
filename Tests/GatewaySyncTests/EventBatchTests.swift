// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import Foundation
import GatewaySyncTesting
import TestFixtures
import Testing

@testable import GatewaySync

@Suite("Events in batches, mobile-api Batch Operations", .timeLimit(.minutes(8)))
struct EventBatchTests {
    private static func remote(batch: Int?, offered: Bool? = true) -> RemoteConfiguration {
        var remote = RemoteConfiguration()
        remote.features.eventBatch = offered
        remote.settings.maxBatchSize = batch
        return remote
    }

    private static func keys(_ request: FaultyPeer.Request) -> [String] {
        guard let batch = try? JSONDecoder().decode(BatchRequest.self, from: Data(request.body.utf8)) else { return [] }
        return batch.operations.compactMap(\.data.eventKey)
    }

    /// A directory that takes everything, in whichever way it comes.
    private static func taken(_ request: FaultyPeer.Request) -> FaultyPeer.Response {
        guard request.path.hasSuffix("/batch") else { return .json(#"{"success":true,"event_id":"single"}"#) }
        let results = keys(request).map { #"{"status":"success","status_code":200,"resource_id":"e-\#($0)"}"# }
        return .json(#"{"results":[\#(results.joined(separator: ","))]}"#)
    }

    private static func gateway(
        _ remote: RemoteConfiguration?, events: Int,
        _ response: @escaping @Sendable (FaultyPeer.Request) -> FaultyPeer.Response
    ) async throws -> (GatewayFixture, FaultyPeer) {
        let peer = try FaultyPeer { request, _ in response(request) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.client.state.record(remote)
        for number in 0..<events { gateway.outbox.add("displayed:\(number)") }
        return (gateway, peer)
    }

    @Test func `what the directory takes at once goes at once, in order and each with its key`() async throws {
        let (gateway, peer) = try await Self.gateway(Self.remote(batch: 4), events: 9, Self.taken)
        await gateway.sender().sendBatch()
        #expect(peer.requests.map { Self.keys($0).count } == [4, 4, 0])
        #expect(peer.requests.flatMap(Self.keys) == (0..<8).map { "displayed:\($0)" })
        #expect(peer.requests.last?.path == "/api/mobile/branding/event")
        #expect(
            gateway.outbox.fate("displayed:3") == .delivered(EventReceipt(eventID: "e-displayed:3", counted: nil)))
        #expect(gateway.outbox.fates.count == 9)
        await gateway.client.shutdown()
    }

    @Test func `a backlog goes in requests as large as the directory takes`() async throws {
        let (gateway, peer) = try await Self.gateway(Self.remote(batch: 500), events: 700, Self.taken)
        let sender = gateway.sender()
        await sender.sendBatch()
        await sender.sendBatch()
        #expect(peer.requests.map { Self.keys($0).count } == [500, 200])
        await gateway.client.shutdown()
    }

    @Test(arguments: [nil, remote(batch: 10, offered: false), remote(batch: 10, offered: nil), remote(batch: 1)])
    func `without the offer events go singly`(remote: RemoteConfiguration?) async throws {
        let (gateway, peer) = try await Self.gateway(remote, events: 3, Self.taken)
        await gateway.sender().sendBatch()
        #expect(peer.requests.map(\.path) == Array(repeating: "/api/mobile/branding/event", count: 3))
        await gateway.client.shutdown()
    }

    @Test func `gates are as the last event of a batch left them`() async throws {
        for turn in 0..<20 {
            let (gateway, _) = try await Self.gateway(Self.remote(batch: 50), events: 50) { request in
                let results = Self.keys(request).indices.map { place in
                    #"{"status":"success","status_code":200,"data":{"success":true,"#
                        + #""config":{"used_this_month":\#(place + 1),"cap_this_month":50}}}"#
                }
                return .json(#"{"results":[\#(results.joined(separator: ","))]}"#)
            }
            await gateway.sender().sendBatch()
            #expect(gateway.closed == .gatedCapReached, "turn \(turn)")
            await gateway.client.shutdown()
        }
    }

    @Test func `each operation has its own end`() async throws {
        let results = [
            #"{"status":"success","status_code":202,"data":{"success":true,"event_id":"e","counted":false,"reason":"cap_reached"}}"#,
            #"{"status":"error","status_code":400,"error":{"error":{"code":"BAD","message":"no number","retry_guidance":"mend it"}}}"#,
            #"{"status":"error","status_code":503,"error":{"error":"later"}}"#,
        ]
        let (gateway, peer) = try await Self.gateway(Self.remote(batch: 50), events: 3) { _ in
            .json(#"{"results":[\#(results.joined(separator: ","))]}"#)
        }
        let sender = gateway.sender()
        await sender.sendBatch()
        #expect(peer.requests.count == 1)
        #expect(
            gateway.outbox.fate("displayed:0")
                == .delivered(EventReceipt(eventID: "e", counted: false, reason: "cap_reached")))
        #expect(
            gateway.outbox.fate("displayed:1") == .refused(400, "BAD: no number; the directory advises: mend it"))
        guard case .postponed = gateway.outbox.fate("displayed:2") else { Issue.record("not postponed"); return }
        #expect(sender.counts.delivered == 1 && sender.counts.refused == 1 && sender.counts.postponed == 1)
        await gateway.client.shutdown()
    }

    @Test(arguments: [404, 405, 413, 422])
    func `events of a batch that is not taken go singly, and later ones fit`(status: Int) async throws {
        let (gateway, peer) = try await Self.gateway(Self.remote(batch: 4), events: 4) { request in
            request.path.hasSuffix("/batch") && Self.keys(request).count > 2
                ? (status == 422 ? .refusal(status) : .status(status)) : Self.taken(request)
        }
        let sender = gateway.sender()
        await sender.sendBatch()
        #expect(sender.counts.delivered == 4)
        for number in 10..<14 { gateway.outbox.add("displayed:\(number)") }
        let before = peer.requests.count
        await sender.sendBatch()
        #expect(sender.counts.delivered == 8)
        let sizes = peer.requests.dropFirst(before).map { Self.keys($0).count }
        switch status {
        case 413: #expect(sizes == [2, 2])
        case 422: #expect(sizes == [4, 0, 0, 0, 0])
        default: #expect(sizes == [0, 0, 0, 0])
        }
        await gateway.client.shutdown()
    }

    @Test(arguments: ["{}", #"{"results":[]}"#, #"{"results":[{"status":"success","status_code":200}]}"#, "x"])
    func `a response that does not fit the request settles nothing; then events go singly`(body: String) async throws {
        let (gateway, peer) = try await Self.gateway(Self.remote(batch: 4), events: 2) { request in
            .json(Self.keys(request).isEmpty ? #"{"success":true,"event_id":"e"}"# : body)
        }
        let sender = gateway.sender()
        #expect(await sender.sendBatch() > .zero)
        #expect(sender.counts.delivered == 0 && sender.counts.postponed == 2)
        gateway.time.advance(by: .seconds(60))
        await sender.sendBatch()
        #expect(sender.counts.delivered == 2)
        // An hour later a batch is tried again.
        gateway.time.advance(by: .seconds(3600))
        for number in 10..<12 { gateway.outbox.add("displayed:\(number)") }
        await sender.sendBatch()
        #expect(peer.requests.last.map { Self.keys($0).count } == 2)
        await gateway.client.shutdown()
    }

    @Test(arguments: [
        #""status":"created","status_code":201"#, #""status":"pending","status_code":102"#, #""status":"?""#,
    ])
    func `an operation with an end nobody knows is asked for by itself`(result: String) async throws {
        let (gateway, _) = try await Self.gateway(Self.remote(batch: 4), events: 2) { request in
            .json(
                Self.keys(request).isEmpty
                    ? #"{"success":true,"event_id":"e"}"# : #"{"results":[{"status":"success"},{\#(result)}]}"#)
        }
        let sender = gateway.sender()
        await sender.sendBatch()
        #expect(sender.counts.delivered == 2 && sender.counts.postponed == 0)
        await gateway.client.shutdown()
    }

    @Test func `a response in the published form is understood, mobile-api Batch Operations`() async throws {
        let (gateway, _) = try await Self.gateway(Self.remote(batch: 4), events: 2) { _ in
            .json(#"{"results":[{"status":"success","resource_id":"a"},{"status":"error","error":"not now"}]}"#)
        }
        let sender = gateway.sender()
        await sender.sendBatch()
        #expect(sender.counts.delivered == 1 && sender.counts.postponed == 1)
        await gateway.client.shutdown()
    }

    @Test func `a batch that a firewall refuses is not broken up`() async throws {
        let (gateway, peer) = try await Self.gateway(Self.remote(batch: 4), events: 4) { _ in
            .status(403, headers: ["Content-Type": "text/html"], body: "<h1>Blocked</h1>")
        }
        let sender = gateway.sender()
        await sender.sendBatch()
        #expect(peer.requests.count == 1)
        #expect(gateway.closed == nil)
        #expect(sender.counts.postponed == 4)
        await gateway.client.shutdown()
    }

    @Test(arguments: [
        (#""error":{"success":false,"error":"no"}"#, true), (#""error":null"#, false),
    ])
    func `403 of one operation has a sync decide only in the contract's words`(error: String, isDoubted: Bool)
        async throws
    {
        let results = #"{"status":"success","status_code":200},{"status":"error","status_code":403,\#(error)}"#
        let (gateway, _) = try await Self.gateway(Self.remote(batch: 4), events: 2) { _ in
            .json(#"{"results":[\#(results)]}"#)
        }
        await gateway.sender().sendBatch()
        #expect(gateway.closed == nil)
        #expect(gateway.publisher.wantsSync.takeRing() == isDoubted)
        guard case .postponed = gateway.outbox.fate("displayed:1") else { Issue.record("does not wait"); return }
        await gateway.client.shutdown()
    }

    @Test func `a batch whose key is refused has a sync decide and loses no event`() async throws {
        let (gateway, _) = try await Self.gateway(Self.remote(batch: 4), events: 3) { _ in .status(401) }
        await gateway.sender().sendBatch()
        #expect(gateway.closed == nil)
        #expect(gateway.publisher.wantsSync.takeRing())
        #expect(gateway.outbox.fates.allSatisfy { if case .postponed = $0 { true } else { false } })
        await gateway.client.shutdown()
    }

    @Test func `events wait while the directory's limit is used up, and no attempt is counted`() async throws {
        let (gateway, peer) = try await Self.gateway(nil, events: 5) { _ in
            .status(
                200, headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"],
                body: #"{"success":true,"event_id":"e"}"#)
        }
        let sender = gateway.sender(EventSchedule(concurrency: 1))
        await sender.sendBatch()
        #expect(peer.requests.count == 1)
        #expect(await sender.sendBatch() == .seconds(30))
        #expect(peer.requests.count == 1)
        #expect(sender.counts.postponed == 0 && gateway.outbox.attempts == 0)
        await gateway.client.shutdown()
    }
}
