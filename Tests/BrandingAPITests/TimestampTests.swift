// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Testing

@Suite("Timestamps of the contract, ISO 8601")
struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_769_860_800, "2026-01-31T12:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (4_102_444_800, "2100-01-01T00:00:00Z"), (-86_400, "1969-12-31T00:00:00Z"),
            (-2_203_891_201, "1900-02-28T23:59:59Z"), (-2_203_891_200, "1900-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"),
        ] as [(Int64, String)])
    func `seconds are written in UTC and parsed back`(seconds: Int64, text: String) {
        #expect(Timestamp.string(from: seconds) == text)
        #expect(Timestamp.seconds(from: text) == seconds)
    }

    @Test(arguments: [
        "2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.250Z", "2026-01-31T12:00:00.123456Z",
        "2026-01-31T12:00:00.000000000042Z", "2026-01-31T12:00:00+00:00", "2026-01-31T22:00:00+10:00",
        "2026-01-31T07:00:00-05:00", "2026-01-31T22:00:00.999+10:00", "2026-01-31T17:30:00.1+05:30",
        "2026-01-31T12:00:00",
    ])
    func `fractions and offsets are parsed`(text: String) {
        #expect(Timestamp.seconds(from: text) == 1_769_860_800)
    }

    @Test(arguments: [
        "", "now", "2026-01-31", "12:00:00Z", "2026-02-32T12:00:00Z", "2026-13-01T12:00:00Z", "1769860800",
        "2026-01-31T12:00:00Z and more",
    ])
    func `text that is not a timestamp is nil`(text: String) {
        #expect(Timestamp.seconds(from: text) == nil)
    }

    @Test(arguments: [(Int64.max, "9999-12-31T23:59:59Z"), (Int64.min, "0001-01-01T00:00:00Z")])
    func `a time beyond four digits of years is written as the nearest`(seconds: Int64, text: String) {
        #expect(Timestamp.string(from: seconds) == text)
    }
}
