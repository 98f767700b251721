// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Primitives
import Testing

@testable import GatewayOperator

/// Requirements: a bar has its hours by the clock on the wall, also where that changes, and hours without calls keep their
/// place. Users of another program saw a plot that ended hours ago, because it took UTC for local time (pi-hole/web issue 45).
@Suite("Bars of calls by decision")
struct CallsPlotTests {
    /// Berlin in 2026: summer time from 29 March, 01:00 UTC, to 25 October, 01:00 UTC.
    static let berlin = LocalZone { seconds in
        (1_774_746_000..<1_792_890_000).contains(seconds)
            ? .init(seconds: 7_200, name: "CEST") : .init(seconds: 3_600, name: "CET")
    }
    /// Half an hour beside all full hours.
    static let adelaide = LocalZone { _ in .init(seconds: 37_800, name: "ACDT") }

    private static func kind(_ hour: Int64, _ decision: String = "matched", _ calls: Int64 = 1) -> HourCounts.Kind {
        .init(hour: hour, trunk: "carrier", decision: decision, outcome: "MISSED", sums: CallSums(calls: calls))
    }

    private static func counts(_ span: CountSpan, at now: Int64, _ kinds: [HourCounts.Kind] = []) -> SpanCounts {
        SpanCounts(span: span, hours: span.hours(at: now), counts: HourCounts(kinds: kinds))
    }

    /// A call in each hour of the span.
    private static func everyHour(_ span: CountSpan, at now: Int64) -> SpanCounts {
        counts(span, at: now, span.hours(at: now).map { kind($0) })
    }

    private static func places(_ plot: CallsPlot) -> [String] { plot.parts.map(\.x) }

    @Test func `a day without another clock has 24 bars, and the present hour is the last`() throws {
        let now: Int64 = 1_780_000_000  // 2026-05-28T20:26:40Z
        let plot = CallsPlot(Self.everyHour(.day, at: now), Self.berlin)
        #expect(plot.parts.count == 24 && Set(Self.places(plot)).count == 24)
        #expect(plot.parts.last?.text == "2026-05-28 22:00 CEST (20:00 UTC) to 23:00: 1 matched")
        #expect(plot.total == "24" && plot.share == "100 % branded" && plot.unit == "calls an hour")
        #expect(
            plot.labels.map(\.label) == ["Thu 28", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00"])
    }

    /// The wall shows 02:00 twice on 25 October and never on 29 March; each hour of UTC is a bar.
    @Test(
        arguments: [
            (1_792_908_000, ["01:00 CEST", "02:00 CEST", "02:00 CET", "03:00 CET"]),  // 2026-10-25T06:00:00Z
            (1_774_764_000, ["00:00 CET", "01:00 CET", "03:00 CEST", "04:00 CEST"]),  // 2026-03-29T06:00:00Z
        ] as [(Int64, [String])])
    func `an hour that the wall repeats or skips is neither lost nor doubled`(now: Int64, hours: [String]) {
        let plot = CallsPlot(Self.everyHour(.day, at: now), Self.berlin)
        let texts = plot.parts.map { $0.text.dropFirst(11).prefix { $0 != "(" }.dropLast() }
        #expect(texts.count == 24)
        let begins = texts.map(String.init)
        #expect(begins.indices.contains { begins[$0...].starts(with: hours) }, "\(begins)")
    }

    @Test(
        arguments: [
            (CallsPlotTests.berlin, 1_780_000_000, "2026-05-28 20:00"),
            (CallsPlotTests.berlin, 1_792_908_000, "2026-10-25 04:00"),
            (CallsPlotTests.berlin, 1_774_764_000, "2026-03-29 08:00"), (.utc, 1_780_000_000, "2026-05-28 20:00"),
            (CallsPlotTests.adelaide, 1_780_000_000, "2026-05-29 04:30"),
        ] as [(LocalZone, Int64, String)])
    func `bars of a week end with the local day, and lose no hour`(zone: LocalZone, now: Int64, last: String) throws {
        let plot = CallsPlot(Self.everyHour(.week, at: now), zone)
        #expect(plot.total == "168")
        #expect(plot.rows.map { Int($0.all) ?? 0 }.reduce(0, +) == 168)
        #expect(plot.rows.first?.time == last)
        #expect((42...43).contains(plot.rows.count))
        // The first bar may have begun before the span.
        for row in plot.rows.dropLast() {
            let hour = try #require(Int(row.time.suffix(5).prefix(2)))
            #expect(hour % 4 == 0, "\(row.time)")
        }
        #expect(plot.labels.count == 7 && Set(plot.labels.map(\.label)).count == 7)
        #expect(plot.unit == "calls in 4 hours")
    }

    @Test func `hours without calls keep their place, and the table leaves them out`() {
        let now: Int64 = 1_780_000_000
        let hours = CountSpan.day.hours(at: now)
        let plot = CallsPlot(
            Self.counts(.day, at: now, [Self.kind(hours.lowerBound), Self.kind(hours.lowerBound + 12, "no_match")]),
            .utc)
        #expect(Self.places(plot) == ["0.42%", "50.42%"])
        #expect(plot.rows.map(\.time) == ["2026-05-28 09:00", "2026-05-27 21:00"])
    }

    @Test func `an account without calls has an empty plot with a scale, and no calls`() {
        for span in CountSpan.allCases {
            let plot = CallsPlot(Self.counts(span, at: 1_780_000_000), .utc)
            #expect(!plot.hasCalls && plot.parts.isEmpty && plot.decisions.isEmpty && plot.rows.isEmpty)
            #expect(plot.total == "0" && plot.share == "no calls")
            #expect(plot.marks.map(\.label) == ["1"] && !plot.labels.isEmpty && plot.remark == nil)
        }
    }

    @Test func `each part leads to its calls, and calls of a PBX are not in the bars`() {
        let now: Int64 = 1_780_000_000
        let hour = now / 3600
        var outbound = Self.kind(hour, "outbound", 7)
        outbound.isInbound = false
        let plot = CallsPlot(
            Self.counts(
                .day, at: now,
                [
                    Self.kind(hour, "gated:cap_reached", 2), Self.kind(hour, "no_match", 3),
                    Self.kind(hour, "matched", 5),
                    outbound,
                ]), .utc)
        let time = "since=2026-05-28T20%3A00%3A00Z&until=2026-05-28T20%3A59%3A59Z"
        #expect(
            plot.parts.map(\.path) == [
                "/calls?decision=matched&\(time)", "/calls?decision=no_match&\(time)",
                "/calls?decision=gated%3Acap_reached&\(time)",
            ], "from below in the order of their kinds")
        #expect(plot.total == "10" && plot.share == "50 % branded")
        #expect(
            plot.decisions.map { "\($0.name) \($0.calls) \($0.share)" }
                == ["matched 5 50 %", "no_match 3 30 %", "gated:cap_reached 2 20 %"])
        #expect(plot.decisions.allSatisfy { $0.path.contains("since=2026-05-27T21%3A00%3A00Z") })
    }

    @Test func `a decision that few calls have can be seen and pointed at`() throws {
        let now: Int64 = 1_780_000_000
        let plot = CallsPlot(
            Self.counts(
                .day, at: now, [Self.kind(now / 3600, "matched", 1_000_000), Self.kind(now / 3600, "privacy", 1)]), .utc
        )
        let part = try #require(plot.parts.last)
        #expect(part.style == "kind-caller" && part.height == "1.50")
        #expect(plot.share == "> 99 % branded" && plot.decisions.last?.share == "< 1 %")
    }

    @Test func `calls that are not counted yet are named`() throws {
        var counts = Self.everyHour(.day, at: 1_780_000_000)
        counts.counts.since = 1_780_000_000 - 3_600
        let remark = try #require(CallsPlot(counts, Self.berlin).remark)
        #expect(remark.hasPrefix("Calls are counted since 2026-05-28 21:26 CEST (19:26 UTC)"))
        counts.counts.since = 1_780_000_000 - 864_000
        #expect(CallsPlot(counts, Self.berlin).remark == nil)
    }

    @Test(
        arguments: [
            (0, 1, ["1"]), (1, 1, ["1"]), (7, 8, ["2", "4", "6", "8"]), (50, 50, ["10", "20", "30", "40", "50"]),
            (51, 60, ["20", "40", "60"]), (1_234_567, 1_500_000, ["500,000", "1,000,000", "1,500,000"]),
            (Int64.max / 1_000, Int64.max / 1_000, []),
        ] as [(Int64, Int64, [String])])
    func `the scale has round numbers and holds the highest bar`(highest: Int64, top: Int64, marks: [String]) {
        let scale = PlotScale(highest: highest)
        #expect(scale.top >= highest && scale.length(highest) <= PlotScale.height)
        guard !marks.isEmpty else { return }
        #expect(scale.top == top && scale.marks.map(\.label) == marks)
    }
}
