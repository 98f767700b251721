// SPDX-License-Identifier: Apache-2.0

public import CoreMetrics
import Synchronization

/// Collects the metrics that libraries record through swift-metrics, such as those of Hummingbird's HTTP servers.
///
/// Any thread. A value takes the lock of its own series. The number of series is bounded: above the limit a new series
/// is counted and not kept, so that no client can fill memory with invented labels. Names follow Prometheus: a counter
/// ends with `_total`, a timer with `_seconds`.
public final class LibraryMetrics: MetricsFactory {
    /// The collection that both programs hand to swift-metrics at their start.
    public static let shared = LibraryMetrics()

    /// Most series of one name, and most names.
    public static let mostSeries = 400
    public static let mostNames = 64

    private struct State {
        var counters: [Key: LibraryCounter] = [:]
        var meters: [Key: LibraryMeter] = [:]
        var recorders: [Key: LibraryRecorder] = [:]
        var timers: [Key: LibraryTimer] = [:]
        var series: [String: Int] = [:]
        var refused: UInt64 = 0

        /// Reserves a series of a name; false above a limit.
        mutating func takes(_ name: String) -> Bool {
            let count = series[name] ?? 0
            guard count < mostSeries, count > 0 || series.count < mostNames else {
                refused += 1
                return false
            }
            series[name] = count + 1
            return true
        }

        mutating func releases(_ name: String) {
            let count = (series[name] ?? 1) - 1
            series[name] = count > 0 ? count : nil
        }
    }

    private let state = Mutex(State())

    public init() {}

    // MARK: Handlers

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(Key(label, dimensions, ending: "_total")) ?? NOOPMetricsHandler.instance
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(Key(label, dimensions, ending: "_total")) ?? NOOPMetricsHandler.instance
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        meter(Key(label, dimensions)) ?? NOOPMetricsHandler.instance
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        let key = Key(label, dimensions)
        guard aggregate else { return meter(key) ?? NOOPMetricsHandler.instance }
        return state.withLock { state -> (any RecorderHandler)? in
            if let known = state.recorders[key] { return known }
            guard state.takes(key.name) else { return nil }
            let made = LibraryRecorder()
            state.recorders[key] = made
            return made
        } ?? NOOPMetricsHandler.instance
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let key = Key(label, dimensions, ending: "_seconds")
        return state.withLock { state -> (any TimerHandler)? in
            if let known = state.timers[key] { return known }
            guard state.takes(key.name) else { return nil }
            let made = LibraryTimer()
            state.timers[key] = made
            return made
        } ?? NOOPMetricsHandler.instance
    }

    public func destroyCounter(_ handler: any CounterHandler) { remove(handler, from: \.counters) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
        remove(handler, from: \.counters)
    }
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler, from: \.meters) }
    public func destroyRecorder(_ handler: any RecorderHandler) {
        remove(handler, from: \.recorders)
        remove(handler, from: \.meters)
    }
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler, from: \.timers) }

    private func counter(_ key: Key) -> LibraryCounter? {
        state.withLock { state in
            if let known = state.counters[key] { return known }
            guard state.takes(key.name) else { return nil }
            let made = LibraryCounter()
            state.counters[key] = made
            return made
        }
    }

    private func meter(_ key: Key) -> LibraryMeter? {
        state.withLock { state in
            if let known = state.meters[key] { return known }
            guard state.takes(key.name) else { return nil }
            let made = LibraryMeter()
            state.meters[key] = made
            return made
        }
    }

    private func remove<Handler: AnyObject & Sendable>(
        _ handler: any AnyObject & Sendable, from kind: WritableKeyPath<State, [Key: Handler]>
    ) {
        state.withLock { state in
            guard let key = state[keyPath: kind].first(where: { $0.value === handler })?.key else { return }
            state[keyPath: kind][key] = nil
            state.releases(key.name)
        }
    }

    // MARK: The page

    /// The series of this moment, sorted by name and labels.
    public var samples: MetricSamples {
        let (counters, meters, recorders, timers, refused) = state.withLock {
            ($0.counters, $0.meters, $0.recorders, $0.timers, $0.refused)
        }
        var samples = MetricSamples(counters: [
            CounterSample(
                name: "herald_library_series_refused_total",
                help: "Series of libraries left out above the limit of series",
                value: refused)
        ])
        for (key, counter) in Self.sorted(counters) {
            samples.sums.append(
                SumSample(name: key.name, help: key.help, labels: key.metricLabels, value: counter.value))
        }
        for (key, meter) in Self.sorted(meters) {
            samples.gauges.append(
                GaugeSample(name: key.name, help: key.help, labels: key.metricLabels, value: meter.value))
        }
        for (key, recorder) in Self.sorted(recorders) {
            samples.histograms.append(
                HistogramSample(name: key.name, help: key.help, labels: key.metricLabels, value: recorder.distribution))
        }
        for (key, timer) in Self.sorted(timers) {
            samples.histograms.append(
                HistogramSample(
                    name: key.name, help: key.help, labels: key.metricLabels, value: timer.durations.distribution))
        }
        return samples
    }

    private static func sorted<Value>(_ series: [Key: Value]) -> [(key: Key, value: Value)] {
        series.sorted { ($0.key.name, $0.key.order) < ($1.key.name, $1.key.order) }
    }
}

extension LibraryMetrics {
    /// The name and the labels of a series.
    private struct Key: Hashable {
        let name: String
        private let labels: [[String]]

        /// The methods that clients of the servers send; any other counts as `_OTHER`, as in OpenTelemetry.
        private static let methods: Set<String> = [
            "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
        ]

        init(_ label: String, _ dimensions: [(String, String)], ending: String = "") {
            let plain = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            name = plain.hasSuffix(ending) ? plain : plain + ending
            labels = dimensions.map { name, value in
                [name, name == "http.request.method" && !Self.methods.contains(value) ? "_OTHER" : value]
            }
        }

        var metricLabels: [MetricLabel] { labels.map { MetricLabel($0[0], $0[1]) } }

        var order: String { labels.map { $0.joined(separator: "=") }.joined(separator: ",") }

        var help: String { Self.known[name] ?? "Metric of a library" }

        /// Help texts of the series that Hummingbird records.
        private static let known = [
            "hb_requests_total": "HTTP requests by route, method and status",
            "hb_request_errors_total": "HTTP requests that ended in an error, by route, method and status",
            "http_server_active_requests": "HTTP requests in progress by method",
            "http_server_request_duration_seconds":
                "Seconds from an HTTP request to the end of its response, by route, method and status",
        ]
    }
}

/// A counter of a library, with fractions.
private final class LibraryCounter: CounterHandler, FloatingPointCounterHandler {
    private let state = Mutex(0.0)

    var value: Double { state.withLock { $0 } }

    func increment(by amount: Int64) { increment(by: Double(amount)) }

    func increment(by amount: Double) { state.withLock { if amount > 0 { $0 += amount } } }

    func reset() { state.withLock { $0 = 0 } }
}

/// A value of a library that goes up and down.
private final class LibraryMeter: MeterHandler, RecorderHandler {
    private let state = Mutex(0.0)

    var value: Double { state.withLock { $0 } }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0 = value } }
    func increment(by amount: Double) { state.withLock { $0 += amount } }
    func decrement(by amount: Double) { state.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
}

/// Values of a library without a unit, in powers of ten.
private final class LibraryRecorder: RecorderHandler {
    private static let bounds: [Double] = [0.001, 0.01, 0.1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6]

    private let state = Mutex(
        Distribution(bounds: bounds, counts: [UInt64](repeating: 0, count: bounds.count + 1), sum: 0))

    var distribution: Distribution { state.withLock { $0 } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        state.withLock { state in
            state.counts[Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count] += 1
            state.sum += value
        }
    }
}

/// Durations of a library.
private final class LibraryTimer: TimerHandler {
    let durations = DurationHistogram(.request)

    func recordNanoseconds(_ duration: Int64) { durations.record(nanoseconds: UInt64(max(duration, 0))) }
}
