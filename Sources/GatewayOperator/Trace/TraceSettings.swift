// SPDX-License-Identifier: Apache-2.0

import CallAccounting
package import ConfigurationFiles
import GatewayConfiguration
import Host

extension HeraldConfiguration.HEP {
    /// The collector as the exporter uses it.
    package var exported: HEPCollector {
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
    /// The reader of the tap.
    package let service: TraceService
    /// The export to HEP.
    package let exporter: HEPExporter

    /// - Parameter service: the source of the exporter too.
    package init(service: TraceService, exporter: HEPExporter) { (self.service, self.exporter) = (service, exporter) }

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
