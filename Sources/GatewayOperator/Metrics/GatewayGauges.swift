// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import GatewayConfiguration
import GatewaySync
import Host
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
                value: Double(shards.transactions)),
            GaugeSample(
                name: "herald_transactions_limit", help: "Number of SIP transactions above which new calls get 503",
                value: Double(shards.shared.settings.load().mostTransactions)),
            GaugeSample(
                name: "herald_calls_in_progress", help: "Calls that have begun and not ended",
                value: Double(present.count)),
            GaugeSample(
                name: "herald_draining", help: "1 while new calls are rejected because the gateway drains or stops",
                value: shards.shared.isDraining ? 1 : 0),
            GaugeSample(
                name: "herald_unknown_invites",
                help: "INVITEs of unknown peers rejected or dropped in the last ten minutes, known scanners left out",
                value: Double(rejections.unknownCallers?.invites ?? 0)),
            GaugeSample(
                name: "herald_state_problems", help: "Problems of the gateway's folders and files",
                value: Double(stateProblems().count)),
        ]
    }

    /// Targets, TCP and TLS connections, and certificates.
    func peerGauges() -> [GaugeSample] {
        let now = Moment.monotonicMilliseconds()
        let targets = labelledTargets
        let ups = targets.map { target, labels in
            GaugeSample(
                name: "herald_target_up", help: "1 when calls go to the target", labels: labels,
                value: target.isUp(at: now) ? 1 : 0)
        }
        let open = targets.map { target, labels in
            GaugeSample(
                name: "herald_target_calls_open", help: "Calls in progress that were sent to the target",
                labels: labels, value: Double(target.openCalls))
        }
        let connections = streams.map { streams in
            [
                GaugeSample(
                    name: "herald_stream_connections", help: "TCP and TLS connections that are open",
                    value: Double(streams.openConnections)),
                GaugeSample(
                    name: "herald_stream_bytes",
                    help: "Bytes of memory that TCP and TLS connections and their unfinished messages take",
                    value: Double(streams.heldBytes)),
            ]
        }
        let certificates = identities.compactMap { $0.gauge(at: Int64(Date().timeIntervalSince1970)) }
        return addressGauges + ups + open + (connections ?? []) + certificates
    }

    /// The presence of each address of `listen`, which several entries may have.
    private var addressGauges: [GaugeSample] {
        let absent = Set(standby.map(GatewayStatus.host))
        return Set(listening.map(GatewayStatus.host)).sorted().map { host in
            GaugeSample(
                name: "herald_address_present", help: "1 while the machine has the address of a listen entry",
                labels: [MetricLabel("address", host)], value: absent.contains(host) ? 0 : 1)
        }
    }

    /// Calls sent to each target.
    func targetCounters() -> [CounterSample] {
        labelledTargets.map { target, labels in
            CounterSample(
                name: "herald_target_calls_total",
                help: "Calls sent to the target, with those that went on to another one", labels: labels,
                value: target.sentCalls)
        }
    }

    /// Every target with the labels of its series.
    private var labelledTargets: [(TargetState, [MetricLabel])] {
        let transports = shards.shared.settings.load().topology.targetTransports
        return health.all.map { ($0, $0.metricLabels(transport: transports[$0.name])) }
    }

    /// The age of the last good sync, and the gates; empty without a directory.
    func directoryGauges(_ snapshot: BrandingSnapshot) -> [GaugeSample] {
        guard let directory else { return [] }
        let age = GaugeSample(
            name: "herald_sync_age_seconds",
            help: "Seconds since the last successful sync, or since the start before the first",
            value: Double(directory.sync.age))
        return [age] + directory.gauges(snapshot.gates)
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
