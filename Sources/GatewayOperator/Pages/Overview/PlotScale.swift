// SPDX-License-Identifier: Apache-2.0

import WebPages

/// The scale of a plot from zero up, with marks at round numbers, and its places as SVG writes them.
struct PlotScale: Hashable, Sendable {
    /// A horizontal line with its value.
    struct Mark: Hashable, Sendable {
        let y: String
        let label: String
    }

    /// Pixels from the upper end of the scale to zero.
    static let height = 160.0
    /// Pixels above it, for half a line of text.
    static let above = 10.0
    /// The y of zero, and the height of a plot with labels below.
    static var zero: String { places(above + height) }
    static var labelY: String { places(above + height + 16) }

    /// The value at the upper end.
    let top: Int64
    let marks: [Mark]

    /// - Parameter highest: the largest value of the plot.
    init(highest: Int64) {
        let step = Self.step(highest)
        let count = max(1, (highest + step - 1) / step)
        top = step * count
        marks = (1...count).map { number in
            let y = Self.above + Self.height * (1 - Double(number) / Double(count))
            return Mark(y: Self.places(y), label: CountText.of(step * number))
        }
    }

    /// The length of a value in pixels; one that is not zero can be seen and pointed at.
    func length(_ value: Int64) -> Double {
        value <= 0 ? 0 : max(1.5, Double(value) / Double(top) * Self.height)
    }

    /// 1, 2 or 5 times a power of ten, at most five of which hold the largest value.
    private static func step(_ highest: Int64) -> Int64 {
        var power: Int64 = 1
        while power < Int64.max / 100, power * 50 < highest { power *= 10 }
        return [1, 2, 5, 10].map { $0 * power }.first { $0 * 5 >= highest } ?? power * 10
    }

    /// A number with at most two decimals, which every locale writes with a point.
    static func places(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let (whole, rest) = (abs(hundredths) / 100, abs(hundredths) % 100)
        let sign = hundredths < 0 ? "-" : ""
        return rest == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// A share of 0 to 1 in whole percent.
    static func percent(_ share: Double) -> Int { Int((share * 100).rounded()) }
}
