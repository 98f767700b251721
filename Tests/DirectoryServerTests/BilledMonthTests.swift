// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import Foundation
import TestFixtures
import Testing

/// The month of an event: that of its display, up to seven days before the receipt.
@Suite("The month of an event", .timeLimit(.minutes(8)), .bothEngines)
struct BilledMonthTests {
    private static let number = "+61491570156"

    /// 2026-01-03T12:00:00Z, on the third day of a month.
    private static let receipt = ManualTime.start + 2 * 86_400 + 43_200

    private static func display(_ time: String?, key: String, outcome: String = "displayed") -> EventRequest {
        var event = EventRequest(phoneNumber: number, outcome: outcome, eventKey: key)
        event.displayedAt = time
        return event
    }

    private static func counted(_ directory: RunningDirectory, _ month: String) throws -> [String: Int] {
        try MonthReports(directory.database).reports(month: month)[0].rows
            .filter { $0.reason == nil }.reduce(into: [:]) { $0[$1.day, default: 0] += $1.events }
    }

    @Test(
        arguments: [
            ("2025-12-31T23:59:59Z", "2025-12-31"), ("2026-01-01T00:00:00Z", "2026-01-01"),
            // Of another offset than UTC.
            ("2026-01-01T09:59:59+10:00", "2025-12-31"), ("2025-12-31T20:00:00-05:00", "2026-01-01"),
            // At the begin of the window, and before it.
            ("2025-12-27T12:00:00Z", "2025-12-27"), ("2025-12-27T11:59:59Z", "2026-01-03"),
            // Later than the receipt, by a second and by years.
            ("2026-01-03T12:00:01Z", "2026-01-03"), ("2031-05-05T05:05:05Z", "2026-01-03"),
            ("1970-01-01T00:00:00Z", "2026-01-03"), (nil, "2026-01-03"),
        ] as [(String?, String)])
    func `is that of the display within seven days, else of the receipt`(time: String?, day: String) async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            directory.time.now = Self.receipt
            let event = Self.display(time, key: "k")
            #expect(try await directory.event(event).counted == true)
            #expect(try await directory.event(event).counted == true, "a retry")
            #expect(try Self.counted(directory, String(day.prefix(7))) == [day: 1])
            let other = day.hasPrefix("2025") ? "2026-01" : "2025-12"
            #expect(try Self.counted(directory, other).isEmpty)
            let used = try AccountStore(directory.database).config(now: Self.receipt).usedThisMonth
            #expect(used == (day.hasPrefix("2026") ? 1 : 0))
        }
    }

    @Test func `has a cap of its own`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            try directory.change { $0.cap = 2 }
            directory.time.now = Self.receipt
            let (december, january) = ("2025-12-31T10:00:00Z", "2026-01-02T10:00:00Z")
            var found: [String] = []
            for (key, time) in [
                ("d1", december), ("j1", january), ("d2", december), ("d3", december), ("j2", january), ("j3", january),
            ] {
                let response = try await directory.event(Self.display(time, key: key))
                let config = try #require(response.config)
                found.append(
                    "\(response.reason ?? "counted") \(config.usedThisMonth ?? -1) \(config.brandingEnabled == true)")
            }
            // The gate is that of the present month.
            #expect(
                found == [
                    "counted 0 true", "counted 1 true", "counted 1 true", "cap_reached 1 true", "counted 2 false",
                    "cap_reached 2 false",
                ])
        }
    }

    @Test func `events of one batch go to their own months`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            directory.time.now = Self.receipt
            let events = ["2025-12-30T10:00:00Z", "2026-01-02T10:00:00Z", "2025-12-30T11:00:00Z"].enumerated().map {
                ReportedEvent(Self.display($1, key: "k\($0)"))
            }
            let responses = try await EventLedger(directory.database).record(events, now: Self.receipt)
            #expect(responses.map(\.counted) == [true, true, true])
            #expect(try Self.counted(directory, "2025-12") == ["2025-12-30": 2])
            #expect(try Self.counted(directory, "2026-01") == ["2026-01-02": 1])
        }
    }

    @Test func `a display before its number was taken out counts, a later one does not`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            // Taken out on 2 January at noon.
            directory.time.now = Self.receipt - 86_400
            try directory.deactivate(Self.number)
            directory.time.now = Self.receipt
            var reasons: [String] = []
            for (key, time) in [
                ("a", "2026-01-02T11:59:59Z"), ("b", "2026-01-02T12:00:00Z"), ("c", "2026-01-03T11:00:00Z"), ("d", nil),
                // Outside of the window.
                ("e", "2025-12-20T12:00:00Z"),
            ] as [(String, String?)] {
                reasons.append(try await directory.event(Self.display(time, key: key)).reason ?? "counted")
            }
            #expect(reasons == ["counted", "no_match", "no_match", "no_match", "no_match"])
            let row = try MonthReports(directory.database).reports(month: "2026-01")[0].rows.first { $0.reason == nil }
            #expect(row?.brandID == "acme")
        }
    }

    @Test func `an account in testing counts as a live one, and its report says so`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            try directory.change { ($0.mode, $0.cap) = ("testing", 1) }
            #expect(try await directory.report("displayed").counted == true)
            #expect(try await directory.report("displayed").reason == "cap_reached")
            let report = try MonthReports(directory.database).reports(month: "2026-01")[0]
            #expect(report.mode == "testing" && report.counted == 1)
            #expect(MonthReport.csv([report]).contains(",counted,reason,events,mode\r\n"))
            #expect(MonthReport.csv([report]).contains("displayed,yes,,1,testing\r\n"))
        }
    }
}
