// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Testing

@testable import GatewayAdmin

@Suite("Metrics text, Prometheus exposition format 0.0.4")
struct MetricsTextTests {
    @Test func `one family has one head and its series together, in the order they came`() {
        let text = MetricsText(
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
        ).text
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
        let text = MetricsText(
            counters: [
                CounterSample(
                    name: "x_total", help: "a \\ and\na line",
                    labels: [.init("trunk", "say \"hi\" \\ to\nme"), .init("b", "ß")], value: 0)
            ], gauges: []
        ).text
        #expect(text.contains("# HELP x_total a \\\\ and\\na line\n"))
        #expect(text.contains("x_total{trunk=\"say \\\"hi\\\" \\\\ to\\nme\",b=\"ß\"} 0\n"))
        #expect(text.split(separator: "\n").count == 3)
    }

    @Test func `a combining mark on a quote, a backslash or a line end escapes nothing`() {
        let sample = CounterSample(
            name: "x_total", help: "a\\\u{301}\n\u{301}b", labels: [.init("trunk", "a\"\u{301} \\\u{301}")], value: 0)
        let lines = MetricsText(counters: [sample], gauges: []).text.split(separator: "\n")
        #expect(lines.first == "# HELP x_total a\\\\\u{301}\\n\u{301}b")
        #expect(lines.last == "x_total{trunk=\"a\\\"\u{301} \\\\\u{301}\"} 0")
    }

    @Test func `names that would break the format are mended`() {
        let text = MetricsText(
            counters: [CounterSample(name: "9 lives-total", help: "", labels: [.init("a:b", "v")], value: 1)],
            gauges: []
        ).text
        #expect(text.hasSuffix("_9_lives_total{a_b=\"v\"} 1\n"))
    }

    @Test(arguments: [
        (3.0, "3"), (-2.0, "-2"), (0.25, "0.25"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        (1e300, "1e+300"),
    ]) func `numbers are written as the format spells them`(value: Double, expected: String) {
        let text = MetricsText(counters: [], gauges: [GaugeSample(name: "g", help: "h", value: value)]).text
        #expect(text.hasSuffix("\ng \(expected)\n"))
    }

    @Test func `nothing to say is an empty text`() {
        #expect(MetricsText(counters: [], gauges: []).text.isEmpty)
    }

    @Test func `a name cannot be counter and gauge at once`() {
        let text = MetricsText(
            counters: [CounterSample(name: "a", help: "h", value: 1)],
            gauges: [GaugeSample(name: "a", help: "h", value: 2)]
        ).text
        #expect(text == "# HELP a h\n# TYPE a counter\na 1\n")
    }
}
