// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import WebPages

/// The share of calls that a person answered, with what it is worth.
struct AnswerRate: Hashable, Sendable {
    let answered: Int64
    /// Calls that reached a phone.
    let reached: Int64

    /// Calls below which a share is shown as two counts, and compared with nothing.
    static let least: Int64 = 30

    init(answered: Int64, reached: Int64) { (self.answered, self.reached) = (answered, reached) }

    init(_ sums: CallSums) { self.init(answered: sums.answered, reached: sums.reached) }

    var isEnough: Bool { reached >= Self.least }

    /// 0 to 1; 0 without calls.
    var share: Double { reached > 0 ? Double(answered) / Double(reached) : 0 }

    /// The 95 % score interval of the share (E. B. Wilson, 1927), 0 to 1.
    var interval: ClosedRange<Double> {
        guard reached > 0 else { return 0...1 }
        let (n, square) = (Double(reached), Self.quantile * Self.quantile)
        let middle = (share + square / (2 * n)) / (1 + square / n)
        let half =
            Self.quantile * (share * (1 - share) / n + square / (4 * n * n)).squareRoot() / (1 + square / n)
        return max(0, middle - half)...min(1, max(middle + half, 0))
    }

    /// Half of the normal distribution's middle 95 %.
    private static let quantile = 1.959964

    /// `62 %`, `3 of 4`, or a dash without calls.
    var text: String {
        if isEnough { return "\(PlotScale.percent(share)) %" }
        return reached > 0 ? "\(answered) of \(reached)" : "–"
    }

    /// The difference of two shares with its 95 % interval, in the order lower end, difference, upper end.
    ///
    /// The intervals of both shares are joined (R. G. Newcombe, 1998, method 10), which holds near 0 and 1 too.
    func difference(to other: AnswerRate) -> (lower: Double, value: Double, upper: Double) {
        let (own, foreign) = (interval, other.interval)
        let value = share - other.share
        func length(_ one: Double, _ two: Double) -> Double { (one * one + two * two).squareRoot() }
        return (
            value - length(share - own.lowerBound, foreign.upperBound - other.share), value,
            value + length(own.upperBound - share, other.share - foreign.lowerBound)
        )
    }
}

/// A comparison of branded and unbranded calls that claims no more than the counts allow.
struct AnswerComparison: Hashable, Sendable {
    let branded: AnswerRate
    let unbranded: AnswerRate

    /// The comparison in one or two sentences.
    var text: String {
        guard branded.reached > 0 || unbranded.reached > 0 else { return "No call has reached a phone yet." }
        guard branded.isEnough, unbranded.isEnough else {
            return """
                Too few calls to compare: \(CountText.of(branded.reached)) branded and \(CountText.of(unbranded.reached)) unbranded \
                ones reached a phone, and \(AnswerRate.least) of each are needed.
                """
        }
        let (lower, value, upper) = branded.difference(to: unbranded)
        let interval = "95 % interval: \(PlotScale.percent(lower)) to \(PlotScale.percent(upper)) points"
        if lower <= 0, upper >= 0 {
            return "The difference of \(PlotScale.percent(abs(value))) points may be chance (\(interval))."
        }
        let direction = value > 0 ? "more" : "less"
        return """
            Branded calls are answered \(direction) often by \(PlotScale.percent(abs(value))) points (\(interval)). \
            They come from other callers than the unbranded ones, so the name need not be the cause.
            """
    }
}
