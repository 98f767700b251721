// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("The end of a call", .timeLimit(.minutes(8)))
struct CallResultTests {
    /// The events and the `call_outcome` of docs/events.md, and the names of other directories (`outcomes.vocabulary`).
    @Test(
        arguments: [
            ("call_seen", "ANSWERED", .answered), ("call_seen", "answered", .answered), ("call_seen", "REJECTED", nil),
            ("call_seen", "BLOCKED", nil), ("call_seen", "ANSWERED_ELSEWHERE", nil), ("call_seen", nil, nil),
            ("missed", "MISSED", .missed), ("missed", "BUSY", .missed), ("missed", nil, .missed),
            ("call_missed", nil, .missed), ("returned", nil, .returned), ("call_returned", "ANSWERED", .returned),
            ("answered", nil, .answered), ("seen", "ANSWERED", .answered), ("error", "FAILED", nil),
            // Sent at the end of the call, whose end has an event of its own.
            ("displayed", "ANSWERED", nil), ("displayed", "MISSED", nil),
            ("no_match", "MISSED", .missed), ("call_seen", "ANSWERED\u{0}", nil),
            ("call_seen", String(repeating: "A", count: 33), nil),
        ] as [(String, String?, CallResult?)])
    func `is that of its event`(outcome: String, callOutcome: String?, expected: CallResult?) {
        var event = EventRequest(phoneNumber: "+61491570156", outcome: outcome)
        event.meta = callOutcome.map { ["call_outcome": .string($0)] }
        #expect(CallResult(event) == expected)
        event.meta = ["call_outcome": .int(1)]
        #expect(CallResult.callOutcome(event) == nil)
    }

    @Test(.bothEngines) func `finds events by brand and call outcome`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        _ = try BrandEntries(database).put([entry("+61491570156")], now: ManualTime.start)
        let ledger = EventLedger(database)
        func record(_ number: String, _ end: String, _ key: String) async throws {
            var event = EventRequest(phoneNumber: number, outcome: "call_seen", eventKey: key)
            event.meta = ["call_outcome": .string(end)]
            _ = try await ledger.record(event, now: ManualTime.start)
        }
        try await record("+61491570156", "ANSWERED", "1")
        try await record("+61491570156", "REJECTED", "2")
        try await record("+61491570199", "ANSWERED", "3")
        func keys(_ edit: (inout EventLedger.Filter) -> Void) throws -> [String?] {
            var filter = EventLedger.Filter()
            edit(&filter)
            return try ledger.page(filter, limit: 9).events.map(\.eventKey)
        }
        #expect(try keys { $0.brandIDs = ["acme", "'; DROP TABLE event"] } == ["2", "1"])
        #expect(try keys { $0.brandIDs = [] }.isEmpty)
        #expect(try keys { $0.callOutcome = "ANSWERED" } == ["3", "1"])
        #expect(try keys { ($0.brandIDs, $0.callOutcome) = (["acme"], "ANSWERED") } == ["1"])
        let events = try ledger.page(.init(), limit: 9).events
        #expect(events.map(\.brandID) == [nil, "acme", "acme"])
        #expect(events.map(\.callOutcome) == ["ANSWERED", "REJECTED", "ANSWERED"])
        #expect(try BrandList(database).names(of: ["acme", "none"]) == ["acme": "Acme Bank"])
    }
}
