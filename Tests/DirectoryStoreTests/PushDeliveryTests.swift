// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Deliveries of push messages", .timeLimit(.minutes(8)), .bothEngines)
struct PushDeliveryTests {
    private static let start = PushFixture.start

    @Test func `a kill in a burst loses no delivery, and makes one that was in progress once more`() async throws {
        let fixture = try PushFixture()
        for number in 0..<20 { try await fixture.add("device-\(10 + number)") }
        for call in 0..<20 { try await fixture.missed("call-\(10 + call)") }
        var sent: [String: Int] = [:]
        func send(_ deliveries: [PushDelivery]) {
            for delivery in deliveries { sent["\(delivery.key) \(delivery.device)", default: 0] += 1 }
        }
        // The first program sends 150, records 100 of them, and is killed with 70 more leases.
        let first = try await fixture.due(most: 220)
        #expect(first.count == 220)
        send(Array(first[..<150]))
        for delivery in first[..<100] { #expect(try await fixture.outbox.finish(delivery)) }
        // The second goes on with what nobody has leased, and with the rest when the leases have ended.
        let second = try fixture.reopened()
        let others = try await second.lease(1_000, now: Self.start)
        #expect(others.count == 180)
        send(others)
        for delivery in others { #expect(try await second.finish(delivery)) }
        #expect(try await second.lease(1_000, now: Self.start + PushOutbox.lease - 1).isEmpty)
        let left = try await second.lease(1_000, now: Self.start + PushOutbox.lease)
        #expect(left.count == 120)
        send(left)
        for delivery in left { #expect(try await second.finish(delivery)) }
        #expect(sent.count == 400)
        #expect(sent.values.filter { $0 == 2 }.count == 50 && sent.values.allSatisfy { $0 <= 2 })
        #expect(try await second.waiting() == 0)
    }

    @Test func `a program whose lease has ended changes nothing any more`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed()
        let slow = try #require(try await fixture.due().first)
        let next = try #require(try await fixture.outbox.lease(9, now: Self.start + PushOutbox.lease).first)
        #expect(try await !fixture.outbox.postpone(slow, until: Self.start))
        #expect(try await !fixture.outbox.finish(slow))
        #expect(try await fixture.outbox.finish(next))
        #expect(try await !fixture.outbox.finish(next))
    }

    @Test func `two programs lease different deliveries`() async throws {
        let fixture = try PushFixture()
        for number in 0..<40 { try await fixture.add("device-\(number)") }
        try await fixture.missed()
        while try await fixture.outbox.fanOut(now: Self.start) {}
        let other = try fixture.reopened()
        async let first = fixture.outbox.lease(25, now: Self.start)
        async let second = other.lease(25, now: Self.start)
        let (mine, theirs) = (try await first.map(\.device), try await second.map(\.device))
        #expect(Set(mine).isDisjoint(with: theirs) && mine.count + theirs.count == 40)
    }

    /// PostgreSQL chooses another plan for a table that it believes to have one row.
    @Test func `a program leases no more than its limit in a burst after a quiet time`() async throws {
        let fixture = try PushFixture()
        for number in 0..<40 {
            try await fixture.add("device-\(number)", number == 0 ? "+61255501002" : PushFixture.person)
        }
        try await fixture.missed("a-1", to: "+61255501002")
        while try await fixture.outbox.fanOut(now: Self.start) {}
        try await fixture.database.pool.write { try $0.execute("ANALYZE push_delivery") }
        try await fixture.missed("a-2")
        while try await fixture.outbox.fanOut(now: Self.start) {}
        #expect(try await fixture.outbox.lease(3, now: Self.start).count == 3)
        #expect(try await fixture.outbox.lease(99, now: Self.start).count == 37)
    }

    @Test func `attempts are counted, and a delivery that was not attempted keeps its count`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed()
        let first = try #require(try await fixture.due().first)
        #expect(try await fixture.outbox.postpone(first, until: Self.start + 10))
        #expect(try await fixture.outbox.lease(9, now: Self.start + 9).isEmpty)
        let second = try #require(try await fixture.outbox.lease(9, now: Self.start + 10).first)
        #expect(second.attempts == 1)
        #expect(try await fixture.outbox.release(second, until: Self.start + 20))
        let third = try #require(try await fixture.outbox.lease(9, now: Self.start + 20).first)
        #expect(third.attempts == 1)
        #expect(try await fixture.outbox.giveUp(third))
        #expect(try await fixture.outbox.waiting() == 0)
    }

    @Test func `a message ends with its lifetime`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed("a-1")
        #expect(try await fixture.due(now: Self.start + PushLimits.lifetime).isEmpty)
        try await fixture.missed("a-2")
        while try await fixture.outbox.fanOut(now: Self.start) {}
        #expect(try await fixture.outbox.lease(9, now: Self.start + PushLimits.lifetime).isEmpty)
        #expect(try await fixture.outbox.waiting() == 0)
    }

    @Test func `a device that is gone is removed with its deliveries, unless it has another address`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.add("phone")
        try await fixture.missed()
        let deliveries = try await fixture.due().sorted { $0.device < $1.device }
        _ = try await fixture.devices.register(
            PushRegistration(device: "phone", platform: .android, address: "another-token-0123"), now: Self.start)
        #expect(try await fixture.outbox.removeDevice(of: deliveries[0]))
        #expect(try await !fixture.outbox.removeDevice(of: deliveries[1]))
        #expect(try fixture.count("push_device") == 1 && fixture.count("push_delivery") == 1)
    }

    // MARK: Withdrawal

    @Test(arguments: ["ANSWERED", "ANSWERED_ELSEWHERE"])
    func `a message of a call that was answered is not sent, and one that was sent is replaced`(end: String)
        async throws
    {
        let fixture = try PushFixture()
        try await fixture.add("sent")
        try await fixture.missed()
        for delivery in try await fixture.due() { try await fixture.outbox.finish(delivery) }
        try await fixture.missed("a-2")
        while try await fixture.outbox.fanOut(now: Self.start) {}
        for call in ["0f3c9a52-77de-41b0-8a6e-5d2b90c1e834", "a-2"] {
            try await fixture.report(PushFixture.event("call_seen", end, call: call))
        }
        let deliveries = try await fixture.due()
        #expect(deliveries.map(\.key) == ["0f3c9a52-77de-41b0-8a6e-5d2b90c1e834"])
        #expect(deliveries.map(\.isWithdrawal) == [true])
        for delivery in deliveries { #expect(try await fixture.outbox.finish(delivery)) }
        try await fixture.report(PushFixture.event("returned", to: "+61255501009"))
        #expect(try await fixture.due().isEmpty, "a message is withdrawn once")
    }

    @Test func `a message that is being sent while its call is answered counts as sent`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed()
        let sending = try #require(try await fixture.due().first)
        try await fixture.report(PushFixture.event("call_seen", "ANSWERED"))
        while try await fixture.outbox.fanOut(now: Self.start) {}
        #expect(try await !fixture.outbox.finish(sending))
        #expect(try await fixture.outbox.lease(9, now: Self.start).map(\.isWithdrawal) == [true])
    }

    @Test func `a call back is a message for the brand, and withdraws the one of the called person`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("person")
        try await fixture.add("reception", PushFixture.brand)
        try await fixture.missed()
        let missed = try await fixture.due()
        #expect(missed.map(\.device) == ["person"])
        for delivery in missed { try await fixture.outbox.finish(delivery) }
        try await fixture.report(PushFixture.event("returned", to: PushFixture.brand))
        let deliveries = try await fixture.due().sorted { $0.device < $1.device }
        #expect(deliveries.map(\.device) == ["person", "reception"])
        #expect(deliveries.map(\.topic) == [.missedCall, .callReturned])
        #expect(deliveries.map(\.isWithdrawal) == [true, false])
        #expect(Set(deliveries.map(\.key)).count == 1)
    }

    // MARK: Removal

    @Test func `old messages are removed, and a called number with the lifetime of its message`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed()
        #expect(try fixture.count("push_message", "number IS NOT NULL") == 1)
        #expect(try await !fixture.outbox.removeOld(now: Self.start + PushLimits.lifetime + 1))
        #expect(try fixture.count("push_message", "number IS NOT NULL") == 0)
        #expect(try fixture.count("push_message") == 1)
        #expect(try await !fixture.outbox.removeOld(now: Self.start + PushLimits.kept + 1))
        #expect(try fixture.count("push_message") == 0)
    }

    @Test func `old deliveries are removed in steps, before their messages`() async throws {
        let fixture = try PushFixture()
        try await fixture.addAtOnce(PushLimits.removed / 2 + 10)
        for call in ["a-1", "a-2"] { try await fixture.missed(call) }
        while try await fixture.outbox.fanOut(now: Self.start) {}
        let now = Self.start + PushLimits.kept + 1
        #expect(try await fixture.outbox.removeOld(now: now))
        #expect(try fixture.count("push_message") == 2 && fixture.count("push_delivery") == 20)
        #expect(try await !fixture.outbox.removeOld(now: now))
        #expect(try fixture.count("push_message") == 0 && fixture.count("push_delivery") == 0)
    }
}
