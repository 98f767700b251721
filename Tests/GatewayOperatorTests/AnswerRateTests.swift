// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Testing

@testable import GatewayOperator

/// Values: R. G. Newcombe, "Two-sided confidence intervals for the single proportion: comparison of seven methods", Statistics in
/// Medicine 17 (1998), 857–872, method 3, and "Interval estimation for the difference between independent proportions:
/// comparison of eleven methods", the same volume, 873–890, method 10.
@Suite("Answered shares and their comparison")
struct AnswerRateTests {
    private static func isNear(_ one: Double, _ other: Double) -> Bool { abs(one - other) < 0.000_06 }

    @Test(
        arguments: [
            (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718),
        ] as [(Int64, Int64, Double, Double)])
    func `the interval of a share is the published one`(
        answered: Int64, reached: Int64, lower: Double, upper: Double
    ) {
        let interval = AnswerRate(answered: answered, reached: reached).interval
        #expect(Self.isNear(interval.lowerBound, lower) && Self.isNear(interval.upperBound, upper), "\(interval)")
    }

    @Test(
        arguments: [
            (56, 70, 48, 80, 0.0524, 0.3339), (9, 10, 3, 10, 0.1705, 0.8090), (6, 7, 2, 7, 0.0582, 0.8062),
            (5, 56, 0, 29, -0.0381, 0.1926), (0, 10, 0, 20, -0.1611, 0.2775), (10, 10, 0, 20, 0.6791, 1),
        ] as [(Int64, Int64, Int64, Int64, Double, Double)])
    func `the interval of a difference is the published one`(
        first: Int64, ofFirst: Int64, second: Int64, ofSecond: Int64, lower: Double, upper: Double
    ) {
        let difference = AnswerRate(answered: first, reached: ofFirst)
            .difference(to: AnswerRate(answered: second, reached: ofSecond))
        #expect(Self.isNear(difference.lower, lower) && Self.isNear(difference.upper, upper), "\(difference)")
    }

    @Test(
        arguments: [(0, 0, "–"), (3, 4, "3 of 4"), (29, 29, "29 of 29"), (15, 30, "50 %"), (0, 30, "0 %")]
            as [(Int64, Int64, String)])
    func `few calls are shown as counts, not as a share`(answered: Int64, reached: Int64, text: String) {
        #expect(AnswerRate(answered: answered, reached: reached).text == text)
    }

    @Test(
        arguments: [
            (0, 0, 0, 0, "No call has reached a phone yet."),
            (
                10, 12, 0, 0,
                "Too few calls to compare: 12 branded and 0 unbranded ones reached a phone, and 30 of each are needed."
            ),
            (
                900, 1_000, 20, 29,
                "Too few calls to compare: 1,000 branded and 29 unbranded ones reached a phone, and 30 of each are needed."
            ),
            (20, 40, 18, 40, "The difference of 5 points may be chance (95 % interval: -16 to 26 points)."),
            (
                56, 70, 48, 80,
                "Branded calls are answered more often by 20 points (95 % interval: 5 to 33 points). They come from other"
            ),
            (
                48, 80, 56, 70,
                "Branded calls are answered less often by 20 points (95 % interval: -33 to -5 points). They come from other"
            ),
        ] as [(Int64, Int64, Int64, Int64, String)])
    func `the comparison claims what the counts allow`(
        branded: Int64, ofBranded: Int64, unbranded: Int64, ofUnbranded: Int64, text: String
    ) {
        let comparison = AnswerComparison(
            branded: AnswerRate(answered: branded, reached: ofBranded),
            unbranded: AnswerRate(answered: unbranded, reached: ofUnbranded))
        #expect(comparison.text.hasPrefix(text), "\(comparison.text)")
    }

    @Test func `talk time is the mean of calls with a known end, beside all of it`() {
        let kinds = [
            HourCounts.Kind(
                hour: 10, trunk: nil, decision: "matched", outcome: "ANSWERED",
                sums: CallSums(calls: 40, reached: 40, answered: 36, talks: 30, talkSeconds: 2_700)),
            HourCounts.Kind(
                hour: 11, trunk: nil, decision: "no_match", outcome: "MISSED", sums: CallSums(calls: 5, reached: 5)),
            HourCounts.Kind(
                hour: 11, isInbound: false, trunk: nil, decision: "outbound", outcome: "ANSWERED",
                sums: CallSums(calls: 9, reached: 9, answered: 9, talks: 9, talkSeconds: 9_000)),
        ]
        let plot = AnswersPlot(SpanCounts(span: .day, hours: 0...23, counts: HourCounts(kinds: kinds)))
        #expect(plot.lines.map(\.calls) == ["40", "5"] && plot.lines.map(\.rate) == ["90 %", "0 of 5"])
        #expect(plot.lines.map(\.talk) == ["1 min 30 s", "–"] && plot.lines.map(\.talked) == ["45 min 0 s", "–"])
        #expect(plot.lines.map(\.width) == ["90%", "0%"])
    }
}
