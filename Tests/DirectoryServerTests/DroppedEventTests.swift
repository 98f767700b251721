// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import Foundation
import TestFixtures
import Testing

/// Events that cannot count: they get a success response, because a phone's queue stops at the first refusal.
@Suite("Events that cannot count", .timeLimit(.minutes(8)), .bothEngines)
struct DroppedEventTests {
    struct Odd: Sendable, CustomTestStringConvertible {
        var what: String
        var body: String
        /// The field that is to blame.
        var field: String

        var testDescription: String { what }
    }

    private static func odd(_ what: String, _ fields: String, _ field: String, number: String = "\"+61491570156\"")
        -> Odd
    {
        Odd(what: what, body: "{\"phone_number_e164\":\(number),\"outcome\":\"displayed\"\(fields)}", field: field)
    }

    private static let nested = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)

    // securenode-endpoint-contract §7 and §7b: the number is E.164, a key has at most 200 characters.
    static let events = [
        odd("a short code", "", "phone_number_e164", number: "\"12345\""),
        odd("a number without its plus", "", "phone_number_e164", number: "\"61491570156\""),
        odd("a national number", "", "phone_number_e164", number: "\"0491570156\""),
        odd("a number with blanks", "", "phone_number_e164", number: "\"+61 491 570 156\""),
        odd("an empty number", "", "phone_number_e164", number: "\"\""),
        odd("no number at all", "", "phone_number_e164", number: "null"),
        odd("a number as a number", "", "phone_number_e164", number: "61491570156"),
        odd("a number that hides its end", "", "phone_number_e164", number: #""+61491570156\u0000\u202e""#),
        Odd(what: "no outcome", body: #"{"phone_number_e164":"+61491570156"}"#, field: "outcome"),
        Odd(what: "an empty object", body: "{}", field: "phone_number_e164"),
        Odd(what: "an empty outcome", body: #"{"phone_number_e164":"+61491570156","outcome":""}"#, field: "outcome"),
        Odd(
            what: "an outcome that is a list", body: #"{"phone_number_e164":"+61491570156","outcome":["displayed"]}"#,
            field: "outcome"),
        Odd(
            what: "a long outcome",
            body: #"{"phone_number_e164":"+61491570156","outcome":"\#(String(repeating: "o", count: 65))"}"#,
            field: "outcome"),
        odd("a long surface", ",\"surface\":\"\(String(repeating: "s", count: 65))\"", "surface"),
        odd("a surface that is a number", ",\"surface\":1", "surface"),
        odd("a long device_id", ",\"device_id\":\"\(String(repeating: "d", count: 129))\"", "device_id"),
        odd("a time that is a word", ",\"displayed_at\":\"yesterday\"", "displayed_at"),
        odd("a time in seconds", ",\"displayed_at\":1767225600", "displayed_at"),
        odd("meta of 17 kB", ",\"meta\":{\"a\":\"\(String(repeating: "x", count: 17_000))\"}", "meta"),
        odd("meta as a text", ",\"meta\":\"x\"", "meta"),
        odd("meta of 41 levels", ",\"meta\":{\"a\":\(nested)}", "meta"),
        odd("a request id that is no UUID", ",\"branding_request_id\":\"x\"", "branding_request_id"),
        odd("an empty key", ",\"event_key\":\"\"", "event_key"),
    ]

    @Test(arguments: events)
    func `an odd event is accepted, kept, and does not count`(odd: Odd) async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            let response = try await directory.post("/api/" + APIPath.event, odd.body)
            #expect(response.status == 202, "\(response.text)")
            #expect(PublishedShapes.problem(of: response, to: "POST", APIPath.event) == nil)
            let event = try response.decoded(EventResponse.self)
            #expect(event.success && event.counted == false)
            #expect(event.reason == "event_dropped")
            #expect(event.warningCode == "invalid_\(odd.field)")
            #expect(event.accepted == true && event.partial == true)
            #expect(event.config?.usedThisMonth == 0)
            let kept = try EventLedger(directory.database).page(.init(), limit: 2).events
            #expect(kept.map(\.eventID) == [event.eventID])
            #expect(kept.first?.warning == event.warningCode)
            #expect(kept.first?.number.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x202E } == true)
        }
    }

    // An iOS phone that is newer than this server, an Android phone with its second name of the key.
    @Test(arguments: [#","caller":"x""#, #","idempotency_key":"k""#, #","surface":null,"meta":null,"event_key":null"#])
    func `fields that are unknown or null do no harm`(more: String) async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            let body = #"{"phone_number_e164":"+61491570156","outcome":"displayed"\#(more)}"#
            let response = try await directory.post("/" + APIPath.event, body)
            #expect(response.status == 200)
            #expect(response.object["counted"] == .bool(true))
        }
    }

    @Test(arguments: [
        #""event_key":"k1""#, #""idempotency_key":"k1""#, #""event_key":null,"idempotency_key":"k1""#,
        "\"event_key\":\"\(String(repeating: "k", count: 201))\"", #""event_key":7"#,
    ])
    func `a repeated invalid event gets its first response`(key: String) async throws {
        try await RunningDirectory.run { directory in
            let body = #"{"phone_number_e164":"12345","outcome":"displayed",\#(key)}"#
            let first = try await directory.post("/" + APIPath.event, body)
            directory.time.now += 60
            let second = try await directory.post("/" + APIPath.event, body)
            #expect(first.status == 202 && second.status == 202)
            #expect(first.object == second.object)
            #expect(try EventLedger(directory.database).page(.init(), limit: 3).events.count == 1)
        }
    }

    @Test func `two keys that begin alike are two, however long they are`() async throws {
        try await RunningDirectory.run { directory in
            let long = String(repeating: "k", count: 400)
            for end in ["a", "b", "a"] {
                let body = #"{"phone_number_e164":"+61491570156","outcome":"missed","event_key":"\#(long)\#(end)"}"#
                let response = try await directory.post("/" + APIPath.event, body)
                #expect(response.status == 202)
            }
            #expect(try EventLedger(directory.database).page(.init(), limit: 5).events.count == 2)
        }
    }

    @Test func `a report says how many were dropped`() async throws {
        try await RunningDirectory.run { directory in
            _ = try await directory.post("/" + APIPath.event, #"{"phone_number_e164":"12345","outcome":"displayed"}"#)
            let report = try #require(try MonthReports(directory.database).reports(month: "2026-01").first)
            #expect(report.reasons == ["event_dropped": 1])
            #expect(report.counted == 0)
        }
    }
}
