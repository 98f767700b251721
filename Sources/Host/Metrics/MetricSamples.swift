// SPDX-License-Identifier: Apache-2.0

/// The series of one metrics page, each kind in the order of the page.
public struct MetricSamples: Sendable {
    public var counters: [CounterSample]
    public var sums: [SumSample]
    public var gauges: [GaugeSample]
    public var histograms: [HistogramSample]

    public init(
        counters: [CounterSample] = [], sums: [SumSample] = [], gauges: [GaugeSample] = [],
        histograms: [HistogramSample] = []
    ) {
        self.counters = counters
        self.sums = sums
        self.gauges = gauges
        self.histograms = histograms
    }

    public static func + (one: MetricSamples, other: MetricSamples) -> MetricSamples {
        MetricSamples(
            counters: one.counters + other.counters, sums: one.sums + other.sums, gauges: one.gauges + other.gauges,
            histograms: one.histograms + other.histograms)
    }
}

/// One series of a metrics page.
///
/// Samples of one name share one help text. Labels never carry a telephone number or another value that a caller chose.
/// Each value makes a new series, and a withheld number must not appear here.
public struct MetricSample<Value: Hashable & Sendable>: Hashable, Sendable {
    public var name: String
    /// One sentence for people, without a full stop.
    public var help: String
    public var labels: [MetricLabel]
    public var value: Value

    public init(name: String, help: String, labels: [MetricLabel] = [], value: Value) {
        self.name = name
        self.help = help
        self.labels = labels
        self.value = value
    }
}

/// One series that only grows, named as Prometheus wants it: `herald_calls_total`.
public typealias CounterSample = MetricSample<UInt64>

/// One series that only grows and has fractions: `process_cpu_seconds_total`.
public typealias SumSample = MetricSample<Double>

/// One series that goes up and down, named with its unit: `herald_sync_age_seconds`.
public typealias GaugeSample = MetricSample<Double>

/// One distribution, named with its unit: `herald_added_delay_seconds`.
public typealias HistogramSample = MetricSample<Distribution>

/// The values of a histogram at one instant.
public struct Distribution: Hashable, Sendable {
    /// Upper ends of the buckets, ascending; the last bucket has none.
    public var bounds: [Double]
    /// Values in each bucket; one more than `bounds`.
    public var counts: [UInt64]
    /// The sum of all values.
    public var sum: Double

    public init(bounds: [Double], counts: [UInt64], sum: Double) {
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }

    /// The number of values.
    public var count: UInt64 { counts.reduce(0, +) }

    /// Adds another distribution with the same bounds.
    public static func + (one: Distribution, other: Distribution) -> Distribution {
        Distribution(
            bounds: one.bounds, counts: zip(one.counts, other.counts).map(+), sum: one.sum + other.sum)
    }
}

/// One label of a series.
public struct MetricLabel: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
