// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
package import CallPath
package import ConfigurationFiles
import GatewayConfiguration
import Host
import Logging
import SIPCore
import SIPTransport
package import ServiceLifecycle

extension HeraldConfiguration.HEP {
    /// The collector as the exporter uses it.
    var exported: HEPCollector {
        HEPCollector(
            host: collector.host, port: Int(collector.port), transport: .init(transport),
            captureID: UInt32(captureID), authKey: authKey?.reveal() ?? "",
            numbers: .init(numbers))
    }
}

extension HEPCollector.Transport {
    fileprivate init(_ transport: HeraldConfiguration.HEP.Transport) {
        switch transport {
        case .udp: self = .udp
        case .tcp: self = .tcp
        }
    }
}

extension TraceOrder.Numbers {
    fileprivate init(_ numbers: HeraldConfiguration.HEP.Numbers) {
        switch numbers {
        case .masked: self = .masked
        case .full: self = .full
        }
    }
}

/// The services of traces: the reader of the tap, and the export to HEP.
package struct TraceServices: ReloadablePart {
    let service: TraceService
    let exporter: HEPExporter

    /// Builds both; nothing is read before they run.
    package init(_ tap: TraceTap, _ trace: HeraldConfiguration.Trace, _ settings: CurrentSettings) {
        service = TraceService(tap, capacity: trace.buffer, settings: settings, now: { .now() })
        exporter = HEPExporter(
            source: service, collector: trace.hep?.exported, logger: Logger(label: "herald.trace"))
    }

    /// The reader, then the export, as they start.
    package var services: [any Service] { [service, exporter] }

    /// Takes calls that have ended.
    package func ended(_ calls: [CallRecord]) { service.ended(calls) }

    package func prepare(_ next: HeraldConfiguration) -> (@Sendable () async -> Void)? {
        let collector = next.trace.hep?.exported
        return { [exporter] in exporter.use(collector) }
    }

    /// Events left out, and exported messages.
    var counters: [CounterSample] {
        let dropped = service.dropped
        let exported = exporter.counts
        func lost(_ place: String, _ value: UInt64) -> CounterSample {
            CounterSample(
                name: "herald_trace_dropped_total",
                help: "Events of traces that were left out, by place: at a full ring, or for a reader that is too slow",
                labels: [MetricLabel("at", place)], value: value)
        }
        func sent(_ result: String, _ value: UInt64) -> CounterSample {
            CounterSample(
                name: "herald_hep_messages_total", help: "Messages for the HEP collector, by result",
                labels: [MetricLabel("result", result)], value: value)
        }
        return [
            lost("ring", dropped.ring), lost("reader", dropped.readers), sent("sent", exported.sent),
            sent("dropped", exported.dropped),
        ]
    }
}
