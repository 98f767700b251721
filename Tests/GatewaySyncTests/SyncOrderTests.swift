// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewaySyncTesting
import ServiceLifecycle
import Synchronization
import TestFixtures
import Testing

@testable import GatewaySync

@Suite("A sync that an operator asks for", .timeLimit(.minutes(8)))
struct SyncOrderTests {
    private static func response(_ numbers: Int, at cursor: String = "c") -> FaultyPeer.Response {
        let items = (0..<numbers).map { #"{"phone_number_e164":"+6149157015\#($0)","brand_name":"Acme"}"# }
        return .json(#"{"branding":[\#(items.joined(separator: ","))],"synced_at":"\#(cursor)"}"#)
    }

    /// A service whose first sync has ended and whose next one is half an hour away.
    private static func settled(
        _ response: @escaping @Sendable (FaultyPeer.Request, Int) -> FaultyPeer.Response,
        _ body: (SyncService, FaultyPeer, GatewayFixture) async throws -> Void
    ) async throws {
        let syncs = Mutex(0)
        let peer = try FaultyPeer { request, _ in
            guard request.method == "GET" else { return .json("{}") }
            let position = syncs.withLock { count in
                defer { count += 1 }
                return count
            }
            return response(request, position)
        }
        let time = ManualTime()
        let gateway = try await GatewayFixture(peer.url, time: time)
        let service = gateway.service()
        let running = Task { try await service.run() }
        await until { service.status.nextAt != nil && time.sleeping.contains(.seconds(1800)) }
        try await body(service, peer, gateway)
        running.cancel()
        try await running.value
        await gateway.client.shutdown()
    }

    @Test func `it begins at once and reports what came`() async throws {
        try await Self.settled { _, position in
            position == 0 ? Self.response(2, at: "first") : Self.response(position == 1 ? 3 : 1, at: "c")
        } _: { service, peer, gateway in
            let incremental = try await service.syncOrdered(full: false)
            #expect(incremental == SyncReport(isFull: false, written: 1))
            #expect(peer.requests.last { $0.method == "GET" }?.target.contains("since=first") == true)
            #expect(gateway.finds("+61491570152"))
            let full = try await service.syncOrdered(full: true)
            #expect(full == SyncReport(isFull: true, removed: 2))
            #expect(gateway.time.now == ManualTime.start, "no time had to pass")
        }
    }

    @Test(arguments: [
        (FaultyPeer.Response.status(503), "the directory is not available"),
        (.status(403, body: "<h1>Blocked</h1>"), "a proxy or firewall sent it"), (.status(401), "check the key"),
        (.json("{}"), "branding is missing"),
    ])
    func `its failure is reported with the remedy`(response: FaultyPeer.Response, words: String) async throws {
        let isFailing = Flag()
        let peer = try FaultyPeer { _, _ in isFailing.isSet ? response : Self.response(1) }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        isFailing.set()
        let ordered = Task { try await service.syncOrdered(full: true) }
        await until { gateway.log.lines.contains { $0.contains("as an operator asked") } }
        await service.syncOnce()
        let report = try await ordered.value
        #expect(report.error?.contains(words) == true, "\(report)")
        #expect(report.isFull)
        #expect(report.written == 0)
        await gateway.client.shutdown()
    }

    @Test func `after a reload a refused key is tried at once`() async throws {
        try await Self.settled { _, position in
            position == 1 ? .status(401) : Self.response(1)
        } _: { service, _, gateway in
            let refused = try await service.syncOrdered(full: false)
            #expect(refused.error?.contains("check the key") == true)
            #expect(gateway.closed == .gatedUnauthorised)
            await service.retryRefusedKey()
            await until { gateway.closed == nil }
            #expect(gateway.time.now == ManualTime.start, "no time had to pass")
        }
    }

    @Test func `a second one is refused while a sync runs`() async throws {
        let (mayRespond, isAsked) = (Flag(), Flag())
        try await Self.settled { _, position in
            if position > 0 { isAsked.set() }
            while position > 0, !mayRespond.isSet { usleep(2_000) }
            return Self.response(1)
        } _: { service, _, _ in
            let first = Task { try await service.syncOrdered(full: false) }
            await until { isAsked.isSet }
            await #expect(throws: SyncRefusal.running) { try await service.syncOrdered(full: true) }
            mayRespond.set()
            let report = try await first.value
            #expect(report.error == nil)
            let next = try await service.syncOrdered(full: false)
            #expect(!next.isFull, "the refused one left nothing behind")
        }
    }

    @Test func `nobody waits for a service that has ended`() async throws {
        let orders = SyncOrders()
        let isPlaced = Flag()
        let report = Task { try await orders.place(full: false) { isPlaced.set() } }
        await until { isPlaced.isSet }
        await #expect(throws: SyncRefusal.running) { try await orders.place(full: false) {} }
        orders.close()
        await #expect(throws: SyncRefusal.stopping) { try await report.value }
        await #expect(throws: SyncRefusal.stopping) { try await orders.place(full: false) {} }
    }
}
