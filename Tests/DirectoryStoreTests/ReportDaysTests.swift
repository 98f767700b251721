// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import DirectoryStore

@Suite struct ReportDaysTests {
    /// A zone with summer time between two moments, in seconds since 1970.
    private static func zone(_ hours: Double, _ winter: String, _ summer: String, _ begin: Int64, _ end: Int64)
        -> LocalZone
    {
        LocalZone { moment in
            (begin..<end).contains(moment)
                ? .init(seconds: Int64(hours * 3600) + 3600, name: summer)
                : .init(seconds: Int64(hours * 3600), name: winter)
        }
    }

    // 29 March and 25 October 2026, 01:00 UTC.
    static let berlin = zone(1, "CET", "CEST", 1_774_746_000, 1_792_890_000)
    // 8 March, 07:00 UTC, and 1 November 2026, 06:00 UTC.
    static let newYork = zone(-5, "EST", "EDT", 1_772_953_200, 1_793_512_800)
    static let adelaide = LocalZone { _ in .init(seconds: 37_800, name: "ACDT") }

    @Test(arguments: [
        ("2026-01", LocalZone.utc, ""),
        ("2026-01", berlin, " Here a day begins at 01:00 CET."),
        ("2026-07", berlin, " Here a day begins at 02:00 CEST."),
        // The day of the change begins before the change.
        ("2026-03", berlin, " Here a day begins at 01:00 CET, from 2026-03-30 at 02:00 CEST."),
        ("2026-10", berlin, " Here a day begins at 02:00 CEST, from 2026-10-26 at 01:00 CET."),
        (
            "2026-11", newYork,
            " Here a day begins at 20:00 EDT on the day before, from 2026-11-02 at 19:00 EST on the day before."
        ),
        ("2026-12", adelaide, " Here a day begins at 10:30 ACDT."),
        ("2026-13", berlin, ""), ("", berlin, ""),
    ])
    func `the zone of a report's days is named, and when they begin here`(month: String, zone: LocalZone, here: String)
    {
        #expect(ReportDays(of: month, in: zone).text == "Days and months are in UTC, as on the bill." + here)
    }

    @Test func `a zone that has UTC for a part of a month is named for the other part`() {
        let london = Self.zone(0, "GMT", "BST", 1_774_746_000, 1_792_890_000)
        #expect(
            ReportDays(of: "2026-10", in: london).text
                == "Days and months are in UTC, as on the bill. "
                + "Here a day begins at 01:00 BST, from 2026-10-26 at 00:00 UTC.")
    }
}
