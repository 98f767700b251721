// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("POST mobile/branding/event", .timeLimit(.minutes(8)), .bothEngines)
struct EventTests {
    private static let number = "+61491570156"

    /// What the account and the event are like, and what becomes of it.
    struct Situation: Sendable, CustomTestStringConvertible {
        var outcome = "displayed"
        var number = EventTests.number
        var branding = true
        var status = "active"
        var cap = -1
        var expected: UncountedReason?

        var testDescription: String { "\(outcome) \(number) \(branding) \(status) \(cap)" }
    }

    @Test(arguments: [
        Situation(), Situation(status: "trial"), Situation(cap: 1),
        Situation(number: "+61491570199", expected: .noMatch), Situation(branding: false, expected: .disabled),
        Situation(status: "suspended", expected: .accountSuspended), Situation(cap: 0, expected: .capReached),
        Situation(branding: false, status: "suspended", cap: 0, expected: .accountSuspended),
        Situation(outcome: "call_seen", expected: .analyticsOnly),
        Situation(outcome: "missed", expected: .analyticsOnly),
        Situation(outcome: "no_match", number: "+61491570199", expected: .analyticsOnly),
        Situation(outcome: "branding_disabled", branding: false, expected: .analyticsOnly),
        Situation(outcome: "returned", expected: .analyticsOnly), Situation(outcome: "error", expected: .analyticsOnly),
    ])
    func `an event counts or says why not`(situation: Situation) async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            var change = AccountStore.Change()
            change.brandingEnabled = situation.branding
            (change.status, change.cap) = (situation.status, situation.cap)
            try AccountStore(directory.database).change(change)
            let response = try await directory.event(
                EventRequest(phoneNumber: situation.number, outcome: situation.outcome, eventKey: "key"))
            #expect(response.success)
            #expect(response.counted == (situation.expected == nil))
            #expect(response.reason == situation.expected?.rawValue)
            #expect(response.outcome == situation.outcome)
            #expect(response.displayedAt == "2026-01-01T00:00:00Z")
            #expect(response.eventID?.count == 36)
            #expect(response.config?.usedThisMonth == (situation.expected == nil ? 1 : 0))
            let isCapReached = situation.cap >= 0 && response.config?.usedThisMonth ?? 0 >= situation.cap
            let isActive = situation.status != "suspended"
            #expect(response.config?.brandingEnabled == (situation.branding && isActive && !isCapReached))
            #expect(response.config?.accountStatus == situation.status)
        }
    }

    @Test func `a deactivated number does not count`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            try directory.deactivate(Self.number)
            let response = try await directory.event(EventRequest(phoneNumber: Self.number, outcome: "displayed"))
            #expect(response.reason == "no_match")
        }
    }

    @Test func `what is recorded is what was sent`() async throws {
        try await RunningDirectory.run { directory in
            let sent = EventRequest(
                phoneNumber: Self.number, outcome: "missed", surface: "sip", deviceID: "gateway-1",
                displayedAt: "2025-12-31T23:59:30.250+00:00", eventKey: "missed:1",
                meta: [
                    "call_event_id": .string("1"), "ring_duration_seconds": .int(12), "branding_applied": .bool(true),
                    "deep": .object(["list": .array([.null, .double(1.5), .string("ü\u{7}")])]),
                ])
            let response = try await directory.event(sent)
            let recorded = try #require(try EventLedger(directory.database).page(.init(), limit: 10).events.first)
            #expect(recorded.eventID == response.eventID)
            #expect(recorded.number == sent.phoneNumber)
            #expect(recorded.outcome == sent.outcome)
            #expect(recorded.surface == sent.surface)
            #expect(recorded.deviceID == sent.deviceID)
            #expect(recorded.displayedAt == sent.displayedAt)
            #expect(recorded.eventKey == sent.eventKey)
            #expect(recorded.meta == sent.meta)
            #expect(recorded.receivedAt == "2026-01-01T00:00:00Z")
            #expect(!recorded.counted)
        }
    }

    @Test func `fifty posts of one key at once are one event`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            let request = EventRequest(phoneNumber: Self.number, outcome: "displayed", eventKey: "displayed:1")
            let responses = try await withThrowingTaskGroup { group in
                for _ in 0..<50 { group.addTask { try await directory.event(request) } }
                return try await group.reduce(into: [EventResponse]()) { $0.append($1) }
            }
            #expect(Set(responses.map(\.eventID)).count == 1)
            #expect(responses.allSatisfy { $0.counted == true && $0.config?.usedThisMonth == 1 })
            #expect(try EventLedger(directory.database).page(.init(), limit: 100).events.count == 1)
        }
    }

    @Test func `a retry gets the first response, whatever has changed since`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            let request = EventRequest(phoneNumber: Self.number, outcome: "displayed", eventKey: "displayed:1")
            let first = try await directory.event(request)
            try directory.deactivate(Self.number)
            directory.time.now = ManualTime.start + 60
            var second = try await directory.event(request)
            second.config = first.config
            #expect(first == second)
        }
    }

    @Test func `events without a key are each their own`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            let request = EventRequest(phoneNumber: Self.number, outcome: "displayed")
            let first = try await directory.event(request)
            let second = try await directory.event(request)
            #expect(first.eventID != second.eventID)
            #expect(second.config?.usedThisMonth == 2)
        }
    }

    @Test func `a cap holds until the month ends`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            var change = AccountStore.Change()
            change.cap = 2
            try AccountStore(directory.database).change(change)
            let request = EventRequest(phoneNumber: Self.number, outcome: "displayed")
            var reasons: [String?] = []
            for _ in 0..<3 { reasons.append(try await directory.event(request).reason) }
            #expect(reasons == [nil, nil, "cap_reached"])
            // 2026-02-01T00:00:00Z.
            directory.time.now = 1_769_904_000
            let next = try await directory.event(request)
            #expect(next.counted == true)
            #expect(next.config?.usedThisMonth == 1)
        }
    }
}
