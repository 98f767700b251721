// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import ServiceLifecycle
import Synchronization
import TestFixtures
import Testing

@Suite("Sending events", .timeLimit(.minutes(8)))
struct EventSenderTests {
    private static let counted = #"{"success":true,"event_id":"e-1","counted":true,"displayed_at":"x"}"#

    @Test func `an event carries its key, its meta and the device`() async throws {
        let peer = try FaultyPeer { _, _ in .json(Self.counted) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.outbox.add("displayed:1")
        await gateway.sender().sendBatch()
        let request = try #require(peer.requests.first)
        #expect(request.method == "POST")
        #expect(request.path == "/api/mobile/branding/event")
        let body = try #require(JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: Any])
        #expect(body["phone_number_e164"] as? String == "+61412345678")
        #expect(body["outcome"] as? String == "displayed")
        #expect(body["surface"] as? String == "sip")
        #expect(body["event_key"] as? String == "displayed:1")
        #expect(body["device_id"] as? String == "gateway-1")
        #expect(body["displayed_at"] as? String == "2026-01-01T00:00:00Z")
        let meta = try #require(body["meta"] as? [String: Any])
        #expect(meta["call_event_id"] as? String == "displayed:1")
        #expect(meta["ring_duration_seconds"] as? Int == 12)
        #expect(meta["branding_applied"] as? Bool == true)
        #expect(meta["device_id"] as? String == "gateway-1")
        #expect(meta["platform"] as? String == "linux")
        #expect(meta.count == 5)
        #expect(
            gateway.outbox.fate("displayed:1") == .delivered(EventReceipt(eventID: "e-1", counted: true, reason: nil)))
        await gateway.client.shutdown()
    }

    @Test(arguments: [200, 202])
    func `not counted with a reason is a final response`(status: Int) async throws {
        let peer = try FaultyPeer { _, _ in
            .status(status, body: #"{"success":true,"counted":false,"reason":"cap_reached"}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        gateway.outbox.add("displayed:1")
        let sender = gateway.sender()
        await sender.sendBatch()
        #expect(
            gateway.outbox.fate("displayed:1")
                == .delivered(EventReceipt(eventID: nil, counted: false, reason: "cap_reached")))
        #expect(sender.counts.delivered == 1)
        #expect(sender.counts.notCounted == 1)
        await gateway.client.shutdown()
    }

    @Test(arguments: [
        #"{"success":true,"event_id":"e-7","displayed_at":"2026-01-01T00:00:00Z"}"#,
        #"{"success":true,"counted":null}"#,
        #"{"success":true,"outcome":"no_match"}"#,
    ])
    func `where the response does not say whether an event counts, it is unknown`(body: String) async throws {
        let peer = try FaultyPeer { _, _ in .json(body) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.outbox.add("displayed:1")
        let sender = gateway.sender()
        await sender.sendBatch()
        guard case .delivered(let receipt) = gateway.outbox.fate("displayed:1") else { Issue.record("waits"); return }
        #expect(receipt.counted == nil)
        #expect(sender.counts.delivered == 1)
        #expect(sender.counts.notCounted == 0)
        await gateway.client.shutdown()
    }

    @Test(
        arguments: [
            ("cap_reached", "cap_reached"), ("pending_enrichment", "pending_enrichment"), (nil, "none"), ("", "none"),
            ("the_directorys_own", "other"),
        ] as [(String?, String)])
    func `events that do not count are counted by the contract's reason, §7b`(reason: String?, label: String)
        async throws
    {
        let member = reason.map { #","reason":"\#($0)""# } ?? ""
        let peer = try FaultyPeer { _, _ in .json(#"{"success":true,"counted":false\#(member)}"#) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.outbox.add("displayed:1")
        let sender = gateway.sender()
        await sender.sendBatch()
        #expect(sender.counts.notCountedByReason == [label: 1])
        #expect(EventCounts.reasons.contains(label))
        await gateway.client.shutdown()
    }

    @Test func `a repeated event is the same request to the byte`() async throws {
        let peer = try FaultyPeer { _, position in position < 2 ? .status(500) : .json(Self.counted) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.outbox.add("displayed:1")
        let sender = gateway.sender()
        for _ in 0..<3 {
            let wait = await sender.sendBatch()
            try await gateway.time.clock.sleep(wait)
        }
        let bodies = peer.requests.map(\.body)
        #expect(bodies.count == 3)
        #expect(Set(bodies).count == 1)
        guard case .delivered = gateway.outbox.fate("displayed:1") else { Issue.record("not delivered"); return }
        await gateway.client.shutdown()
    }

    @Test func `a response lost on the way leads to a repeat that the key makes harmless`() async throws {
        let ledger = Mutex<[String: Int]>([:])
        let peer = try FaultyPeer { request, position in
            let body = try? JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: Any]
            let key = body?["event_key"] as? String ?? ""
            let count = ledger.withLock { ledger in
                ledger[key, default: 0] += 1
                return ledger[key] ?? 0
            }
            // The directory has written it down, but every first response gets lost.
            return count == 1 ? .raw("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"succ") : .json(Self.counted)
        }
        let gateway = try await GatewayFixture(peer.url)
        let keys = (0..<12).map { "displayed:\($0)" }
        for key in keys { gateway.outbox.add(key) }
        let sender = gateway.sender()
        for _ in 0..<60 where sender.counts.delivered < keys.count {
            let wait = await sender.sendBatch()
            try await gateway.time.clock.sleep(wait)
        }
        #expect(gateway.outbox.fates.allSatisfy { if case .delivered = $0 { true } else { false } })
        #expect(ledger.withLock { $0 } == Dictionary(uniqueKeysWithValues: keys.map { ($0, 2) }))
        await gateway.client.shutdown()
    }

    @Test func `while the directory is away a few events probe it, ever more rarely`() async throws {
        let peer = try FaultyPeer { _, _ in .status(503) }
        let gateway = try await GatewayFixture(peer.url)
        for number in 0..<40 { gateway.outbox.add("displayed:\(number)") }
        let sender = gateway.sender()
        var waits: [Duration] = []
        for _ in 0..<10 { waits.append(await sender.sendBatch()) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map { .seconds($0) })
        #expect(peer.requests.count <= 40)
        #expect(gateway.outbox.attempts == peer.requests.count)
        await gateway.client.shutdown()
    }

    @Test func `Retry-After holds back the event and the sender`() async throws {
        let peer = try FaultyPeer { _, _ in .status(429, headers: ["Retry-After": "90"]) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.outbox.add("displayed:1")
        #expect(await gateway.sender().sendBatch() == .seconds(90))
        #expect(gateway.outbox.fate("displayed:1") == .postponed(until: ManualTime.start + 90))
        await gateway.client.shutdown()
    }

    @Test func `after 401 nothing is sent until a sync succeeds`() async throws {
        let isOpen = Flag()
        let peer = try FaultyPeer { request, _ in
            guard isOpen.isSet else { return .status(401) }
            return .json(
                request.method == "GET" ? #"{"success":true,"synced_at":"c","branding":[]}"# : Self.counted)
        }
        let gateway = try await GatewayFixture(peer.url)
        gateway.outbox.add("displayed:1", "displayed:2", "displayed:3", "displayed:4", "displayed:5", "displayed:6")
        let sender = gateway.sender(EventSchedule(concurrency: 1))
        await sender.sendBatch()
        #expect(gateway.closed == nil, "only a sync decides about brands")
        #expect(peer.requests.count == 1)
        await sender.sendBatch()
        #expect(peer.requests.count == 1)
        isOpen.set()
        await gateway.service().syncOnce()
        #expect(gateway.closed == nil)
        gateway.time.advance(by: .seconds(10))
        await sender.sendBatch()
        #expect(gateway.outbox.fates.allSatisfy { if case .delivered = $0 { true } else { false } })
        await gateway.client.shutdown()
    }

    @Test(arguments: [
        (#"{"branding_enabled":false}"#, PassThroughReason.gatedBrandingDisabled),
        (#"{"account_status":"suspended"}"#, .gatedAccountStatus),
        (#"{"used_this_month":10,"cap_this_month":10}"#, .gatedCapReached),
        (#"{"voip_dialer_enabled":false}"#, .gatedVoipDialerDisabled),
        (#"{"account_status":"canceled"}"#, .gatedAccountStatus),
    ])
    func `a gate in an event response closes at once and is stored`(config: String, reason: PassThroughReason)
        async throws
    {
        let peer = try FaultyPeer { _, position in
            .json(#"{"success":true,"counted":true\#(position == 0 ? #","config":\#(config)"# : "")}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        await gateway.obeyVoipDialer()
        gateway.outbox.add("displayed:1")
        let sender = gateway.sender()
        await sender.sendBatch()
        #expect(gateway.closed == reason)
        var stored = try await gateway.cache.syncState().gates
        stored.obeysVoipDialer = true
        #expect(stored.closed == reason)
        // Other gates do not hold back events, and a response without config changes none.
        gateway.outbox.add("displayed:2")
        await sender.sendBatch()
        #expect(peer.requests.count == 2)
        #expect(gateway.closed == reason)
        await gateway.client.shutdown()
    }

    @Test func `a response that comes late opens no gate that was closed meanwhile`() async throws {
        let mayRespond = Mutex(false)
        let peer = try FaultyPeer { request, _ in
            let isLate = request.body.contains("displayed:1")
            for _ in 0..<2_000 where isLate && !mayRespond.withLock({ $0 }) { usleep(5_000) }
            let used = isLate ? 9 : 10
            return .json(
                #"{"success":true,"counted":true,"config":{"used_this_month":\#(used),"cap_this_month":10}}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        gateway.outbox.add("displayed:1")
        gateway.outbox.add("displayed:2")
        let sender = gateway.sender()
        let batch = Task { await sender.sendBatch() }
        for _ in 0..<1_000 where gateway.closed == nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(gateway.closed == .gatedCapReached)
        mayRespond.withLock { $0 = true }
        _ = await batch.value
        #expect(sender.counts.delivered == 2)
        #expect(gateway.closed == .gatedCapReached)
        // The next one was asked after that, and opens it.
        gateway.outbox.add("displayed:1b")
        await sender.sendBatch()
        #expect(gateway.closed == nil)
        await gateway.client.shutdown()
    }

    @Test func `a response the outbox cannot keep is asked for again with the same key`() async throws {
        let peer = try FaultyPeer { _, _ in .json(Self.counted) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.outbox.add("displayed:1")
        gateway.outbox.isBroken.withLock { $0 = true }
        let sender = gateway.sender()
        #expect(await sender.sendBatch() == .seconds(1))
        #expect(sender.counts.delivered == 0)
        gateway.outbox.isBroken.withLock { $0 = false }
        await sender.sendBatch()
        #expect(sender.counts.delivered == 1)
        #expect(Set(peer.requests.map(\.body)).count == 1)
        await gateway.client.shutdown()
    }

    @Test func `no more than four requests run at the same time`() async throws {
        let peak = Peak()
        let peer = try FaultyPeer { _, _ in
            peak.enter()
            Thread.sleep(forTimeInterval: 0.01)
            peak.leave()
            return .json(Self.counted)
        }
        let gateway = try await GatewayFixture(peer.url)
        for number in 0..<24 { gateway.outbox.add("displayed:\(number)") }
        let sender = gateway.sender()
        #expect(await sender.sendBatch() == .seconds(1))
        #expect(sender.counts.delivered == 24)
        #expect(peak.highest <= 4)
        await gateway.client.shutdown()
    }

    @Test func `a graceful stop finishes what is in flight and begins nothing new`() async throws {
        let arrived = Flag()
        let mayRespond = Flag()
        let peer = try FaultyPeer { _, _ in
            arrived.set()
            while !mayRespond.isSet { Thread.sleep(forTimeInterval: 0.005) }
            return .json(Self.counted)
        }
        let gateway = try await GatewayFixture(peer.url, time: ManualTime())
        gateway.outbox.add("displayed:1", "displayed:2", "displayed:3")
        let sender = gateway.sender(EventSchedule(concurrency: 1))
        let group = ServiceGroup(services: [gateway.client, sender], logger: gateway.logger)
        async let running: Void = group.run()
        await until { arrived.isSet }
        await group.triggerGracefulShutdown()
        mayRespond.set()
        try await running
        #expect(peer.requests.count == 1)
        #expect(gateway.outbox.fates.filter { $0 == .waiting }.count == 2)
        guard case .delivered = gateway.outbox.fate("displayed:1") else { Issue.record("not delivered"); return }
    }

    @Test func `new events do not shorten the wait after a failure`() async throws {
        let peer = try FaultyPeer { _, _ in .status(503) }
        let time = ManualTime()
        let gateway = try await GatewayFixture(peer.url, time: time)
        gateway.outbox.add("displayed:1")
        let sender = gateway.sender()
        let running = Task { try await sender.run() }
        await until { time.sleeping == [.seconds(1)] && sender.counts.postponed == 1 }
        gateway.outbox.add("displayed:2")
        sender.wake()
        time.advance(by: .seconds(1))
        await until { time.sleeping == [.seconds(2)] }
        gateway.outbox.add("displayed:3")
        sender.wake()
        time.advance(by: .milliseconds(1900))
        #expect(peer.requests.count == 3)
        running.cancel()
        try await running.value
        #expect(peer.requests.count == 3)
        await gateway.client.shutdown()
    }

    @Test func `an idle sender looks again after a second, or when it is woken`() async throws {
        let peer = try FaultyPeer { _, _ in .json(Self.counted) }
        let time = ManualTime()
        let gateway = try await GatewayFixture(peer.url, time: time)
        let sender = gateway.sender()
        let running = Task { try await sender.run() }
        await until { time.sleeping == [.seconds(1)] }
        gateway.outbox.add("displayed:1")
        sender.wake()
        await until { sender.counts.delivered == 1 && !time.sleeping.isEmpty }
        gateway.outbox.add("displayed:2")
        time.advance(by: .seconds(1))
        await until { sender.counts.delivered == 2 }
        #expect(sender.counts.delivered == 2)
        running.cancel()
        try await running.value
        await gateway.client.shutdown()
    }
}

/// Set once, read anywhere.
final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

/// How many were inside at the same time, at most.
final class Peak: Sendable {
    private let state = Mutex((now: 0, highest: 0))
    var highest: Int { state.withLock { $0.highest } }

    func enter() {
        state.withLock { state in
            state.now += 1
            state.highest = max(state.highest, state.now)
        }
    }

    func leave() { state.withLock { $0.now -= 1 } }
}
