// SPDX-License-Identifier: Apache-2.0

/// The series of one metrics page, each kind in the order of the page.
package struct MetricSamples: Sendable {
    package var counters: [CounterSample]
    package var sums: [SumSample]
    package var gauges: [GaugeSample]
    package var histograms: [HistogramSample]

    package init(
        counters: [CounterSample] = [], sums: [SumSample] = [], gauges: [GaugeSample] = [],
        histograms: [HistogramSample] = []
    ) {
        self.counters = counters
        self.sums = sums
        self.gauges = gauges
        self.histograms = histograms
    }

    package static func + (one: MetricSamples, other: MetricSamples) -> MetricSamples {
        MetricSamples(
            counters: one.counters + other.counters, sums: one.sums + other.sums, gauges: one.gauges + other.gauges,
            histograms: one.histograms + other.histograms)
    }
}

/// One series of a metrics page.
///
/// Samples of one name share one help text. Labels never carry a telephone number or another value that a caller chose.
/// Each value makes a new series, and a withheld number must not appear here.
package struct MetricSample<Value: Hashable & Sendable>: Hashable, Sendable {
    package var name: String
    /// One sentence for people, without a full stop.
    package var help: String
    package var labels: [MetricLabel]
    package var value: Value

    package init(name: String, help: String, labels: [MetricLabel] = [], value: Value) {
        self.name = name
        self.help = help
        self.labels = labels
        self.value = value
    }
}

/// One series that only grows, named as Prometheus wants it: `herald_calls_total`.
package typealias CounterSample = MetricSample<UInt64>

/// One series that only grows and has fractions: `process_cpu_seconds_total`.
package typealias SumSample = MetricSample<Double>

/// One series that goes up and down, named with its unit: `herald_sync_age_seconds`.
package typealias GaugeSample = MetricSample<Double>

/// One distribution, named with its unit: `herald_added_delay_seconds`.
package typealias HistogramSample = MetricSample<Distribution>

/// The values of a histogram at one instant.
package struct Distribution: Hashable, Sendable {
    /// Upper ends of the buckets, ascending; the last bucket has none.
    package var bounds: [Double]
    /// Values in each bucket; one more than `bounds`.
    package var counts: [UInt64]
    /// The sum of all values.
    package var sum: Double

    package init(bounds: [Double], counts: [UInt64], sum: Double) {
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }

    /// The number of values.
    package var count: UInt64 { counts.reduce(0, +) }

    /// Adds another distribution with the same bounds.
    package static func + (one: Distribution, other: Distribution) -> Distribution {
        Distribution(
            bounds: one.bounds, counts: zip(one.counts, other.counts).map(+), sum: one.sum + other.sum)
    }
}

/// One label of a series.
package struct MetricLabel: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
