// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Host
import Testing

@Suite("Metrics of libraries, through swift-metrics")
struct LibraryMetricsTests {
    private let metrics = LibraryMetrics()

    private var page: String { MetricsText(metrics.samples).text }

    private func counter(_ label: String, _ dimensions: [(String, String)] = []) -> Counter {
        Counter(label: label, dimensions: dimensions, factory: metrics)
    }

    @Test func `a counter, a meter and a timer have the names of Prometheus`() {
        counter("hb.requests", [("http.route", "/healthz")]).increment(by: 3)
        let meter = Meter(label: "http.server.active_requests", dimensions: [], factory: metrics)
        meter.increment()
        meter.increment()
        meter.decrement()
        Timer(label: "http.server.request.duration", dimensions: [], factory: metrics).recordMilliseconds(30)
        #expect(page.contains("# TYPE hb_requests_total counter\nhb_requests_total{http_route=\"/healthz\"} 3\n"))
        #expect(page.contains("# TYPE http_server_active_requests gauge\nhttp_server_active_requests 1\n"))
        #expect(page.contains("# TYPE http_server_request_duration_seconds histogram\n"))
        #expect(page.contains("http_server_request_duration_seconds_bucket{le=\"0.025\"} 0\n"))
        #expect(page.contains("http_server_request_duration_seconds_bucket{le=\"0.05\"} 1\n"))
        #expect(page.contains("http_server_request_duration_seconds_sum 0.03\n"))
    }

    @Test func `fractions, recorders and resets arrive`() {
        let sum = FloatingPointCounter(label: "work_total", dimensions: [], factory: metrics)
        sum.increment(by: 0.5)
        sum.increment(by: 0.25)
        Recorder(label: "size", dimensions: [], aggregate: true, factory: metrics).record(20)
        Gauge(label: "level", dimensions: [], factory: metrics).record(7)
        #expect(page.contains("\nwork_total 0.75\n"))
        #expect(page.contains("size_bucket{le=\"10\"} 0\nsize_bucket{le=\"100\"} 1\n"))
        #expect(page.contains("# TYPE level gauge\nlevel 7\n"))
        let count = counter("n")
        count.increment()
        count.reset()
        #expect(page.contains("\nn_total 0\n"))
    }

    @Test func `the same name and labels are one series`() {
        counter("a", [("b", "c")]).increment()
        counter("a", [("b", "c")]).increment()
        #expect(page.contains("a_total{b=\"c\"} 2\n"))
    }

    @Test func `a client cannot make more series than the limit, and the rest is counted`() {
        for number in 0..<LibraryMetrics.mostSeries + 25 {
            counter("hb.requests", [("path", "/\(number)")]).increment()
        }
        let series = page.split(separator: "\n").count { $0.hasPrefix("hb_requests_total{") }
        #expect(series == LibraryMetrics.mostSeries)
        #expect(page.contains("\nherald_library_series_refused_total 25\n"))
        for number in 0..<LibraryMetrics.mostNames + 5 { counter("name\(number)").increment() }
        #expect(Set(metrics.samples.sums.map(\.name)).count == LibraryMetrics.mostNames)
    }

    @Test func `invented methods share one series`() {
        for method in ["PROPFIND", "MKCOL", "GET"] {
            counter("hb.requests", [("http.request.method", method)]).increment()
        }
        #expect(page.contains("hb_requests_total{http_request_method=\"_OTHER\"} 2\n"))
        #expect(page.contains("hb_requests_total{http_request_method=\"GET\"} 1\n"))
    }

    @Test func `a destroyed series leaves the page and its place`() {
        let gone = counter("a", [("b", "c")])
        gone.increment()
        gone.destroy()
        #expect(!page.contains("a_total"))
    }
}
