// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayCluster
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import Host
import Logging
import NIOCore
import SIPCore
import ServiceLifecycle

/// The exchange with sibling gateways, in a gateway with a `cluster` section.
struct ClusterServices: ReloadablePart {
    let exchange: SiblingExchange
    private let recorder: OutcomeRecorder

    /// Connects the recorder to the exchange; nil for a gateway that is alone.
    ///
    /// - Throws: for an address that the system does not read.
    init?(_ configuration: HeraldConfiguration, _ recorder: OutcomeRecorder, _ calls: CallsInProgress) throws {
        guard let cluster = configuration.cluster else { return nil }
        self.recorder = recorder
        exchange = SiblingExchange(
            listen: try SocketAddress(ipAddress: cluster.listen.host, port: Int(cluster.listen.port)),
            settings: try cluster.siblingSettings(), ledger: ClusterLedger(recorder: recorder.cluster, calls: calls),
            logger: Logger(label: "herald.cluster"), now: { .current })
        recorder.cluster.onUpdates { [exchange] in exchange.append($0) }
    }

    func prepare(_ next: HeraldConfiguration) throws -> (@Sendable () async -> Void)? {
        guard let settings = try next.cluster?.siblingSettings() else { return nil }
        return { [exchange] in exchange.use(settings) }
    }

    /// Metrics and status of the exchange.
    var metrics: SiblingMetrics { SiblingMetrics(exchange: exchange, recorder: recorder) }
}

/// The ledger and the table of calls in progress, as siblings change them.
struct ClusterLedger: SiblingLedger {
    let recorder: RecorderCluster
    let calls: CallsInProgress
    /// Whether responses count; late ones may be of an earlier attempt.
    var isPrompt = true

    var storedBatch: UInt64 { recorder.storedBatch }

    func take(_ updates: [ForeignUpdate]) -> UInt64? {
        calls.leave(
            updates.map(\.update).flatMap { update in
                message(of: update).map { message in
                    update.calls.map { .init(message, of: $0, at: update.wallMicroseconds) }
                } ?? []
            })
        return recorder.take(updates)
    }

    /// The message of a call in progress that an update reports; nil for one that changes nothing.
    private func message(of update: CallUpdate) -> CallsInProgress.SiblingReport.Message? {
        switch update.kind {
        case .bye: .bye
        case .provisional: isPrompt ? .alerting : nil
        case .answered: isPrompt ? .answered : nil
        case .failed: isPrompt && !CallStateMachine.asksForRetry(update.status) ? .rejected : nil
        default: nil
        }
    }
}
