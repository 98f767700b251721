// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Primitives
import WebPages

/// Answered shares and talk time of branded against unbranded calls, as the attributes of SVG elements and as a table.
struct AnswersPlot: Sendable {
    struct Line: Sendable {
        let name: String
        let style: String
        let calls: String
        let reached: String
        let answered: String
        let rate: String
        /// The 95 % interval of the rate.
        let interval: String
        /// The mean talk time of calls with a known end.
        let talk: String
        /// The talk time of all of them together.
        let talked: String
        let hasTalk: Bool
        let hasBar: Bool
        let y: String
        let labelY: String
        let lineY: String
        let width: String
        let lower: String
        let upper: String
    }

    let lines: [Line]
    let comparison: String

    init(_ counts: SpanCounts) {
        let sums = SpanCounts.sums(counts.inbound) { $0.decision == "matched" }
        let (branded, unbranded) = (sums[true] ?? CallSums(), sums[false] ?? CallSums())
        lines = [
            Line("Branded", DecisionKind.branded.style, branded, at: 0),
            Line("Unbranded", DecisionKind.unknown.style, unbranded, at: 1),
        ]
        comparison = AnswerComparison(branded: AnswerRate(branded), unbranded: AnswerRate(unbranded)).text
    }
}

extension AnswersPlot.Line {
    /// Pixels between two bars.
    private static let step = 44.0

    init(_ name: String, _ style: String, _ sums: CallSums, at place: Int) {
        let rate = AnswerRate(sums)
        (self.name, self.style) = (name, style)
        calls = CountText.of(sums.calls)
        reached = CountText.of(sums.reached)
        answered = CountText.of(sums.answered)
        self.rate = rate.text
        let (low, high) = (rate.interval.lowerBound, rate.interval.upperBound)
        interval = rate.reached > 0 ? "\(PlotScale.percent(low)) to \(PlotScale.percent(high)) %" : "–"
        talk = sums.talks > 0 ? SpanText.of((sums.talkSeconds + sums.talks / 2) / sums.talks) : "–"
        talked = sums.talks > 0 ? SpanText.of(sums.talkSeconds) : "–"
        (hasTalk, hasBar) = (sums.talks > 0, rate.reached > 0)
        let top = Double(place) * Self.step
        (labelY, y, lineY) = (PlotScale.places(top + 14), PlotScale.places(top + 20), PlotScale.places(top + 28))
        width = PlotScale.places(rate.share * 100) + "%"
        (lower, upper) = (PlotScale.places(low * 100) + "%", PlotScale.places(high * 100) + "%")
    }
}
