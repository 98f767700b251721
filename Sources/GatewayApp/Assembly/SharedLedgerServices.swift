// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import GatewayShare
import GatewayStore
import Logging
import MetricsPage
import PostgreSQL
import ServiceLifecycle

/// The shipper to the shared ledger, in a gateway with `cluster.ledger`.
struct SharedLedgerServices: Sendable {
    let sharing: LedgerSharing

    /// Nil for a gateway without a shared ledger, whose own ledger then records no changes for it.
    ///
    /// - Parameters:
    ///   - ledger: takes what other gateways have seen of this one's calls.
    ///   - returns: takes returns that were found among all gateways.
    init?(
        _ configuration: HeraldConfiguration, _ database: HeraldDatabase, into ledger: any SiblingLedger,
        returns: any ReturnLedger, logger: Logger
    ) {
        guard let address = configuration.cluster?.ledger else {
            do { try LedgerChanges.stop(database) } catch {
                logger.debug("changes for a shared ledger are still recorded", metadata: ["reason": "\(error)"])
            }
            return nil
        }
        sharing = LedgerSharing(
            .init(
                address: address, name: configuration.id, version: HeraldVersion.current,
                retentionDays: Int((configuration.outcomes.retention / .seconds(86_400)).rounded(.up))),
            LedgerChanges(database),
            inbox: .init(
                into: ledger, LedgerSignalCursors(database), returns: returns,
                window: configuration.outcomes.returnedWindow.components.seconds),
            log: logger)
    }

    /// Rows sent and failures.
    var counters: [CounterSample] {
        let standing = sharing.standing
        return [
            CounterSample(
                name: "herald_shared_rows_total", help: "Rows sent to the shared ledger", value: UInt64(standing.rows)),
            CounterSample(
                name: "herald_shared_failures_total",
                help: "Writes to the shared ledger that failed and are repeated", value: UInt64(standing.failures)),
            CounterSample(
                name: "herald_shared_fenced_total",
                help: "Times that another gateway had taken over while this one was silent",
                value: UInt64(standing.fenced)),
            CounterSample(
                name: "herald_shared_signals_total",
                help: "Call updates that other gateways have stored in the shared ledger, read by this one",
                value: UInt64(standing.signals)),
            CounterSample(
                name: "herald_shared_returns_total",
                help: "Originals and call backs of this gateway that were joined through the shared ledger",
                value: UInt64(standing.returns)),
        ]
    }

    /// The lag.
    var gauges: [GaugeSample] {
        let standing = sharing.standing
        return [
            GaugeSample(
                name: "herald_shared_behind_seconds",
                help: "Seconds since the shared ledger had all changes of this gateway", value: standing.behind),
            GaugeSample(
                name: "herald_shared_waiting", help: "Changed rows that the shared ledger has not got yet",
                value: Double(standing.waiting)),
        ]
    }

    var status: GatewayStatus.SharedLedger {
        let standing = sharing.standing
        return .init(behindSeconds: standing.behind, waiting: standing.waiting, problem: standing.problem)
    }
}

/// Ships changes as long as the gateway runs.
struct SharedLedgerService: Service {
    let sharing: LedgerSharing

    func run() async throws {
        await cancelWhenGracefulShutdown { await sharing.run() }
    }
}
