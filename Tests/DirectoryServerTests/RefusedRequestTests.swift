// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import TestFixtures
import Testing

/// Requests that are refused with 400, and leave nothing behind.
@Suite("Bad requests", .timeLimit(.minutes(8)), .bothEngines)
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

    static let bodies = [
        event("no body", "", "JSON object"),
        event("broken JSON", #"{"phone_number_e164":"#, "JSON object"),
        event("an array", #"[{"phone_number_e164":"+61491570156","outcome":"displayed"}]"#, "JSON object"),
        event("a text", #""displayed""#, "JSON object"),
        event("null", "null", "JSON object"),
        event("two objects", "{}{}", "JSON object"),
        event("deep nesting", String(repeating: "[", count: 100_000), "JSON object"),
        Bad(what: "no device_id", path: APIPath.register, body: #"{"platform":"sip"}"#, says: "device_id"),
        Bad(
            what: "an empty device_id", path: APIPath.register, body: #"{"device_id":"","platform":"sip"}"#,
            says: "device_id"),
        Bad(what: "a device_id that is a number", path: APIPath.update, body: #"{"device_id":7}"#, says: "device_id"),
        Bad(what: "presence of nobody", path: APIPath.presence, body: "{}", says: "device_id"),
        Bad(
            what: "an imprint of nobody", path: APIPath.imprint, body: #"{"phone_number_e164":"+61491570156"}"#,
            says: "device_id"),
        Bad(what: "an acknowledgement that is a list", path: APIPath.sync, body: "[]", says: "JSON object"),
        Bad(what: "a log line that is a text", path: APIPath.deviceLog, body: #""line""#, says: "JSON object"),
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
            let response = try await directory.ask(
                "/api/" + bad.path, method: bad.body == nil ? "GET" : "POST", body: bad.body ?? "")
            #expect(response.status == 400)
            #expect(response.isEnvelope("bad_request"))
            #expect(response.text.contains(bad.says), "\(response.text)")
            #expect(try EventLedger(directory.database).page(.init(), limit: 10).events.isEmpty)
        }
    }

    @Test func `a hostile field name is cut short and stays inside the JSON text`() async throws {
        try await RunningDirectory.run { directory in
            let name = String(repeating: "x", count: 5000)
            let long = try await directory.post("/" + APIPath.token, "{\"\(name)\":1}")
            #expect(long.isEnvelope("bad_request"))
            #expect(long.body.count < 300)
            let quotes = try await directory.post("/" + APIPath.token, #"{"\"},\u0000\r\n":1}"#)
            #expect(quotes.isEnvelope("bad_request"), "\(quotes.text)")
        }
    }
}
