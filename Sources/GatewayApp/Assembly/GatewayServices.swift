// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
import GatewayAdmin
import GatewayStore
import GatewaySync
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
    /// Nil where the configuration names no directory.
    private let link: DirectoryLink?
    private let rejections: RejectionService

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
        link = try DirectoryLink(
            start.configuration, state, gate: gate, troubles: resources.troubles, logger: start.logger,
            isEnabled: { [settings = callPath.settings.current] in settings.load().brands },
            whileSyncing: callPath.workers.setRealTime)
        if let lookup = link?.lookup { state.recorder.onUnknownCaller { lookup.ended(callFrom: $0) } }
        if let lines = EndedCallLog(start.configuration.log) { state.recorder.onEndedCalls { lines.append($0) } }
    }

    /// Builds all services; called once.
    func build() -> [any Service] { accounting + directory + operation + [reload, resolving, calls] }

    private var accounting: [any Service] {
        [
            RecorderService(recorder: state.recorder), RecorderWatchService(recorder: state.recorder),
            StateWatchService(claims: resources.claims, secret: resources.secret, troubles: resources.troubles),
        ]
    }

    private var directory: [any Service] { link?.services ?? [] }

    private var operation: [any Service] {
        let status = statusReport
        let outputs = CallOutputService(
            configuration.outcomes, state.database, logger: Logger(label: "herald.records"))
        let uploader = link?.debugUploader(configuration, state.brands.current, start.recentLog, status)
        let admin = configuration.admin.map { address in
            AdminServer(
                HTTPListener(address, key: "admin.listen", onListening: gate.expectServer()), source: status,
                logger: Logger(label: "herald.admin"))
        }
        let control = ControlServer(
            folder: configuration.runtime, control: OperatorControl(sync: link?.sync, branding: state.brands.current),
            logger: Logger(label: "herald.control"))
        let services: [(any Service)?] = [outputs, rejections, uploader, admin, control]
        return services.compactMap { $0 }
    }

    private var reload: any Service {
        ReloadService(
            hangups: start.hangups,
            reload: ConfigurationReload(
                path: start.path,
                fixed: RestartOnlySettings(configuration, hasStreams: resources.transport.streams != nil),
                settings: callPath.settings, streams: resources.transport.streams, resolver: callPath.resolver,
                recorder: state.recorder, logger: start.logger))
    }

    private var resolving: any Service { ResolverService(resolver: callPath.resolver) }

    private var calls: any Service {
        let announcement = StartAnnouncement(
            configuration: configuration, bound: resources.transport.bound, budget: callPath.budget,
            memory: resources.memory, logger: start.logger)
        let branding = state.brands.current
        return WorkerService(
            workers: callPath.workers, streams: resources.transport.streams,
            drain: CallDrain(callPath.shared, patience: configuration.drain, logger: start.logger), gate: gate,
            logger: start.logger
        ) {
            announcement.log(numbers: branding.load().index.count)
        }
    }

    /// The source of the admin page, over all parts.
    var statusReport: GatewayStatusReport {
        GatewayStatusReport(
            id: configuration.id, listening: resources.transport.bound.map(\.description),
            startedAt: Int64(Date().timeIntervalSince1970), counters: callPath.shared.counters,
            shards: callPath.workers.shards, health: callPath.foundation.health,
            streams: resources.transport.streams?.counters, identities: resources.transport.identities,
            branding: state.brands.current, recorder: state.recorder, reader: LedgerReader(state.database),
            troubles: resources.troubles, link: link, logos: state.logos,
            isSettledWithoutSync: configuration.directory == nil || !configuration.branding.isEnabled,
            rejections: rejections)
    }
}
