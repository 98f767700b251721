// SPDX-License-Identifier: Apache-2.0

/// A bar chart as the attributes of SVG elements, drawn by a template.
struct DayPlot: Sendable {
    let plotTitle: String
    /// The meaning of the lower and the upper part of each bar.
    let firstName: String
    let secondName: String
    /// The data in one sentence, for screen readers.
    let plotText: String
    let plotWidth: Int
    let plotHeight: Int
    let baseline: Int
    let marks: [Mark]
    let bars: [Bar]

    /// A horizontal line with its value.
    struct Mark: Sendable {
        let markY: Int
        let markText: String
        let markTextY: Int
    }

    /// A bar of two parts, with its label below.
    struct Bar: Sendable {
        let barX: Double
        let barWidth: Double
        let firstY: Double
        let firstHeight: Double
        let secondY: Double
        let secondHeight: Double
        let labelX: Double
        /// Nil for bars without space for a label.
        let barLabel: String?
        /// Shown beside the pointer.
        let barText: String
    }

    struct Value: Sendable {
        let label: String
        let first: Int
        let second: Int
    }

    private static let left = 56.0
    private static let top = 14.0
    private static let inner = 150.0

    /// - Parameters:
    ///   - names: what the two parts of each bar count.
    ///   - labelEvery: bars for each label.
    init(_ title: String, _ values: [Value], names: (first: String, second: String), labelEvery: Int = 1) {
        (plotTitle, firstName, secondName) = (title, names.first, names.second)
        let highest = Self.round(max(values.map { $0.first + $0.second }.max() ?? 0, 1))
        let total = values.reduce(into: (0, 0)) { sum, value in
            sum = (sum.0 + value.first, sum.1 + value.second)
        }
        plotText =
            "\(title): \(Amount.count(total.0)) \(names.first), \(Amount.count(total.1)) \(names.second); the scale ends at \(Amount.count(highest))."
        let width = 900.0
        (plotWidth, plotHeight, baseline) = (Int(width), Int(Self.top + Self.inner) + 26, Int(Self.top + Self.inner))
        let step = (width - Self.left) / Double(max(values.count, 1))
        func height(_ count: Int) -> Double { Double(count) / Double(highest) * Self.inner }
        marks = [highest, highest / 2].filter { $0 > 0 }.map { value in
            let y = Int(Self.top + Self.inner - height(value))
            return Mark(markY: y, markText: Amount.count(value), markTextY: y + 4)
        }
        bars = values.enumerated().map { index, value in
            let x = Self.left + Double(index) * step
            let (first, second) = (height(value.first), height(value.second))
            let base = Self.top + Self.inner
            return Bar(
                barX: x + step * 0.12, barWidth: step * 0.76, firstY: base - first, firstHeight: first,
                secondY: base - first - second, secondHeight: second, labelX: x + step / 2,
                barLabel: index % labelEvery == 0 ? value.label : nil,
                barText:
                    "\(value.label): \(Amount.count(value.first)) \(names.first), \(Amount.count(value.second)) \(names.second)"
            )
        }
    }

    /// The next number of the form 1, 2 or 5 times a power of ten, at least `value`.
    static func round(_ value: Int) -> Int {
        var power = 1
        while power < value / 10 { power *= 10 }
        return [1, 2, 5, 10, 20, 50, 100].lazy.map { $0 * power }.first { $0 >= value } ?? value
    }
}
