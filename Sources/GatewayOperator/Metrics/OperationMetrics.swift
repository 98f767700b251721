// SPDX-License-Identifier: Apache-2.0

import GatewayConfiguration
import GatewaySync
import Host

// The version, the last reload, and the distributions of delays and durations.

extension GatewayStatusReport {
    /// The version, and the last reload; before the first one, the start counts as a successful reload.
    func operationGauges() -> [GaugeSample] {
        let reload = lastReload.entry
        return [
            GaugeSample(
                name: "herald_build_info", help: "1; the label has the version of the gateway",
                labels: [MetricLabel("version", HeraldVersion.current)], value: 1),
            GaugeSample(
                name: "herald_config_last_reload_successful", help: "1 if the last reload applied the file",
                value: reload?.result.isApplied == false ? 0 : 1),
            GaugeSample(
                name: "herald_config_last_reload_timestamp_seconds",
                help: "Time of the last reload, or of the start, in seconds since 1970",
                value: Double(reload?.at ?? startedAt)),
        ]
    }

    /// Added delay and ring time; syncs and deliveries of events where a directory is configured.
    func durations() -> [HistogramSample] {
        let delay = HistogramSample(
            name: "herald_added_delay_seconds",
            help: "Seconds from the wake-up for an INVITE received by UDP to the INVITE that leaves",
            value: delays())
        guard let directory, let sender = directory.senders[nil] else { return [delay] + endedCalls.histograms }
        let delivery = HistogramSample(
            name: "herald_event_delivery_seconds",
            help: "Seconds from the storing of an event to its acceptance by the directory",
            value: sender.deliveryTimes)
        return [delay] + endedCalls.histograms + directory.sync.durations.samples + [delivery]
    }
}
