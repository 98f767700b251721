// SPDX-License-Identifier: Apache-2.0

/// Writes samples in the Prometheus text format, version 0.0.4.
///
/// swift-server/swift-prometheus is the maintained Swift library. Its counters are objects behind a lookup by name. The
/// call path has relaxed atomic counters of its own, and this type only writes them as text. Source:
/// prometheus.io/docs/instrumenting/exposition_formats.
public struct MetricsText {
    /// The `Content-Type` of the text.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private var families: [Family] = []
    private var positions: [String: Int] = [:]

    private struct Family {
        let name: String
        let help: String
        let type: String
        var lines: [String] = []
    }

    public init(_ samples: MetricSamples) {
        for sample in samples.counters { add(sample.name, sample.help, "counter", sample.labels, "\(sample.value)") }
        for sample in samples.sums {
            add(sample.name, sample.help, "counter", sample.labels, Self.number(sample.value))
        }
        for sample in samples.gauges {
            add(sample.name, sample.help, "gauge", sample.labels, Self.number(sample.value))
        }
        for sample in samples.histograms { add(sample) }
    }

    /// All families, each with its HELP and TYPE line before its series.
    public var text: String {
        var out = ""
        for family in families {
            out += "# HELP \(family.name) \(Self.escapedHelp(family.help))\n# TYPE \(family.name) \(family.type)\n"
            for line in family.lines { out += line + "\n" }
        }
        return out
    }

    /// Adds a sample; the first type and help text of a name win.
    private mutating func add(_ name: String, _ help: String, _ type: String, _ labels: [MetricLabel], _ value: String)
    {
        let name = Self.metricName(name)
        add(["\(name)\(Self.labelText(labels)) \(value)"], to: name, help, type)
    }

    /// Adds a histogram: a line a bucket, each with the values up to its end, then sum and count.
    private mutating func add(_ sample: HistogramSample) {
        let (name, values) = (Self.metricName(sample.name), sample.value)
        var (lines, count) = ([String](), UInt64(0))
        for (number, end) in (values.bounds + [.infinity]).enumerated() {
            count += values.counts[number]
            let labels = Self.labelText(sample.labels + [MetricLabel("le", Self.number(end))])
            lines.append("\(name)_bucket\(labels) \(count)")
        }
        let labels = Self.labelText(sample.labels)
        lines.append("\(name)_sum\(labels) \(Self.number(values.sum))")
        lines.append("\(name)_count\(labels) \(count)")
        add(lines, to: name, sample.help, "histogram")
    }

    private mutating func add(_ lines: [String], to name: String, _ help: String, _ type: String) {
        let position = positions[name] ?? families.count
        if position == families.count {
            positions[name] = position
            families.append(Family(name: name, help: help, type: type))
        }
        guard families[position].type == type else { return }
        families[position].lines += lines
    }

    private static func labelText(_ labels: [MetricLabel]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.map { "\(labelName($0.name))=\"\(escapedValue($0.value))\"" }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    /// Letters, digits, underscore and colon, no digit in front.
    private static func metricName(_ name: String) -> String { cleaned(name, allowsColon: true) }

    private static func labelName(_ name: String) -> String { cleaned(name, allowsColon: false) }

    private static func cleaned(_ name: String, allowsColon: Bool) -> String {
        var bytes = name.utf8.map { byte -> UInt8 in
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            return isLetter || isDigit || allowsColon && byte == UInt8(ascii: ":") ? byte : UInt8(ascii: "_")
        }
        if bytes.isEmpty || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[0]) {
            bytes.insert(UInt8(ascii: "_"), at: 0)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escapedHelp(_ text: String) -> String { escaped(text, alsoQuotes: false) }

    private static func escapedValue(_ text: String) -> String { escaped(text, alsoQuotes: true) }

    /// By code points: a backslash with a combining mark on it is another `Character`, and still a backslash for a reader.
    private static func escaped(_ text: String, alsoQuotes: Bool) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": out.append(contentsOf: "\\n".unicodeScalars)
            case "\\": out.append(contentsOf: "\\\\".unicodeScalars)
            case "\"" where alsoQuotes: out.append(contentsOf: "\\\"".unicodeScalars)
            default: out.append(scalar)
            }
        }
        return String(out)
    }

    /// Returns whole numbers without a fraction, and `+Inf`, `-Inf` and `NaN` in the spelling of the format.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}
