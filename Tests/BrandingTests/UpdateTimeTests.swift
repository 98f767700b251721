// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Timestamps of records, ISO 8601")
struct UpdateTimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.000001Z", 1),
        ("2026-01-31T23:59:59Z", 1_769_903_999_000_000),
        ("2026-01-31T23:59:59.5Z", 1_769_903_999_500_000),
        ("2026-01-31T23:59:59.123456789Z", 1_769_903_999_123_456),
        ("2026-02-01T09:59:59+10:00", 1_769_903_999_000_000),
        ("2026-01-31T18:59:59-0500", 1_769_903_999_000_000),
        ("2026-01-31T18:59:59-05", 1_769_903_999_000_000),
        ("2026-01-31 23:59:59", 1_769_903_999_000_000),
        ("2026-01-31t23:59:59z", 1_769_903_999_000_000),
        ("2024-02-29T12:00:00Z", 1_709_208_000_000_000),
        ("2000-03-01T00:00:00Z", 951_868_800_000_000),
        ("1969-12-31T23:59:59Z", -1_000_000),
    ])
    func `different spellings of one timestamp are one instant`(text: String, microseconds: Int64) {
        #expect(UpdateTime(text).microseconds == microseconds)
    }

    @Test(arguments: [
        "", "yesterday", "2026-01-31", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-32T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00Zjunk", "2026-01-01T00:00:00+1", "2026-01-01T00:00:00+99:00", "+026-01-01T00:00:00Z",
    ])
    func `an unreadable timestamp is older than every other`(text: String) {
        #expect(UpdateTime(text) == .never)
        #expect(UpdateTime(text) < UpdateTime("0001-01-01T00:00:00Z"))
    }
}
