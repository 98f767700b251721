// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Push messages of events", .timeLimit(.minutes(8)), .bothEngines)
struct PushMessageTests {
    private static let start = PushFixture.start

    @Test func `a missed call is a message for each confirmed device of the called number`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.add("phone")
        try await fixture.add("waits", confirmed: false)
        try await fixture.add("other", "+61255501002")
        try await fixture.missed()
        let deliveries = try await fixture.due().sorted { $0.device < $1.device }
        #expect(deliveries.map(\.device) == ["desk", "phone"])
        let first = try #require(deliveries.first)
        #expect(first.topic == .missedCall && first.key == "0f3c9a52-77de-41b0-8a6e-5d2b90c1e834")
        #expect(first.brandName == "Harbour Dental" && first.reason == "Your appointment tomorrow")
        #expect(first.brandID == "acme" && first.sentAt == Self.start && first.expires == Self.start + 86_400)
        #expect(!first.isWithdrawal && first.attempts == 0)
    }

    @Test func `an event that comes twice, and a second event of the same end, make no second message`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed()
        try await fixture.missed()
        #expect(try await fixture.due().count == 1)
        try await fixture.report(PushFixture.event("call_seen", "MISSED"))
        #expect(try await fixture.due().isEmpty)
        #expect(try fixture.count("push_message") == 1)
    }

    /// Events of docs/events.md that are no missed call, and fields that break the contract.
    @Test(
        arguments: [
            ("displayed", "MISSED", PushFixture.person, "a-1"), ("call_seen", "ANSWERED", PushFixture.person, "a-1"),
            ("call_seen", "REJECTED", PushFixture.person, "a-1"),
            ("call_seen", "ANSWERED_ELSEWHERE", PushFixture.person, "a-1"),
            ("error", "FAILED", PushFixture.person, "a-1"), ("missed", "MISSED", nil, "a-1"),
            ("missed", "MISSED", "101", "a-1"), ("missed", "MISSED", PushFixture.person, "a/../1"),
            ("missed", "MISSED", PushFixture.person, "a\u{0}1"),
            ("missed", "MISSED", PushFixture.person, String(repeating: "a", count: 65)),
        ] as [(String, String?, String?, String)])
    func `other events make none`(outcome: String, callOutcome: String?, called: String?, call: String) async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.report(PushFixture.event(outcome, callOutcome, call: call, to: called))
        #expect(try fixture.count("push_message") == 0)
    }

    @Test func `no message is stored for numbers that nobody confirmed, or while push is off`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("waits", confirmed: false)
        try await fixture.missed("a-1")
        #expect(try fixture.count("push_message") == 0)
        try await fixture.add("desk")
        fixture.database.pushes.set(false)
        try await fixture.missed("a-2")
        #expect(try fixture.count("push_message") == 0)
    }

    @Test func `accounts do not see each other`() async throws {
        let fixture = try PushFixture()
        let other = try AccountList(fixture.database).create(name: "other", now: 0)
        _ = try BrandEntries(fixture.database, account: other).put(
            [entry(PushFixture.brand, "Other Dental")], now: Self.start)
        try await fixture.add("desk")
        try await fixture.add("desk", account: other)
        try await fixture.report(PushFixture.event("missed", "MISSED"), account: other)
        let deliveries = try await fixture.due()
        #expect(deliveries.map(\.account) == [other] && deliveries.map(\.brandName) == ["Other Dental"])
        await #expect(throws: PushError.unknownDevice) {
            try await PushDevices(fixture.database, account: other).remove(.id("phone"))
        }
    }

    @Test func `an event that comes a day late, and a call of a suspended account, make none`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        var late = PushFixture.event("missed", "MISSED", call: "a-1")
        late.displayedAt = Timestamp.string(from: Self.start - 86_400)
        try await fixture.report(late)
        var change = AccountStore.Change()
        change.status = "suspended"
        try AccountStore(fixture.database).change(change)
        try await fixture.missed("a-2")
        #expect(try fixture.count("push_message") == 0)
    }

    @Test func `a number with many devices costs its event one row, and its devices are found in steps`() async throws {
        let fixture = try PushFixture()
        let count = PushLimits.step * 2 + 50
        try await fixture.addAtOnce(count)
        try await fixture.missed()
        #expect(try fixture.count("push_message") == 1 && fixture.count("push_delivery") == 0)
        var made: [Int] = []
        while try await fixture.outbox.fanOut(now: Self.start) {
            made.append(try fixture.count("push_delivery"))
            #expect(try fixture.count("push_message", "number IS NOT NULL") == (made.count < 3 ? 1 : 0))
        }
        #expect(made == [PushLimits.step, PushLimits.step * 2, count])
        let devices = try await fixture.outbox.lease(10_000, now: Self.start).map(\.device)
        #expect(Set(devices).count == count && devices.count == count)
    }

    @Test func `a number takes no more devices than its limit`() async throws {
        let fixture = try PushFixture()
        let number = try PushFixture.number(PushFixture.person)
        try await fixture.addAtOnce(PushLimits.devicesPerNumber)
        await #expect(throws: PushError.numberIsFull(number)) { try await fixture.add("one-more") }
        #expect(try fixture.count("push_device", "device_id = 'one-more'") == 0)
    }

    @Test func `a device gets the messages that it wants`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        let changed = try await fixture.devices.change(.id("desk")) { $0.missedCall = false }
        #expect(!changed.preferences.missedCall && changed.preferences.callReturned)
        try await fixture.missed("a-1")
        #expect(try await fixture.due().isEmpty)
        _ = try await fixture.devices.change(.address("token-of-desk-0123")) {
            ($0.missedCall, $0.disclosure) = (true, .silent)
        }
        try await fixture.missed("a-2")
        #expect(try await fixture.due().map(\.disclosure) == [.silent])
    }

    // MARK: Brands

    @Test func `a changed brand is a message for devices that had one of it`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.add("never", "+61255501002")
        func rename(_ name: String) throws {
            var change = BrandList.Change()
            change.name = name
            _ = try BrandList(fixture.database).change("acme", change, now: Self.start)
        }
        try rename("Harbor Dental")
        #expect(try fixture.count("push_message") == 0)
        try await fixture.missed()
        for delivery in try await fixture.due() { try await fixture.outbox.finish(delivery) }
        try rename("Harbour Dental Group")
        let deliveries = try await fixture.due()
        #expect(deliveries.map(\.device) == ["desk"] && deliveries.map(\.topic) == [.brandChanged])
        #expect(deliveries.map(\.brandName) == ["Harbour Dental Group"])
        #expect(deliveries.allSatisfy { $0.key.hasPrefix("brand-") && $0.key.utf8.count == 22 })
        try rename("Harbour Dental Group")
        #expect(try await fixture.due().isEmpty)
    }

    @Test func `a changed brand looks at a bounded number of devices in a step, and after the calls`() async throws {
        let fixture = try PushFixture()
        try await fixture.addAtOnce(PushLimits.step + 50)
        try await fixture.add("later", "+61255501002")
        try await fixture.missed("a-1", to: "+61255501002")
        #expect(try await fixture.due().count == 1)
        var change = BrandList.Change()
        change.name = "Harbor Dental"
        _ = try BrandList(fixture.database).change("acme", change, now: Self.start)
        try await fixture.missed("a-2", to: "+61255501002")
        var made: [Int] = []
        while try await fixture.outbox.fanOut(now: Self.start) { made.append(try fixture.count("push_delivery")) }
        #expect(made == [2, 2, 3])
        let deliveries = try await fixture.outbox.lease(9, now: Self.start).sorted { $0.key < $1.key }
        #expect(deliveries.map(\.topic) == [.missedCall, .brandChanged])
        #expect(deliveries.map(\.device) == ["later", "later"])
    }

    @Test func `the name of a brand out of use is not shown`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed()
        var change = BrandList.Change()
        change.owner = .suspended
        _ = try BrandList(fixture.database).change("acme", change, now: Self.start)
        #expect(try await fixture.due().isEmpty)
        #expect(try fixture.count("push_delivery", "state = 'ended' AND due IS NULL") == 1)
    }

    @Test func `a call keeps its brand when the number goes to another one`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed()
        let moved = BrandEntries.Entry(
            number: try PushFixture.number(PushFixture.brand), name: "Other Clinic", brandID: "other",
            callReason: "Your results")
        _ = try BrandEntries(fixture.database).put([moved], now: Self.start)
        let delivery = try #require(try await fixture.due().first)
        #expect(delivery.brandID == "acme" && delivery.brandName == "Harbour Dental" && delivery.reason == nil)
        let call = try #require(try await fixture.devices.missedCalls(of: "desk", now: Self.start).first)
        #expect(call.brandID == "acme" && call.brandName == "Harbour Dental" && call.reason == nil)
    }
}
