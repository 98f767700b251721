// SPDX-License-Identifier: Apache-2.0

import WebPages

/// The line of calls a second of the last two minutes, as the attributes of SVG elements and as a table.
struct RatePlot: Sendable {
    /// Ten seconds of the past.
    struct Row: Sendable {
        let ago: String
        let calls: String
        let inbound: UInt64
        let branded: UInt64
    }

    struct Mark: Sendable {
        let y: String
        let label: String
    }

    let marks: [Mark]
    /// In a box of two units a second and 40 units high.
    let points: String
    let text: String
    let rows: [Row]

    /// The height of the box, and that of the plot in pixels.
    private static let box = 40.0
    private static let height = 64.0

    init(_ rates: [CallRates.Sample]) {
        let highest = rates.map(\.calls).max() ?? 0
        let top = Double(PlotScale(highest: Int64(highest.rounded(.up))).top)
        marks = [1, 0.5].map { part in
            Mark(y: PlotScale.places(8 + Self.height * (1 - part)), label: Self.label(top * part))
        }
        points = rates.enumerated().map { position, sample in
            let x = (position + CallRates.kept - rates.count) * 2
            return "\(x),\(PlotScale.places(Self.box * (1 - sample.calls / top)))"
        }.joined(separator: " ")
        text = "Calls a second in the last two minutes, at most \(Self.tenths(highest))"
        rows = stride(from: rates.count, to: 0, by: -10).map { end in
            let samples = rates[max(0, end - 10)..<end]
            return Row(
                ago: "\(rates.count - end) to \(rates.count - end + samples.count) s",
                calls: Self.tenths(samples.map(\.calls).reduce(0, +) / Double(samples.count)),
                inbound: samples.map(\.inbound).reduce(0, +), branded: samples.map(\.branded).reduce(0, +))
        }
    }

    /// A mark of the scale, such as `5` and `2.5`.
    private static func label(_ value: Double) -> String {
        value == value.rounded() ? CountText.of(Int64(value)) : tenths(value)
    }

    static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
