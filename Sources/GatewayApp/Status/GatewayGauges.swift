// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import GatewaySync
import MetricsPage
import SIPCore
import SIPTransport

// Gauges of brands, transactions, targets, connections and certificates.

extension GatewayStatusReport {
    /// The brand index, transactions, calls in progress and problems of the state folder.
    func callPathGauges(_ snapshot: BrandingSnapshot) -> [GaugeSample] {
        [
            GaugeSample(
                name: "herald_brand_numbers", help: "Numbers that calls can be branded from",
                value: Double(snapshot.index.count)),
            GaugeSample(
                name: "herald_branding_open", help: "1 when the directory's gates are open",
                value: snapshot.gates.closed == nil ? 1 : 0),
            GaugeSample(
                name: "herald_transactions", help: "SIP transactions in memory",
                value: Double(workers.shards.transactions)),
            GaugeSample(
                name: "herald_transactions_limit", help: "Number of SIP transactions above which new calls get 503",
                value: Double(workers.shards.shared.settings.load().mostTransactions)),
            GaugeSample(
                name: "herald_calls_in_progress", help: "Calls that have begun and not ended",
                value: Double(workers.shards.shared.calls.count)),
            GaugeSample(
                name: "herald_draining", help: "1 while new calls are rejected because the gateway drains or stops",
                value: shards.shared.isDraining ? 1 : 0),
            GaugeSample(
                name: "herald_state_problems", help: "Problems of the gateway's folders and files",
                value: Double(troubles.texts.count)),
        ]
    }

    /// Targets, TCP and TLS connections, and certificates.
    func peerGauges() -> [GaugeSample] {
        let now = Moment.monotonicMilliseconds()
        let transports = workers.shards.shared.settings.load().topology.targetTransports
        let targets = health.all.map { target in
            GaugeSample(
                name: "herald_target_up", help: "1 when calls go to the target",
                labels: target.metricLabels(transport: transports[target.name]), value: target.isUp(at: now) ? 1 : 0)
        }
        let connections = streams.map { streams in
            GaugeSample(
                name: "herald_stream_connections", help: "TCP and TLS connections that are open",
                value: Double(streams.openConnections))
        }
        let certificates = identities.compactMap { $0.gauge(at: Int64(Date().timeIntervalSince1970)) }
        return targets + (connections.map { [$0] } ?? []) + certificates
    }

    /// The age of the last good sync, and the gates; empty without a directory.
    func directoryGauges(_ snapshot: BrandingSnapshot) -> [GaugeSample] {
        guard let link else { return [] }
        let age = link.sync.successAge.map { age in
            GaugeSample(
                name: "herald_sync_age_seconds", help: "Seconds since the last successful sync", value: Double(age))
        }
        return (age.map { [$0] } ?? []) + link.gauges(snapshot.gates)
    }
}

extension TargetState {
    /// `kind` (`pbx` or `trunk`), `peer` with the configured name, `address` and `transport`.
    fileprivate func metricLabels(transport: SIPTransportKind?) -> [MetricLabel] {
        let words = group.split(separator: " ", maxSplits: 1).map(String.init)
        return [
            MetricLabel("kind", words.first ?? ""), MetricLabel("peer", words.count > 1 ? words[1] : group),
            MetricLabel("address", address), MetricLabel("transport", transport.map { "\($0)" } ?? ""),
        ]
    }
}

extension GatewayTopology {
    /// The transport of each target, by its name.
    fileprivate var targetTransports: [String: SIPTransportKind] {
        let targets = trunks.map(\.targets) + pbxs.map(\.targets)
        return targets.flatMap(\.targets).reduce(into: [:]) { found, target in
            found[target.targetState.name] = sockets[target.socket].transport
        }
    }
}

extension ListenerIdentity {
    /// Seconds until the certificate expires.
    fileprivate func gauge(at now: Int64) -> GaugeSample? {
        guard let standing = identity.standing else { return nil }
        return GaugeSample(
            name: "herald_certificate_expires_seconds",
            help: "Seconds until the certificate of a listen entry expires; negative once it has",
            labels: [MetricLabel("listen", name)], value: Double(standing.secondsLeft(at: now)))
    }
}
