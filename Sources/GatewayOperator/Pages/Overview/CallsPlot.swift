// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Primitives
import WebPages

/// Bars of calls from trunks by decision, as the attributes of SVG elements, and tables with the same numbers.
///
/// Each part of a bar, each decision and each number of the table leads to its calls.
struct CallsPlot: Sendable {
    /// A part of a bar; places are percents of the width and pixels.
    struct Part: Sendable {
        let path: String
        /// Shown beside the pointer.
        let text: String
        let style: String
        let x: String
        let width: String
        let y: String
        let height: String
    }

    /// A label below the bars.
    struct Label: Sendable {
        let x: String
        let label: String
        /// Left out where there is space for half of the labels only.
        let isMinor: Bool
    }

    /// The calls of a decision.
    struct Decision: Sendable {
        let path: String
        let name: String
        let style: String
        let meaning: String
        let calls: String
        let share: String
        let answered: String
    }

    /// A bar as a row of the table.
    struct Row: Sendable {
        struct Cell: Sendable {
            let label: String
            let count: String
            let cellPath: String
            let hasCalls: Bool
        }

        let path: String
        let time: String
        let all: String
        let cells: [Cell]
    }

    let total: String
    let isOne: Bool
    let share: String
    let unit: String
    let marks: [PlotScale.Mark]
    let labels: [Label]
    let parts: [Part]
    let decisions: [Decision]
    let rows: [Row]
    let hasCalls: Bool
    /// A sentence about earlier calls that are not counted; nil normally.
    let remark: String?
    let zero = PlotScale.zero
    let labelY = PlotScale.labelY
}

/// A bar: some hours in a row, and its calls by decision.
private struct Bar {
    var hours: ClosedRange<Int64>
    var calls: [String: Int64] = [:]

    var all: Int64 { calls.values.reduce(0, +) }
    /// Seconds since 1970.
    var begin: Int64 { hours.lowerBound * 3600 }
    var end: Int64 { (hours.upperBound + 1) * 3600 }
}

extension CallsPlot {
    /// - Parameter zone: the local time of the axis.
    init(_ counts: SpanCounts, _ zone: LocalZone) {
        let inbound = counts.inbound
        let decisions = SpanCounts.sums(inbound, by: \.decision)
        let all = decisions.values.map(\.calls).reduce(0, +)
        let bars = Self.bars(counts, inbound, zone)
        let order = DecisionKind.ordered(decisions.keys)
        let scale = PlotScale(highest: bars.map(\.all).max() ?? 0)
        (total, isOne) = (CountText.of(all), all == 1)
        share = all == 0 ? "no calls" : "\(Self.percent(decisions["matched"]?.calls ?? 0, of: all)) branded"
        unit = counts.span.hoursOfBar == 1 ? "calls an hour" : "calls in \(counts.span.hoursOfBar) hours"
        marks = scale.marks
        hasCalls = all > 0
        labels = Self.labels(bars, counts.span, zone)
        parts = bars.enumerated().flatMap { place, bar in
            Self.parts(of: bar, at: place, of: bars.count, order, scale, counts, zone)
        }
        self.decisions = order.map { decision in
            let sums = decisions[decision] ?? CallSums()
            return Decision(
                path: counts.path(decision: decision), name: decision, style: DecisionKind(decision).style,
                meaning: DecisionText.of(decision), calls: CountText.of(sums.calls),
                share: Self.percent(sums.calls, of: all), answered: AnswerRate(sums).text)
        }
        rows = bars.filter { $0.all > 0 }.reversed().map { bar in
            Row(
                path: counts.path(bar.hours), time: zone.minute(bar.begin), all: CountText.of(bar.all),
                cells: order.map { decision in
                    let calls = bar.calls[decision] ?? 0
                    return Row.Cell(
                        label: decision, count: CountText.of(calls),
                        cellPath: counts.path(bar.hours, decision: decision), hasCalls: calls > 0)
                })
        }
        let begin = counts.hours.lowerBound * 3600
        remark =
            counts.counts.since > begin
            ? "Calls are counted since \(zone.both(counts.counts.since)); earlier ones are in the list of calls only."
            : nil
    }

    /// The hours of the span as bars; a bar ends where a local day does, so one of a day with another clock differs in length.
    private static func bars(_ counts: SpanCounts, _ inbound: [HourCounts.Kind], _ zone: LocalZone) -> [Bar] {
        var bars: [Bar] = []
        var places: [Int64: Int] = [:]
        var last: (day: Int64, part: Int64)?
        for hour in counts.hours {
            let part = (day: zone.day(hour * 3600), part: zone.hour(hour * 3600) / counts.span.hoursOfBar)
            if counts.span.hoursOfBar > 1, let last, last == part {
                bars[bars.count - 1].hours = bars[bars.count - 1].hours.lowerBound...hour
            } else {
                bars.append(Bar(hours: hour...hour))
            }
            last = part
            places[hour] = bars.count - 1
        }
        for kind in inbound {
            guard let place = places[kind.hour] else { continue }
            bars[place].calls[kind.decision, default: 0] += kind.sums.calls
        }
        return bars
    }

    /// Every third hour, or every day.
    private static func labels(_ bars: [Bar], _ span: CountSpan, _ zone: LocalZone) -> [Label] {
        var labels: [Label] = []
        for (place, bar) in bars.enumerated() {
            let isNewDay = place > 0 && zone.day(bar.begin) != zone.day(bars[place - 1].begin)
            guard isNewDay || span == .day && zone.hour(bar.begin) % 3 == 0 else { continue }
            let x = PlotScale.places((Double(place) + 0.5) * 100 / Double(bars.count)) + "%"
            labels.append(
                Label(
                    x: x, label: isNewDay ? zone.dayText(bar.begin) : zone.hourText(bar.begin),
                    isMinor: !isNewDay && zone.hour(bar.begin) % 6 != 0))
        }
        return labels
    }

    private static func parts(
        of bar: Bar, at place: Int, of count: Int, _ order: [String], _ scale: PlotScale, _ counts: SpanCounts,
        _ zone: LocalZone
    ) -> [Part] {
        let step = 100 / Double(count)
        var base = PlotScale.above + PlotScale.height
        return order.compactMap { decision in
            guard let calls = bar.calls[decision], calls > 0 else { return nil }
            let length = scale.length(calls)
            base -= length
            return Part(
                path: counts.path(bar.hours, decision: decision),
                text: "\(zone.both(bar.begin)) to \(zone.hourText(bar.end)): \(CountText.of(calls)) \(decision)",
                style: DecisionKind(decision).style, x: PlotScale.places((Double(place) + 0.1) * step) + "%",
                width: PlotScale.places(step * 0.8) + "%", y: PlotScale.places(base),
                height: PlotScale.places(length))
        }
    }

    /// Whole percent; a share that is neither nothing nor all is not shown as one of them.
    static func percent(_ part: Int64, of whole: Int64) -> String {
        guard whole > 0 else { return "–" }
        let share = PlotScale.percent(Double(part) / Double(whole))
        if share == 0, part > 0 { return "< 1 %" }
        if share == 100, part < whole { return "> 99 %" }
        return "\(share) %"
    }
}
