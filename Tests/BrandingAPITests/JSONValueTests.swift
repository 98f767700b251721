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
