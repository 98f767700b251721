// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Directory
import Testing

/// Requests that are refused with 400, and leave nothing behind.
@Suite("Bad requests", .timeLimit(.minutes(8)))
struct RefusedRequestTests {
    struct Bad: Sendable, CustomTestStringConvertible {
        var what: String
        var path: String
        /// Nil for a GET.
        var body: String?
        /// A part of the message.
        var says: String

        var testDescription: String { what }
    }

    private static func event(_ what: String, _ body: String, _ says: String) -> Bad {
        Bad(what: what, path: APIPath.event, body: body, says: says)
    }

    private static let long = String(repeating: "k", count: 201)

    static let bodies = [
        event("no body", "", "JSON object"),
        event("broken JSON", #"{"phone_number_e164":"#, "JSON object"),
        event("an array", #"[{"phone_number_e164":"+61491570156","outcome":"displayed"}]"#, "JSON object"),
        event("a text", #""displayed""#, "JSON object"),
        event("null", "null", "JSON object"),
        event("two objects", "{}{}", "JSON object"),
        event("deep nesting", String(repeating: "[", count: 100_000), "JSON object"),
        event(
            "33 levels", "{\"meta\":" + String(repeating: "[", count: 32) + String(repeating: "]", count: 32) + "}",
            "32 levels"),
        event(
            "an unknown field", #"{"phone_number_e164":"+61491570156","outcome":"displayed","caller":"x"}"#,
            "Unknown field caller"),
        event("a number as a number", #"{"phone_number_e164":61491570156,"outcome":"displayed"}"#, "phone_number_e164"),
        event("an outcome that is null", #"{"phone_number_e164":"+61491570156","outcome":null}"#, "outcome"),
        event("meta as a text", #"{"phone_number_e164":"+61491570156","outcome":"displayed","meta":"x"}"#, "meta"),
        event("no outcome", #"{"phone_number_e164":"+61491570156"}"#, "Missing field outcome"),
        event("no number", #"{"outcome":"displayed"}"#, "Missing field phone_number_e164"),
        event("a national number", #"{"phone_number_e164":"0491570156","outcome":"displayed"}"#, "phone_number_e164"),
        event(
            "a number with blanks", #"{"phone_number_e164":"+61 491 570 156","outcome":"displayed"}"#,
            "phone_number_e164"),
        event("an empty number", #"{"phone_number_e164":"","outcome":"displayed"}"#, "phone_number_e164"),
        event("an empty outcome", #"{"phone_number_e164":"+61491570156","outcome":""}"#, "outcome"),
        event(
            "a long outcome", #"{"phone_number_e164":"+61491570156","outcome":"\#(long.prefix(65))"}"#, "outcome"),
        event(
            "a long event_key", #"{"phone_number_e164":"+61491570156","outcome":"displayed","event_key":"\#(long)"}"#,
            "event_key"),
        event(
            "an empty event_key", #"{"phone_number_e164":"+61491570156","outcome":"displayed","event_key":""}"#,
            "event_key"),
        event(
            "a displayed_at that is no time",
            #"{"phone_number_e164":"+61491570156","outcome":"displayed","displayed_at":"yesterday"}"#, "displayed_at"),
        Bad(what: "no device_id", path: APIPath.register, body: #"{"platform":"sip"}"#, says: "device_id"),
        Bad(
            what: "an empty device_id", path: APIPath.register, body: #"{"device_id":"","platform":"sip"}"#,
            says: "device_id"),
        Bad(
            what: "an unknown field of a device", path: APIPath.update,
            body: #"{"device_id":"a","platform":"sip","imei":"1"}"#, says: "Unknown field imei"),
        Bad(what: "no observed_at", path: APIPath.presence, body: #"{"device_id":"a"}"#, says: "observed_at"),
        Bad(
            what: "an acknowledgement without numbers", path: APIPath.sync,
            body: #"{"last_synced_at":"2026-01-01T00:00:00Z"}"#, says: "e164_numbers"),
    ]

    static let queries = [
        Bad(what: "since a word", path: APIPath.sync + "?since=yesterday", says: "since"),
        Bad(what: "since a date", path: APIPath.sync + "?since=2026-01-01", says: "since"),
        Bad(what: "since a month 13", path: APIPath.sync + "?since=2026-13-01T00:00:00Z", says: "since"),
        Bad(what: "since seconds of 1970", path: APIPath.sync + "?since=1767225600", says: "since"),
        Bad(what: "no e164", path: APIPath.lookup, says: "e164"),
        Bad(what: "an empty e164", path: APIPath.lookup + "?e164=", says: "e164"),
        Bad(what: "an e164 without a plus", path: APIPath.lookup + "?e164=61491570156", says: "e164"),
        Bad(what: "an e164 with letters", path: APIPath.lookup + "?e164=%2B6149157015x", says: "e164"),
        Bad(what: "an e164 of sixteen digits", path: APIPath.lookup + "?e164=%2B6149157015612345", says: "e164"),
    ]

    @Test(arguments: bodies + queries)
    func `a bad request is refused in the envelope and leaves nothing`(bad: Bad) async throws {
        try await RunningDirectory.run { directory in
            let answer = try await directory.ask(
                "/api/" + bad.path, method: bad.body == nil ? "GET" : "POST", body: bad.body ?? "")
            #expect(answer.status == 400)
            #expect(answer.isEnvelope("bad_request"))
            #expect(answer.text.contains(bad.says), "\(answer.text)")
            #expect(try EventLedger(directory.database).page(.init(), limit: 10).events.isEmpty)
        }
    }

    @Test func `a hostile field name is cut short and stays inside the JSON text`() async throws {
        try await RunningDirectory.run { directory in
            let name = String(repeating: "x", count: 5000)
            let long = try await directory.post("/" + APIPath.event, "{\"\(name)\":1}")
            #expect(long.isEnvelope("bad_request"))
            #expect(long.body.count < 300)
            let quotes = try await directory.post("/" + APIPath.event, #"{"\"},\u0000\r\n":1}"#)
            #expect(quotes.isEnvelope("bad_request"), "\(quotes.text)")
        }
    }
}
