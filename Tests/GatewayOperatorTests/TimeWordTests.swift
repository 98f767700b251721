// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Primitives
import Testing

@testable import GatewayOperator

extension LocalZone {
    /// A zone of the database of zones, as Foundation reads it.
    static func named(_ identifier: String) throws -> LocalZone {
        let zone = try #require(TimeZone(identifier: identifier))
        return LocalZone { seconds in
            let difference = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
            return Difference(seconds: Int64(difference), name: difference == 0 ? "UTC" : "")
        }
    }

    /// A zone without changes.
    static func fixed(_ seconds: Int64, _ name: String) -> LocalZone {
        LocalZone { _ in Difference(seconds: seconds, name: name) }
    }
}

/// The changes of the clock are those of the database of zones, in UTC: New York 2026-03-08 07:00 and 2026-11-01 06:00, São Paulo
/// 2018-11-04 03:00 at midnight, Apia 2011-12-30 10:00, which left a whole day out.
@Suite("Times as operators write them")
struct TimeWordTests {
    /// A word at a moment in a zone, and the seconds that it means; nil for no time.
    struct Case: Sendable, CustomTestStringConvertible {
        let word: String
        let zone: String
        let now: String
        let span: (first: String, last: String)?

        init(_ word: String, _ zone: String, at now: String, _ first: String?, _ last: String? = nil) {
            (self.word, self.zone, self.now) = (word, zone, now)
            span = first.map { ($0, last ?? $0) }
        }

        var testDescription: String { "\(word) in \(zone) at \(now)" }
    }

    private static let noon = "2026-01-31T12:00:00Z"
    private static let york = "America/New_York"

    private static let lengths: [Case] = [
        Case("15m", "UTC", at: noon, "2026-01-31T11:45:00Z"), Case("1h", york, at: noon, "2026-01-31T11:00:00Z"),
        Case("90s", "UTC", at: noon, "2026-01-31T11:58:30Z"), Case("7d", york, at: noon, "2026-01-24T12:00:00Z"),
        Case("2w", "UTC", at: noon, "2026-01-17T12:00:00Z"), Case("1h30m", "UTC", at: noon, "2026-01-31T10:30:00Z"),
        Case("1.5h", "UTC", at: noon, "2026-01-31T10:30:00Z"), Case("-1h", "UTC", at: noon, "2026-01-31T11:00:00Z"),
        Case("2 days ago", "UTC", at: noon, "2026-01-29T12:00:00Z"),
        Case("1 hour", "UTC", at: noon, "2026-01-31T11:00:00Z"),
        Case(" 5min ", "UTC", at: noon, "2026-01-31T11:55:00Z"), Case("now", york, at: noon, noon),
        // A day is 24 hours, also over a change of the clock.
        Case("1d", york, at: "2026-03-08T15:00:00Z", "2026-03-07T15:00:00Z"),
        // Clocks that were never set, or jumped ahead.
        Case("1h", "UTC", at: "1970-01-01T00:00:00Z", "1969-12-31T23:00:00Z"),
        Case("1h", "UTC", at: "2099-12-31T23:30:00Z", "2099-12-31T22:30:00Z"),
    ]

    private static let days: [Case] = [
        Case("today", "UTC", at: noon, "2026-01-31T00:00:00Z", "2026-01-31T23:59:59Z"),
        Case("yesterday", "UTC", at: noon, "2026-01-30T00:00:00Z", "2026-01-30T23:59:59Z"),
        Case("Yesterday", york, at: noon, "2026-01-30T05:00:00Z", "2026-01-31T04:59:59Z"),
        // In the evening of New York it is tomorrow in UTC.
        Case("today", york, at: "2026-02-01T02:00:00Z", "2026-01-31T05:00:00Z", "2026-02-01T04:59:59Z"),
        Case("today", "Asia/Kolkata", at: "2026-01-31T20:00:00Z", "2026-01-31T18:30:00Z", "2026-02-01T18:29:59Z"),
        // A day of 23 hours, and one of 25.
        Case("today", york, at: "2026-03-08T15:00:00Z", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59Z"),
        Case("yesterday", york, at: "2026-11-02T15:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T04:59:59Z"),
        // A day without a midnight, and a day that was left out.
        Case("2018-11-04", "America/Sao_Paulo", at: noon, "2018-11-04T03:00:00Z", "2018-11-05T01:59:59Z"),
        Case("2011-12-30", "Pacific/Apia", at: noon, "2011-12-30T10:00:00Z", "2011-12-30T09:59:59Z"),
        Case("2026-01-31", york, at: noon, "2026-01-31T05:00:00Z", "2026-02-01T04:59:59Z"),
        Case("2026-01-31Z", york, at: noon, "2026-01-31T00:00:00Z", "2026-01-31T23:59:59Z"),
        Case("2024-02-29", "UTC", at: noon, "2024-02-29T00:00:00Z", "2024-02-29T23:59:59Z"),
        Case("yesterday", "UTC", at: "1970-01-01T00:00:00Z", "1969-12-31T00:00:00Z", "1969-12-31T23:59:59Z"),
    ]

    private static let moments: [Case] = [
        Case("2026-01-31 12:00", york, at: noon, "2026-01-31T17:00:00Z", "2026-01-31T17:00:59Z"),
        Case("2026-01-31T12:00:05", york, at: noon, "2026-01-31T17:00:05Z"),
        Case("2026-01-31T12:00:05Z", york, at: noon, "2026-01-31T12:00:05Z"),
        Case("2026-01-31 12:00 UTC", york, at: noon, "2026-01-31T12:00:00Z", "2026-01-31T12:00:59Z"),
        Case("2026-01-31T12:00:05+02:00", york, at: noon, "2026-01-31T10:00:05Z"),
        // As an address brings it whose plus sign nobody has encoded.
        Case("2026-01-31T12:00:05 02:00", york, at: noon, "2026-01-31T10:00:05Z"),
        Case("2026-01-31T12:00:05.250-0500", "UTC", at: noon, "2026-01-31T17:00:05Z"),
        // The half hour that the change skips, and the one that it repeats.
        Case("2026-03-08 02:30", york, at: noon, "2026-03-08T07:00:00Z", "2026-03-08T06:59:59Z"),
        Case("2026-11-01 01:30", york, at: noon, "2026-11-01T05:30:00Z", "2026-11-01T06:30:59Z"),
        Case("14:30", york, at: noon, "2026-01-31T19:30:00Z", "2026-01-31T19:30:59Z"),
        Case("14:30:05", "UTC", at: noon, "2026-01-31T14:30:05Z"),
        Case("@1769860800", york, at: noon, noon),
    ]

    private static let others: [Case] = [
        "", " ", "3600", "yesterdya", "tomorrow", "1,5h", "1M", "1y", "h", "1hh", "-", "--1h", "1h ago ago", "1e9h",
        "0x10s",
        "99999999999h", "999999999w", "2026-02-30", "2026-13-01", "2026-1-31", "2026-01-31T24:00", "2026-01-31T12",
        "2026-01-31T12:00:00+15:00", "2026-01-31T12:00:00+02:60", "24:00", "1:30", "@", "@-1", "@999999999999", "١h",
        "now; DROP TABLE call", "1h\u{0}", "\u{202E}1h", "'; --", String(repeating: "9", count: 300) + "h",
        "0000-00-00", "9999-99-99", "-2026-01-31",
    ].map { Case($0, york, at: noon, nil) }

    @Test(arguments: lengths + days + moments + others)
    func `a word means the seconds that the clock on the wall shows`(_ example: Case) throws {
        func seconds(_ text: String) throws -> Int64 { try #require(Timestamp.seconds(from: text)) }
        let zone = try LocalZone.named(example.zone)
        let word = TimeWord(example.word, now: try seconds(example.now), in: zone)
        #expect(word.map { Timestamp.string(from: $0.first) } == example.span?.first)
        #expect(word.map { Timestamp.string(from: $0.last) } == example.span?.last)
    }

    @Test func `an error names the accepted forms, and what was probably meant`() {
        #expect(
            TimeWord.problem(of: "yesterdya").hasPrefix(
                "is no time; did you mean \"yesterday\"?; give 15m, 1h, 7d, today"))
        #expect(TimeWord.problem(of: "noon").hasPrefix("is no time; did you mean \"now\"?") == false)
        #expect(TimeWord.problem(of: "3600").hasPrefix("has no unit; write 3600s, 3600m or 3600h"))
    }
}

@Suite("Local times beside UTC")
struct LocalZoneTests {
    /// 2026-01-31T02:00:05Z.
    private static let moment: Int64 = 1_769_824_805

    /// A difference with its name, and the texts of a moment in it.
    struct Row: Sendable {
        let seconds: Int64
        let name: String
        let local: String
        let page: String
        let command: String
        let timestamp: String
    }

    @Test(arguments: [
        Row(
            seconds: 0, name: "UTC", local: "2026-01-31 02:00:05 UTC", page: "2026-01-31 02:00:05 UTC",
            command: "2026-01-31T02:00:05Z", timestamp: "2026-01-31T02:00:05Z"),
        // Another name for the same time.
        Row(
            seconds: 0, name: "GMT", local: "2026-01-31 02:00:05 UTC", page: "2026-01-31 02:00:05 UTC",
            command: "2026-01-31T02:00:05Z", timestamp: "2026-01-31T02:00:05Z"),
        Row(
            seconds: 3600, name: "CET", local: "2026-01-31 03:00:05 CET",
            page: "2026-01-31 03:00:05 CET (02:00:05 UTC)",
            command: "2026-01-31T02:00:05Z (03:00:05 CET)", timestamp: "2026-01-31T03:00:05+01:00"),
        Row(
            seconds: -18_000, name: "EST", local: "2026-01-30 21:00:05 EST",
            page: "2026-01-30 21:00:05 EST (2026-01-31 02:00:05 UTC)",
            command: "2026-01-31T02:00:05Z (2026-01-30 21:00:05 EST)", timestamp: "2026-01-30T21:00:05-05:00"),
        // Zones without an abbreviation.
        Row(
            seconds: -10_800, name: "-03", local: "2026-01-30 23:00:05 UTC-03:00",
            page: "2026-01-30 23:00:05 UTC-03:00 (2026-01-31 02:00:05 UTC)",
            command: "2026-01-31T02:00:05Z (2026-01-30 23:00:05 UTC-03:00)", timestamp: "2026-01-30T23:00:05-03:00"),
        Row(
            seconds: 20_700, name: "+0545", local: "2026-01-31 07:45:05 UTC+05:45",
            page: "2026-01-31 07:45:05 UTC+05:45 (02:00:05 UTC)",
            command: "2026-01-31T02:00:05Z (07:45:05 UTC+05:45)", timestamp: "2026-01-31T07:45:05+05:45"),
    ])
    func `a time is shown local with UTC beside it`(_ row: Row) {
        let zone = LocalZone.fixed(row.seconds, row.name)
        #expect(zone.text(Self.moment) == row.local)
        #expect(zone.withUTC(Self.moment) == row.page)
        #expect(OperatorTime.text(Self.moment, in: zone) == row.command)
        #expect(zone.timestamp(Self.moment) == row.timestamp)
    }

    @Test func `the zone of the process has a name at any time`() {
        for seconds: Int64 in [Int64.min / 1_000_000, -1, 0, Self.moment, 4_102_444_800, .max / 1_000_000] {
            #expect(!LocalZone.ofProcess.name(at: seconds).isEmpty)
        }
    }
}
