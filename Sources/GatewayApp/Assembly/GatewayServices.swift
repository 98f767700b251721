// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import GatewaySync
import Host
import Logging
import SIPCore
import SIPTransport
import ServiceLifecycle

/// The services of a gateway in the order of their start; they stop in the reverse order.
///
/// Last phase of a start. `WorkerService` is last: calls begin when everything else runs, and end before everything else stops.
struct GatewayServices {
    private let start: GatewayStart
    private let resources: GatewayResources
    private let state: StoredState
    private let callPath: CallPathParts
    private let gate = StartGate()
    private let accounts: DirectoryAccounts
    private let outputs: CallOutputs
    private let rejections: RejectionService
    let configurationReload: ConfigurationReload
    private let systemd: SystemdReport
    private let endedCalls = EndedCallCounts()
    private let traces: TraceServices
    private let admin: AdminPort
    private let doors: DoorServices
    private let cluster: ClusterServices?
    private let sharedLedger: SharedLedgerServices?
    private let present: PresentCalls
    /// The source of metrics and status, over all parts.
    let statusReport: GatewayStatusReport

    private var configuration: HeraldConfiguration { start.configuration }

    /// Builds the directory's side and connects the recorder to its listeners.
    ///
    /// - Throws: errors of the API key and of the files of `directory.tls`.
    init(
        _ start: GatewayStart, _ resources: GatewayResources, _ state: StoredState, _ callPath: CallPathParts
    ) throws {
        self.start = start
        self.resources = resources
        self.state = state
        self.callPath = callPath
        rejections = RejectionService(callPath.shared.rejections, logger: Logger(label: "herald.peers"))
        let counts = endedCalls
        state.recorder.onEndedCalls { counts.add($0) }
        let traces = TraceServices(callPath.shared.trace, start.configuration.trace, callPath.settings.current)
        self.traces = traces
        state.recorder.onEndedCalls { traces.ended($0) }
        let accounts = try DirectoryAccounts(
            start, state, resources.troubles, whileSyncing: callPath.workers.setRealTime)
        self.accounts = accounts
        outputs = CallOutputs(
            start.configuration, state.database, logger: Logger(label: "herald.records"))
        let (workers, shared, branding) = (callPath.workers, callPath.shared, state.accounts.usual.current)
        let present = PresentCalls(shared.calls, state.recorder)
        self.present = present
        systemd = SystemdReport(
            progress: { workers.rounds },
            onStuck: { [logger = start.logger] thread in
                logger.critical(
                    "a call thread makes no progress; systemd restarts herald if that lasts, see WatchdogSec",
                    metadata: ["thread": "\(thread)"])
            },
            line: {
                StatusLine(
                    calls: present.count, numbers: branding.load().index.count,
                    syncAge: accounts.owner(nil)?.sync.successAge, isDraining: shared.isDraining
                ).text
            })
        admin = try AdminPort(start.configuration, expectServer: gate.expectServer, logger: start.logger)
        doors = DoorServices(
            start.configuration, shared, LedgerReader(state.database), expectServer: gate.expectServer,
            logger: start.logger)
        let cluster = try ClusterServices(start.configuration, state.recorder, shared.calls)
        self.cluster = cluster
        sharedLedger = SharedLedgerServices(
            start.configuration, state.database, state.recorder, cluster?.exchange,
            into: ClusterLedger(recorder: state.recorder.cluster, calls: shared.calls, isPrompt: false),
            logger: Logger(label: "herald.shared"))
        let streams = resources.transport.streams
        let log = LogReload(output: start.log, recorder: state.recorder, links: CallLinks(start.configuration))
        let disabled = DisabledTargets.Reload(
            targets: callPath.disabledTargets, registry: callPath.foundation.health)
        configurationReload = ConfigurationReload(
            path: start.path, fixed: RestartOnlySettings(start.configuration, hasStreams: streams != nil),
            settings: callPath.settings, streams: streams, names: callPath.names, resolver: callPath.resolver,
            recorder: state.recorder,
            parts: [accounts, outputs, log, traces, admin, doors, disabled] + (cluster.map { [$0] } ?? []),
            last: LastReload(), report: systemd, logger: start.logger)
        statusReport = GatewayStatusReport(
            id: start.configuration.id, listening: resources.transport.bound.map(\.description),
            startedAt: Int64(Date().timeIntervalSince1970), counters: shared.counters, present: present,
            shards: workers.shards, delays: { workers.delays }, health: callPath.foundation.health,
            settings: callPath.settings,
            streams: streams?.counters, identities: resources.transport.identities,
            branding: branding, recorder: state.recorder, reader: LedgerReader(state.database),
            stateProblems: { [troubles = resources.troubles] in troubles.texts },
            accounts: { accounts.all }, routed: { [stored = state.accounts] in stored.customers },
            logos: state.accounts.usual.logos, rejections: rejections, lastReload: configurationReload.last,
            endedCalls: endedCalls, traces: traces, siblings: cluster?.metrics,
            sharedLedger: sharedLedger?.metrics, trust: callPath.trust?.metrics, outputs: outputs,
            doors: doors.metrics)
    }

    /// Builds all services; called once.
    ///
    /// - Throws: the error of a page's template.
    func build() throws -> [any Service] {
        let report = pageReport
        try admin.begin(report)
        let signers = callPath.trust?.services ?? []
        return accounting + links + operation(report) + signers + [alarms] + [
            admin.services, doors.services, systemd, reload, resolving, calls,
        ]
    }

    private var accounting: [any Service] {
        // Siblings get the updates of the recorder's last round, so the exchange stops after it.
        (sharedLedger.map { [SharedLedgerService(sharing: $0.sharing)] } ?? []) + (cluster.map { [$0.exchange] } ?? [])
            + [
                RecorderService(recorder: state.recorder), RecorderWatchService(recorder: state.recorder),
                StateWatchService(claims: resources.claims, secret: resources.secret, troubles: resources.troubles),
            ]
    }

    /// The services that a reload replaces, and the server of logos.
    private var links: [any Service] {
        let settings = callPath.settings.current
        let (accounts, usual) = (accounts, state.accounts.usual)
        let logos = configuration.logos?.server(
            { customer in customer == nil ? usual : accounts.owner(customer)?.brands },
            onListening: gate.expectServer()
        ) { settings.load().brands }
        return accounts.services(statusReport) + (logos.map { [$0] } ?? []) + outputs.services
    }

    private func operation(_ report: GatewayPageReport) -> [any Service] {
        let control = operatorControl.servers(
            in: configuration.runtime, traces: traces, calls: report, callPath.settings, callPath.shared)
        // Traces and test calls end before the socket that they go out by.
        return [rejections] + control + traces.services + [callPath.addresses]
    }

    /// Carries out the commands of the control socket.
    var operatorControl: OperatorControl {
        let accounts = accounts
        return OperatorControl(
            sync: accounts.owner(nil)?.sync, branding: state.accounts.usual.current,
            report: statusReport, reload: { [configurationReload] in await configurationReload.run() },
            plan: { [configurationReload] in await configurationReload.plan() }, log: start.log,
            disabledTargets: callPath.disabledTargets)
    }

    private var alarms: any Service {
        let settings = callPath.settings
        return AlarmService(
            LedgerQueue(LedgerReader(state.database)), folder: configuration.state, standing: statusReport.alarms,
            logger: Logger(label: "herald.alarms")
        ) { settings.configuration.alarms }
    }

    private var reload: any Service {
        ReloadService(start.hangups) { [configurationReload] in _ = await configurationReload.run() }
    }

    private var resolving: any Service { ResolverService(resolver: callPath.resolver) }

    private var calls: any Service {
        let announcement = StartAnnouncement(
            configuration: configuration, bound: resources.transport.bound, budget: callPath.budget,
            memory: resources.memory, logger: start.logger)
        let branding = state.accounts.usual.current
        return WorkerService(
            workers: callPath.workers, streams: resources.transport.streams,
            drain: CallDrain(
                callPath.shared, present, patience: callPath.settings.configuration.drain, logger: start.logger),
            gate: gate,
            report: systemd, logger: start.logger
        ) {
            announcement.log(numbers: branding.load().index.count)
        }
    }

    /// The source of the pages.
    var pageReport: GatewayPageReport {
        GatewayPageReport(
            status: statusReport, settings: callPath.settings, control: operatorControl,
            ledger: LedgerQueue(LedgerReader(state.database)))
    }
}
