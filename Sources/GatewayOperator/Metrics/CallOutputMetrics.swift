// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Host

// Metrics and status of the outputs of ended calls.

extension CallOutputSink {
    /// The key of the output in `outcomes`.
    var key: String {
        switch self {
        case .file: "cdr_file"
        case .webhook: "webhook"
        case .kafka: "kafka"
        }
    }
}

extension CallOutputs {
    /// Sent and failed records of each configured output.
    var counters: [CounterSample] {
        standings.flatMap { sink, standing in
            let labels = [MetricLabel("output", sink.key)]
            return [
                CounterSample(
                    name: "herald_call_records_sent_total", help: "Records of calls that an output has taken",
                    labels: labels, value: standing.sent),
                CounterSample(
                    name: "herald_call_records_failures_total",
                    help: "Attempts of an output that delivered no record, and records that it refused",
                    labels: labels, value: standing.failed),
            ]
        }
    }

    /// Waiting records of each configured output.
    var gauges: [GaugeSample] {
        status.map { output in
            GaugeSample(
                name: "herald_call_records_waiting", help: "Records of calls that an output has not taken yet",
                labels: [MetricLabel("output", output.output)], value: Double(output.waiting))
        }
    }

    /// Backlog and problem of each configured output.
    var status: [GatewayStatus.CallRecords] {
        let standings = standings
        guard !standings.isEmpty else { return [] }
        let waiting = (try? queue.waiting()) ?? [:]
        return standings.map { sink, standing in
            .init(output: sink.key, waiting: waiting[sink] ?? 0, problem: standing.problem)
        }
    }
}
