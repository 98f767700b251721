// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GRDB
import Testing

@testable import GatewayStore

@Suite("Event outbox")
struct OutboxStoreTests {
    private let ledger: LedgerFixture
    private let outbox: EventOutboxStore
    private let now = LedgerFixture.Clock.start / 1_000_000

    init() throws {
        ledger = try LedgerFixture()
        outbox = EventOutboxStore(ledger.database, clock: QueueClock { 0 })
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
    }

    private var id: String { ScriptedCall(ledger.ring, 1).id.description }

    @Test func `waiting events are offered oldest first with everything they carry`() async throws {
        let due = try await outbox.dueEvents(limit: 10, now: now)
        #expect(due.map(\.event.key) == ["displayed:\(id)", "missed:\(id)"])
        #expect(due.allSatisfy { $0.attempts == 0 && $0.event.callID == id && $0.event.surface == "sip" })
        let meta = try #require(due.last).event.meta
        #expect(meta.callEventID == id)
        #expect(meta.callOutcome == "MISSED")
        #expect(meta.ringDuration == 30)
        #expect(meta.callDuration == nil)
        #expect(meta.trunk == "carrier")
        #expect(try await outbox.dueEvents(limit: 1, now: now).count == 1)
        let earlier = EventOutboxStore(ledger.database, clock: QueueClock { 0 })
        #expect(try await earlier.dueEvents(limit: 10, now: now - 1).isEmpty)
    }

    @Test func `a delivered event is not offered again and keeps the directory's response`() async throws {
        try await outbox.markDelivered(
            key: "missed:\(id)", receipt: EventReceipt(eventID: "evt", counted: false, reason: "cap_reached"), now: 99)
        #expect(try await outbox.dueEvents(limit: 10, now: now).map(\.event.key) == ["displayed:\(id)"])
        let event = try #require(try ledger.events().last)
        #expect(event.state == .delivered)
        #expect(event.eventID == "evt")
        #expect(event.isCounted == false)
        #expect(event.reason == "cap_reached")
        #expect(event.settledAt == 99)
        #expect(event.attempts == 1)
    }

    @Test func `an event that the directory does not say it counts is stored as unknown`() async throws {
        try await outbox.markDelivered(
            key: "missed:\(id)", receipt: EventReceipt(eventID: "evt", counted: nil), now: 99)
        let event = try #require(try ledger.events().last)
        #expect(event.state == .delivered)
        #expect(event.isCounted == nil)
        #expect(event.reason == nil)
    }

    @Test func `a postponed event comes back at its time with one more attempt`() async throws {
        try await outbox.postpone(key: "displayed:\(id)", until: now + 60, reason: "timeout")
        try await outbox.postpone(key: "missed:\(id)", until: now + 30, reason: "timeout")
        #expect(try await outbox.dueEvents(limit: 10, now: now + 29).isEmpty)
        let due = try await outbox.dueEvents(limit: 10, now: now + 60)
        #expect(due.map(\.event.key) == ["missed:\(id)", "displayed:\(id)"])
        #expect(due.map(\.attempts) == [1, 1])
    }

    @Test(arguments: [1, 30, 3_600, 86_400, 86_400 * 365] as [Int64])
    func `after the clock was set back an event waits no longer than it was meant to`(step: Int64) async throws {
        try await outbox.postpone(key: "displayed:\(id)", until: now + 60, reason: "timeout")
        try await outbox.postpone(key: "missed:\(id)", until: now + 90, reason: "timeout")
        #expect(try await outbox.dueEvents(limit: 10, now: now).isEmpty)
        #expect(try await outbox.dueEvents(limit: 10, now: now - step).isEmpty)
        let due = try await outbox.dueEvents(limit: 10, now: now - step + 60)
        #expect(due.map(\.event.key) == ["displayed:\(id)"])
        #expect(try await outbox.dueEvents(limit: 10, now: now - step + 90).count == 2)
    }

    @Test func `after a start with the clock set back, what waits by the old one goes at once`() async throws {
        try await outbox.postpone(key: "displayed:\(id)", until: now + 60, reason: "timeout")
        let next = EventOutboxStore(ledger.database, clock: QueueClock { 0 })
        let due = try await next.dueEvents(limit: 10, now: now - 86_400)
        #expect(due.map(\.event.key) == ["missed:\(id)", "displayed:\(id)"])
        #expect(try await next.dueEvents(limit: 1, now: now - 86_400).map(\.event.key) == ["missed:\(id)"])
    }

    @Test func `many events that fail each time leave half of the room to new ones`() async throws {
        for number in 2...20 { ScriptedCall(ledger.ring, UInt64(number)).missed() }
        try ledger.recorder.drain()
        for key in try ledger.keys() { try await outbox.postpone(key: key, until: now + 1, reason: "timeout") }
        ledger.clock.advance(seconds: 60)
        for number in 21...23 { ScriptedCall(ledger.ring, UInt64(number)).missed() }
        try ledger.recorder.drain()
        let due = try await outbox.dueEvents(limit: 10, now: now + 100)
        #expect(due.count { $0.attempts == 0 } == 5, "40 that failed wait longer than the 6 new ones")
        #expect(due.count { $0.attempts == 1 } == 5)
        #expect(Set(due.map(\.event.key)).count == 10)
    }

    @Test func `a refused event stays for the operator, who can send it again under the same key`() async throws {
        try await outbox.markRefused(key: "displayed:\(id)", status: 400, reason: "bad number", now: 99)
        try await outbox.markRefused(key: "missed:\(id)", status: 422, reason: "bad meta", now: 99)
        #expect(try await outbox.dueEvents(limit: 10, now: now).isEmpty)
        let reader = try LedgerReader(ledger.database.ledger)
        #expect(try reader.backlog() == .init(refused: 2))
        #expect(try reader.events(state: .refused, limit: 10).map(\.status) == [422, 400])
        #expect(try await outbox.retry(key: "displayed:\(id)", now: now + 5))
        #expect(try await outbox.retry(key: "displayed:\(id)", now: now + 5) == false)
        #expect(try await outbox.dueEvents(limit: 10, now: now + 5).map(\.event.key) == ["displayed:\(id)"])
        #expect(try await outbox.retryAllRefused(now: now + 5) == 1)
        #expect(try reader.backlog() == .init(waiting: 2))
    }

    @Test func `a response for an event that no longer waits changes nothing`() async throws {
        try await outbox.markDelivered(key: "missed:\(id)", receipt: EventReceipt(counted: true), now: 1)
        try await outbox.markRefused(key: "missed:\(id)", status: 400, reason: "late", now: 2)
        try await outbox.postpone(key: "missed:\(id)", until: 3, reason: "later")
        try await outbox.postpone(key: "nothing", until: 3, reason: "later")
        let event = try #require(try ledger.events().last)
        #expect(event.state == .delivered)
        #expect(event.settledAt == 1)
        #expect(event.attempts == 1)
    }

    @Test func `responses that arrive together are all stored`() async throws {
        for number in 2...60 { ScriptedCall(ledger.ring, UInt64(number)).missed() }
        try ledger.recorder.drain()
        let due = try await outbox.dueEvents(limit: 1_000, now: now)
        #expect(due.count == 120)
        try await withThrowingTaskGroup(of: Void.self) { [outbox, now] group in
            for event in due {
                group.addTask {
                    try await outbox.markDelivered(
                        key: event.event.key, receipt: EventReceipt(eventID: event.event.key, counted: true), now: now)
                }
            }
            try await group.waitForAll()
        }
        let events = try LedgerReader(ledger.database.ledger).events(state: .delivered, limit: 200)
        #expect(events.count == 120)
        #expect(events.allSatisfy { $0.eventID == $0.key })
        // The recorder's promise needs commits that wait for the disk.
        #expect(try await ledger.database.ledger.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
    }

    @Test func `a database that refuses says so and the event stays`() async throws {
        try await ledger.database.ledger.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER stop BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'stopped'); END
                    """)
        }
        await #expect(throws: DatabaseError.self) {
            try await outbox.markDelivered(key: "missed:\(id)", receipt: EventReceipt(counted: true), now: now)
        }
        try await ledger.database.ledger.write { try $0.execute(sql: "DROP TRIGGER stop") }
        #expect(try await outbox.dueEvents(limit: 10, now: now).count == 2)
        try await outbox.markDelivered(key: "missed:\(id)", receipt: EventReceipt(counted: true), now: now)
        #expect(try await outbox.dueEvents(limit: 10, now: now).count == 1)
    }
}
