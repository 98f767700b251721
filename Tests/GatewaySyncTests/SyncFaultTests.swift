// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import TestFixtures
import Testing

/// One way a directory can misbehave, and what must come of it.
struct Fault: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var response: FaultyPeer.Response
    /// How the sync ends; anything but success leaves records and cursor alone.
    var result = SyncStatus.Result.failed
    var closed: PassThroughReason?
    /// Requests made before giving up.
    var requests = 1
    /// The result of an event with this response.
    var event = EventFate.postponed

    enum EventFate: Sendable { case postponed, refused, delivered }

    init(
        _ description: String, _ response: FaultyPeer.Response, result: SyncStatus.Result = .failed,
        closed: PassThroughReason? = nil, requests: Int = 1, event: EventFate = .postponed
    ) {
        testDescription = description
        self.response = response
        self.result = result
        self.closed = closed
        self.requests = requests
        self.event = event
    }

    /// Only a peer that says nothing is worth a short patience; all others get the time a busy machine needs.
    func patience(_ settings: inout DirectorySettings) {
        switch response {
        case .silence, .stall:
            settings.requestTimeout = .seconds(2)
            settings.resourceTimeout = .seconds(2)
            settings.syncTimeout = .seconds(2)
        case .status, .raw, .bytes, .endless: break
        }
    }

    private static let item =
        #"{"phone_number_e164":"+61412000009","brand_name":"Other","brand_id":"o","updated_at":"2026-02-01T00:00:00Z"}"#
    private static let body = #"{"success":true,"synced_at":"cursor-1","branding":["# + item + "]}"

    private static func head(length: Int) -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(length)\r\nConnection: close\r\n\r\n"
    }

    static let rows = [
        Fault("nothing at all within the time", .silence, requests: 3),
        Fault("the connection closed without a byte", .raw(""), requests: 6),
        Fault("half a head", .raw("HTTP/1.1 200 OK\r\nContent-Le"), requests: 6),
        Fault("no HTTP", .raw("SIP/2.0 200 OK\r\n\r\n"), requests: 6),
        Fault("the connection cut in the body", .raw(head(length: body.utf8.count) + body.prefix(60)), requests: 3),
        Fault("a body that stops coming", .stall(head(length: body.utf8.count) + body.prefix(60)), requests: 3),
        Fault("a Content-Length that is too large", .raw(head(length: 5000) + body), requests: 3),
        Fault("a Content-Length that is too small", .raw(head(length: 60) + body)),
        Fault("half a body without Content-Length", .raw("HTTP/1.1 200 OK\r\n\r\n" + body.prefix(60))),
        Fault(
            "a chunked body cut short", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"),
            requests: 3),
        Fault("no body", .json("")),
        Fault("broken JSON", .json(#"{"success":true,"synced_at":"x","branding":[}"#)),
        Fault("JSON that is no object", .json("[]")),
        Fault("success false", .json(#"{"success":false,"synced_at":"x","branding":[]}"#)),
        Fault("HTML of a captive portal", .status(200, headers: ["Content-Type": "text/html"], body: "<html>Log in")),
        Fault("a redirect", .status(302, headers: ["Location": "http://127.0.0.1:9/"])),
        Fault("500", .status(500), requests: 3),
        Fault("503 in an envelope", .status(503, body: #"{"success":false,"error":"tired"}"#), requests: 3),
        Fault("501", .status(501)),
        Fault("429", .status(429), requests: 3),
        Fault("408", .status(408), requests: 3),
        Fault("400 of a directory", .refusal(400), event: .refused),
        Fault("413 of a directory", .refusal(413), event: .refused),
        Fault("422 of a directory", .refusal(422), event: .refused),
        // Without the contract's error body a proxy or firewall has refused, or the directory has moved.
        Fault("400 without a body", .status(400)),
        Fault("413 of a proxy", .status(413, headers: ["Content-Type": "text/html"], body: "<h1>413</h1>")),
        Fault("403 without a body", .status(403)),
        Fault("403 of a firewall", .status(403, headers: ["Content-Type": "text/html"], body: "<h1>Blocked</h1>")),
        Fault("403 of an API gateway", .status(403, body: #"{"message":"Forbidden"}"#)),
        Fault("403 of a framework", .status(403, body: #"{"status":403,"error":"Forbidden","path":"/api/mobile"}"#)),
        Fault("407", .status(407)),
        Fault("451", .status(451, body: "unavailable here")),
        Fault("404 on both mounts", .status(404), requests: 2),
        Fault("405 without a word", .status(405), requests: 2),
        Fault(
            "404 of a directory", .status(404, body: #"{"success":false,"error":"no such brand"}"#), requests: 2,
            event: .refused),
        Fault("401", .status(401), result: .unauthorised, closed: .gatedUnauthorised),
        Fault("403 of a directory", .refusal(403), result: .unauthorised, closed: .gatedUnauthorised),
    ]
}

@Suite("A directory that misbehaves", .serialized, .timeLimit(.minutes(8)))
struct SyncFaultTests {
    private let number = "+61412000001"

    @Test(arguments: Fault.rows)
    func `the last records stay, only a refused key closes the gate`(fault: Fault) async throws {
        let peer = try FaultyPeer { _, _ in fault.response }
        let gateway = try await GatewayFixture(
            peer.url, records: [record(number)],
            configure: fault.patience)
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.result == fault.result)
        #expect(service.status.lastError != nil)
        #expect(service.status.lastSuccess == ManualTime.start - 60)
        #expect(service.status.cursor == "cursor-0")
        #expect(gateway.closed == fault.closed)
        await until { peer.requests.count >= fault.requests }
        #expect(peer.requests.count == fault.requests)
        #expect(gateway.finds(number))
        #expect(try await gateway.stored([number, "+61412000009"]) == [number])
        let state = try await gateway.cache.syncState()
        #expect(state.cursor == "cursor-0")
        #expect(state.gates.closed == fault.closed)
        #expect(state.generation == 1)
        await gateway.client.shutdown()
    }

    @Test(arguments: Fault.rows)
    func `an event is repeated, refused or held back`(fault: Fault) async throws {
        let peer = try FaultyPeer { _, _ in fault.response }
        let gateway = try await GatewayFixture(
            peer.url, records: [record(number)], configure: fault.patience)
        gateway.outbox.add("displayed:1")
        let sender = gateway.sender()
        let wait = await sender.sendBatch()
        switch fault.event {
        case .postponed:
            #expect(gateway.outbox.fate("displayed:1") == .postponed(until: ManualTime.start + 1))
            #expect(wait >= .seconds(1))
            #expect(gateway.outbox.attempts == 1)
        case .refused:
            guard case .refused = gateway.outbox.fate("displayed:1") else { Issue.record("not refused"); break }
        case .delivered:
            guard case .delivered = gateway.outbox.fate("displayed:1") else { Issue.record("not delivered"); break }
        }
        // A refused event stops events. A sync decides about the gate.
        let closed = fault.closed == .gatedUnauthorised ? nil : fault.closed
        #expect(gateway.closed == closed)
        #expect(try await gateway.cache.syncState().gates.closed == closed)
        await gateway.client.shutdown()
    }

    @Test func `the gate opens again with the next successful sync`() async throws {
        let peer = try FaultyPeer { _, position in
            position == 0 ? .status(401) : .json(#"{"success":true,"synced_at":"cursor-1","branding":[]}"#)
        }
        let gateway = try await GatewayFixture(peer.url, records: [record(number)])
        let service = gateway.service()
        await service.syncOnce()
        #expect(gateway.closed == .gatedUnauthorised)
        await service.syncOnce()
        #expect(gateway.closed == nil)
        #expect(try await gateway.cache.syncState().gates.authorised)
        #expect(service.status.result == .succeeded)
        #expect(service.status.failuresInARow == 0)
        await gateway.client.shutdown()
    }

    @Test func `the same failure is logged once, and its end too`() async throws {
        let peer = try FaultyPeer { _, position in
            position < 3 ? .status(400) : .json(#"{"success":true,"synced_at":"cursor-1","branding":[]}"#)
        }
        let gateway = try await GatewayFixture(peer.url, records: [record(number)])
        let service = gateway.service()
        for _ in 0..<5 { await service.syncOnce() }
        #expect(gateway.log.lines.filter { $0.contains("sync failed") }.count == 1)
        #expect(gateway.log.lines.filter { $0.contains("in sync") }.count == 1)
        await gateway.client.shutdown()
    }

    @Test func `a set of nothing but unusable records removes nothing`() async throws {
        let peer = try FaultyPeer { _, _ in
            .json(#"{"success":true,"synced_at":"c","branding":[{"phone_number_e164":"12","brand_name":"x"}]}"#)
        }
        let gateway = try await GatewayFixture(peer.url, records: [record(number)])
        let service = gateway.service()
        service.syncNow(full: true)
        await service.syncOnce()
        #expect(service.status.result == .failed)
        #expect(gateway.finds(number))
        await gateway.client.shutdown()
    }
}
