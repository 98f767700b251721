// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Missed calls of a device", .timeLimit(.minutes(8)), .bothEngines)
struct MissedCallTests {
    private static let start = PushFixture.start

    @Test func `the list has name, reason, time and the masked number, the newest first`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed("a-1")
        try await fixture.report(PushFixture.event("missed", "MISSED", call: "a-2"), now: Self.start + 60)
        _ = try await fixture.due(now: Self.start + 60)
        let calls = try await fixture.devices.missedCalls(of: "desk", now: Self.start + 60)
        #expect(calls.map(\.id) == ["a-2", "a-1"] && calls.map(\.time) == [Self.start + 60, Self.start])
        #expect(Set(calls.map(\.brandName)) == ["Harbour Dental"] && Set(calls.map(\.brandID)) == ["acme"])
        #expect(Set(calls.map(\.reason)) == ["Your appointment tomorrow"])
        #expect(Set(calls.map(\.called)) == ["+61******001"] && calls.allSatisfy { !$0.isWithdrawn })
    }

    @Test func `a call that was returned or picked up elsewhere is marked, and makes no second row`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed("a-1")
        _ = try await fixture.due()
        try await fixture.report(PushFixture.event("returned", "ANSWERED", call: "a-1", to: PushFixture.brand))
        _ = try await fixture.due()
        let calls = try await fixture.devices.missedCalls(of: "desk", now: Self.start)
        #expect(calls.map(\.isWithdrawn) == [true])
    }

    @Test func `the list ends after 30 days, and has fifty calls at most`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        for call in 0...PushLimits.listed { try await fixture.missed("a-\(call)") }
        _ = try await fixture.due()
        let last = Self.start + PushLimits.kept - 1
        #expect(try await fixture.devices.missedCalls(of: "desk", now: last).count == PushLimits.listed)
        #expect(try await fixture.devices.missedCalls(of: "desk", now: last + 1).isEmpty)
        while try await fixture.outbox.removeOld(now: last + 2) {}
        #expect(try fixture.count("push_delivery") == 0)
    }

    @Test func `nobody reads the calls of another device, number or account`() async throws {
        let fixture = try PushFixture()
        let other = try AccountList(fixture.database).create(name: "other", now: 0)
        try await fixture.add("desk")
        try await fixture.add("colleague", "+61255501002")
        try await fixture.add("waits", confirmed: false)
        try await fixture.add("desk", account: other)
        try await fixture.missed()
        _ = try await fixture.due()
        #expect(try await fixture.devices.missedCalls(of: "desk", now: Self.start).count == 1)
        for device in ["colleague", "waits", "nobody"] {
            #expect(try await fixture.devices.missedCalls(of: device, now: Self.start).isEmpty, "\(device)")
        }
        let theirs = PushDevices(fixture.database, account: other)
        #expect(try await theirs.missedCalls(of: "desk", now: Self.start).isEmpty)
    }

    @Test func `a device with another address does not see the calls of the earlier one`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed()
        _ = try await fixture.due()
        _ = try await fixture.devices.register(
            PushRegistration(device: "desk", platform: .android, address: "another-token-0123"), now: Self.start + 60)
        #expect(try await fixture.devices.missedCalls(of: "desk", now: Self.start + 60).isEmpty)
        _ = try await fixture.devices.confirm("desk", number: nil, now: Self.start + 60)
        #expect(try await fixture.devices.missedCalls(of: "desk", now: Self.start + 60).isEmpty)
    }

    @Test func `a brand out of use is not shown`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed()
        _ = try await fixture.due()
        var change = BrandList.Change()
        change.owner = .suspended
        _ = try BrandList(fixture.database).change("acme", change, now: Self.start)
        #expect(try await fixture.devices.missedCalls(of: "desk", now: Self.start).isEmpty)
    }
}
