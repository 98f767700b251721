// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Testing

@Suite("JSON values, RFC 8259")
struct JSONValueTests {
    static let values: [(text: String, value: JSONValue)] = [
        ("null", .null), ("true", .bool(true)), ("false", .bool(false)), ("1", .int(1)), ("0", .int(0)),
        ("-5", .int(-5)), ("1.0", .int(1)), ("1e3", .int(1000)), ("1.5", .double(1.5)),
        ("9223372036854775807", .int(.max)), ("12345678901234567890", .double(12_345_678_901_234_567_168)),
        (#""ü\u0007""#, .string("ü\u{7}")), (#""""#, .string("")), ("[]", .array([])), ("{}", .object([:])),
        (
            #" [1, [true, null], {"a": "b"}] "#,
            .array([.int(1), .array([.bool(true), .null]), .object(["a": .string("b")])])
        ),
    ]

    @Test(arguments: values)
    func `parsing and decoding a text give the same value`(row: (text: String, value: JSONValue)) throws {
        #expect(try JSONValue(parsing: row.text.utf8) == row.value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(row.text.utf8)) == row.value)
    }

    /// Texts that Foundation accepts or rejects; the one pass must decide in the same way, or leave the decision to it.
    static let texts: [String] = [
        #"{"a":1,"a":2}"#, #""\ud83c\udfe6""#, #""\ud83c""#, #""\u00e9\/\b\f\n\r\t\"\\""#, #""\x""#, #""\u12g4""#,
        #""\u12"#,
        "01", "-0", "-", "+1", "1.", ".5", "1e", "1e+", "1E-2", "2.50", "-1.25e2", "1e400", "0.0", "-0.0", "1e-400",
        "123456789012345678", "1234567890123456789", "-123456789012345678", "99999999999999999999999999", "1.0e18",
        "1e19",
        "[1,]", "[,1]", "{,}", #"{"a":1,}"#, #"{"a" 1}"#, #"{a:1}"#, "[1 2]", "truefalse", "tru", "nullx", "[nul]",
        "\u{FEFF}1", "\t\r\n 5 \n", "\u{c}5", #"{"":{"":[]}}"#, "\"\u{7f}\u{2028}🏦\"", "\"\t\"", "//1", "1//", "'a'",
        #"{"a":{"b":[1,2,{"c":null}]},"d":"e","f":-7.5}"#, "[[[]]]", "[}", "{]",
    ]

    @Test(arguments: texts)
    func `one pass over a text decides as Foundation does`(text: String) throws {
        // Without contiguous bytes the text goes to Foundation alone.
        let slow = try? JSONValue(parsing: AnySequence(text.utf8))
        #expect((try? JSONValue(parsing: Array(text.utf8))) == slow)
    }

    @Test func `what is written is read as the same value`() throws {
        let value: [String: JSONValue] = [
            "text": .string("Grüße \"🏦\" \\ / \u{1}\u{1f}\n\u{7f}"), "": .null,
            "list": .array([.int(-5), .bool(true), .array([])]),
            "number": .double(1.5), "large": .double(1e300), "object": .object(["a": .object([:])]), "no": .bool(false),
        ]
        #expect(try JSONValue.object(parsing: JSONValue.text(value).utf8) == value)
    }

    /// Every member present, and every member absent.
    @Test func `a response is written as its encoder does`() throws {
        var full = EventResponse(success: true)
        (full.eventID, full.outcome, full.counted, full.reason) = ("id \"1\"", "displayed", false, "no_match")
        (full.displayedAt, full.imprintID, full.accepted, full.partial) = ("2026-01-01T00:00:00Z", "i", true, true)
        full.warningCode = "invalid_meta"
        var config = DirectoryConfig()
        (config.mode, config.brandingEnabled, config.voipDialerEnabled, config.accountStatus) = (
            "live", true, false, "active"
        )
        (config.clientID, config.usedThisMonth, config.includedImprintsMonthly) = ("c", 7, 0)
        for cap in [MonthlyCap.unlimited, .events(5), nil] {
            for gates in [nil, DirectoryConfig.DebugUI()] {
                (config.capThisMonth, config.debugUI) = (cap, gates)
                full.config = config
                for response in [full, EventResponse(success: false)] {
                    var text = JSONText()
                    response.write(to: &text)
                    #expect(
                        try JSONValue(parsing: text.bytes) == JSONValue(parsing: try JSONEncoder().encode(response)))
                }
            }
        }
    }

    @Test(arguments: ["", " ", "{", "[1", "{\"a\"}", "nul", "1 2", "\"\u{1}\"", "{}{}", "NaN"])
    func `invalid JSON is rejected`(text: String) {
        #expect(throws: JSONValue.ParsingError.malformed) { try JSONValue(parsing: text.utf8) }
    }

    @Test func `bytes that are not UTF-8 are rejected`() {
        #expect(throws: JSONValue.ParsingError.malformed) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
    }

    @Test func `nesting deeper than 32 levels is rejected`() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(32).utf8) }
        #expect(throws: JSONValue.ParsingError.tooDeep) { try JSONValue(parsing: nested(33).utf8) }
        #expect(throws: JSONValue.ParsingError.tooDeep) { try JSONValue(parsing: nested(480).utf8) }
        #expect(throws: JSONValue.ParsingError.malformed) { try JSONValue(parsing: nested(100_000).utf8) }
    }
}
