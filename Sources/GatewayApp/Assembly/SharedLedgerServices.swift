// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import GatewayCluster
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import Logging
import ServiceLifecycle

/// The shipper to the shared ledger, in a gateway with `cluster.ledger`.
struct SharedLedgerServices: Sendable {
    let sharing: LedgerSharing

    /// Nil for a gateway without a shared ledger.
    ///
    /// - Parameters:
    ///   - recorder: takes over the calls of silent gateways, and returns that were found among all gateways.
    ///   - exchange: knows which siblings respond.
    ///   - ledger: takes what other gateways have seen of this one's calls.
    init?(
        _ configuration: HeraldConfiguration, _ database: HeraldDatabase, _ recorder: OutcomeRecorder,
        _ exchange: SiblingExchange?, into ledger: any SiblingLedger, logger: Logger
    ) {
        guard let address = configuration.cluster?.ledger else { return nil }
        recorder.cluster.expectHandovers()
        sharing = LedgerSharing(
            .init(
                address: address, name: configuration.id, version: HeraldVersion.current,
                retentionDays: Int((configuration.outcomes.retention / .seconds(86_400)).rounded(.up)),
                siblingAddress: exchange?.address),
            LedgerChanges(database),
            inbox: .init(
                into: ledger, LedgerSignalCursors(database), returns: recorder,
                window: configuration.outcomes.returnedWindow.components.seconds),
            adopts: (recorder.cluster, { exchange?.sights ?? [] }), ledgerProblem: { recorder.totals.problem },
            log: logger)
        recorder.onStored { [sharing] in sharing.haveStored() }
    }

    /// Metrics and status of the shipper.
    var metrics: SharedLedgerMetrics { SharedLedgerMetrics(sharing: sharing) }
}

/// Ships changes as long as the gateway runs.
struct SharedLedgerService: Service {
    let sharing: LedgerSharing

    func run() async throws {
        await cancelWhenGracefulShutdown { await sharing.run() }
    }
}
