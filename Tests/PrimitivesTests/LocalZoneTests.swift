// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@Suite("Local time beside UTC")
struct LocalZoneTests {
    private static func zone(_ hours: Double, _ name: String) -> LocalZone {
        LocalZone { _ in .init(seconds: Int64(hours * 3600), name: name) }
    }

    /// Dates of RFC 3339 §5.8, and the first and last year that four digits hold.
    @Test(
        arguments: [
            (0, 0, "UTC", "1970-01-01 00:00:00 UTC"), (482_196_050, 0, "UTC", "1985-04-12 23:20:50 UTC"),
            (851_042_397, -8, "PST", "1996-12-19 16:39:57 PST"), (-1, 1, "CET", "1970-01-01 00:59:59 CET"),
            (1_767_225_600, 5.75, "+0545", "2026-01-01 05:45:00 UTC+05:45"),
            (.max, 0, "UTC", "9999-12-31 23:59:59 UTC"), (.min, 0, "UTC", "0001-01-01 00:00:00 UTC"),
        ] as [(Int64, Double, String, String)])
    func `a moment is the time of the clock on the wall`(
        seconds: Int64, hours: Double, name: String, text: String
    ) {
        #expect(Self.zone(hours, name).text(seconds) == text)
    }

    @Test(
        arguments: [
            (1_767_268_805, -5, "12:00:05 UTC"), (1_767_225_600, -5, "2026-01-01 00:00:00 UTC"),
            (1_767_225_600, 0, nil),
        ] as [(Int64, Double, String?)])
    func `UTC beside it has the date where that is another one`(seconds: Int64, hours: Double, text: String?) {
        #expect(Self.zone(hours, "X").utc(beside: seconds) == text)
    }

    @Test func `a timestamp has its offset`() {
        #expect(Self.zone(-5, "EST").timestamp(1_767_268_805) == "2026-01-01T07:00:05-05:00")
        #expect(LocalZone.utc.timestamp(1_767_268_805) == "2026-01-01T12:00:05Z")
    }
}
