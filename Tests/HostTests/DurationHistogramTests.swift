// SPDX-License-Identifier: Apache-2.0

import Host
import Testing

@Suite("Histograms of durations")
struct DurationHistogramTests {
    private static let scales: [DurationHistogram.Scale] = [.delay, .ringing, .request, .sync, .delivery]

    @Test(arguments: scales)
    func `the bounds ascend and fit into the counters`(scale: DurationHistogram.Scale) {
        let bounds = scale.bounds
        #expect(bounds == bounds.sorted() && Set(bounds).count == bounds.count)
        #expect(DurationHistogram(scale).distribution.counts == [UInt64](repeating: 0, count: bounds.count + 1))
    }

    @Test func `a value at the end of a bucket belongs to it, and one above all ends to the last`() {
        let histogram = DurationHistogram(.ringing)
        for duration in [Duration.seconds(1), .milliseconds(1001), .seconds(180), .seconds(181), .seconds(-5)] {
            histogram.record(duration)
        }
        let values = histogram.distribution
        #expect(values.counts.first == 2, "1 s and the negative one")
        #expect(values.counts[1] == 1)
        #expect(values.counts[values.bounds.count - 1] == 1)
        #expect(values.counts.last == 1)
        #expect(values.count == 5)
        #expect(abs(values.sum - 363.001) < 1e-9)
    }

    @Test func `histograms of several threads add up`() {
        let (one, other) = (DurationHistogram(.delay), DurationHistogram(.delay))
        one.record(nanoseconds: 50_000)
        other.record(nanoseconds: 50_001)
        let both = one.distribution + other.distribution
        #expect(both.counts.prefix(2) == [1, 1])
        #expect(abs(both.sum - 0.000100001) < 1e-12)
    }
}
