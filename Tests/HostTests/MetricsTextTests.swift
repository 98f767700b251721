// SPDX-License-Identifier: Apache-2.0

import Host
import Testing

@Suite("Metrics text, Prometheus exposition format 0.0.4")
struct MetricsTextTests {
    private func page(
        counters: [CounterSample] = [], gauges: [GaugeSample] = [], histograms: [HistogramSample] = []
    ) -> String {
        MetricsText(MetricSamples(counters: counters, gauges: gauges, histograms: histograms)).text
    }

    @Test func `buckets count all values up to their end, and the last has all of them`() {
        let text = page(histograms: [
            HistogramSample(
                name: "x_seconds", help: "Time", labels: [.init("a", "b")],
                value: Distribution(bounds: [0.00005, 0.5, 1], counts: [1, 0, 2, 4], sum: 12.5))
        ])
        #expect(
            text == """
                # HELP x_seconds Time
                # TYPE x_seconds histogram
                x_seconds_bucket{a="b",le="5e-05"} 1
                x_seconds_bucket{a="b",le="0.5"} 1
                x_seconds_bucket{a="b",le="1"} 3
                x_seconds_bucket{a="b",le="+Inf"} 7
                x_seconds_sum{a="b"} 12.5
                x_seconds_count{a="b"} 7

                """)
    }

    @Test func `a sum that grows has fractions`() {
        let samples = MetricSamples(sums: [SumSample(name: "cpu_seconds_total", help: "CPU", value: 1.25)])
        #expect(MetricsText(samples).text.hasSuffix("# TYPE cpu_seconds_total counter\ncpu_seconds_total 1.25\n"))
    }

    @Test func `one family has one head and its series together, in the order they came`() {
        let text = page(
            counters: [
                CounterSample(
                    name: "herald_drops_total", help: "Datagrams dropped", labels: [.init("reason", "not_sip")],
                    value: 1),
                CounterSample(name: "herald_calls_total", help: "Calls", value: 12),
                CounterSample(
                    name: "herald_drops_total", help: "Datagrams dropped", labels: [.init("reason", "over_limit")],
                    value: .max),
            ],
            gauges: [GaugeSample(name: "herald_transactions", help: "Transactions in memory", value: 0.5)]
        )
        #expect(
            text == """
                # HELP herald_drops_total Datagrams dropped
                # TYPE herald_drops_total counter
                herald_drops_total{reason="not_sip"} 1
                herald_drops_total{reason="over_limit"} 18446744073709551615
                # HELP herald_calls_total Calls
                # TYPE herald_calls_total counter
                herald_calls_total 12
                # HELP herald_transactions Transactions in memory
                # TYPE herald_transactions gauge
                herald_transactions 0.5

                """)
    }

    @Test func `labels and help texts are escaped`() {
        let text = page(
            counters: [
                CounterSample(
                    name: "x_total", help: "a \\ and\na line",
                    labels: [.init("trunk", "say \"hi\" \\ to\nme"), .init("b", "ß")], value: 0)
            ], gauges: []
        )
        #expect(text.contains("# HELP x_total a \\\\ and\\na line\n"))
        #expect(text.contains("x_total{trunk=\"say \\\"hi\\\" \\\\ to\\nme\",b=\"ß\"} 0\n"))
        #expect(text.split(separator: "\n").count == 3)
    }

    @Test func `a combining mark on a quote, a backslash or a line end escapes nothing`() {
        let sample = CounterSample(
            name: "x_total", help: "a\\\u{301}\n\u{301}b", labels: [.init("trunk", "a\"\u{301} \\\u{301}")], value: 0)
        let lines = page(counters: [sample], gauges: []).split(separator: "\n")
        #expect(lines.first == "# HELP x_total a\\\\\u{301}\\n\u{301}b")
        #expect(lines.last == "x_total{trunk=\"a\\\"\u{301} \\\\\u{301}\"} 0")
    }

    @Test func `names that would break the format are mended`() {
        let text = page(
            counters: [CounterSample(name: "9 lives-total", help: "", labels: [.init("a:b", "v")], value: 1)],
            gauges: []
        )
        #expect(text.hasSuffix("_9_lives_total{a_b=\"v\"} 1\n"))
    }

    @Test(arguments: [
        (3.0, "3"), (-2.0, "-2"), (0.25, "0.25"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        (1e300, "1e+300"),
    ]) func `numbers are written as the format spells them`(value: Double, expected: String) {
        let text = page(counters: [], gauges: [GaugeSample(name: "g", help: "h", value: value)])
        #expect(text.hasSuffix("\ng \(expected)\n"))
    }

    @Test func `nothing to say is an empty text`() {
        #expect(page(counters: [], gauges: []).isEmpty)
    }

    @Test func `a name cannot be counter and gauge at once`() {
        let text = page(
            counters: [CounterSample(name: "a", help: "h", value: 1)],
            gauges: [GaugeSample(name: "a", help: "h", value: 2)]
        )
        #expect(text == "# HELP a h\n# TYPE a counter\na 1\n")
    }
}
