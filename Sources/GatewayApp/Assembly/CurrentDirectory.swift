// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import GatewaySync
import Logging
import ServiceLifecycle
import Synchronization

/// The link to the directory and the logo service, which a reload replaces together.
///
/// The old link ends first: requests in flight get their responses, an unfinished sync is rolled back. Events wait in the
/// outbox meanwhile, and each keeps its key. One publisher of the snapshot serves every link. Any thread.
final class CurrentDirectory: ReloadablePart {
    /// The settings that a link is built from, with the contents of its files.
    private struct Inputs: Equatable {
        let access: HeraldConfiguration.DirectoryAccess?
        let logos: HeraldConfiguration.Logos?
        let files: [Data?]

        init(_ configuration: HeraldConfiguration) {
            access = configuration.directory
            logos = configuration.logos
            files = access?.tls.contents ?? []
        }
    }

    private struct State {
        var inputs: Inputs
        var link: DirectoryLink?
        /// The source of debug uploads.
        var report: GatewayStatusReport?
    }

    private let start: GatewayStart
    private let stored: StoredState
    private let troubles: StateTroubles
    private let publisher: BrandingPublisher
    private let whileSyncing: @Sendable (Bool) -> Void
    private let state: Mutex<State>
    /// Runs the services of the link.
    let services: ReplaceableServices

    /// Builds the link of the start.
    ///
    /// - Parameter whileSyncing: called with `true` before a sync and `false` after it.
    /// - Throws: errors of the API key and of the files of `directory.tls`.
    init(
        _ start: GatewayStart, _ stored: StoredState, _ troubles: StateTroubles,
        whileSyncing: @escaping @Sendable (Bool) -> Void
    ) throws {
        self.start = start
        self.stored = stored
        self.troubles = troubles
        self.whileSyncing = whileSyncing
        publisher = BrandingPublisher(
            current: stored.brands.current, cache: stored.brands.store, logger: start.logger)
        let link = try DirectoryLink(
            start.configuration, stored, publisher, troubles: troubles, logger: start.logger,
            whileSyncing: whileSyncing)
        state = Mutex(State(inputs: Inputs(start.configuration), link: link))
        services = ReplaceableServices(logger: start.logger)
        listen(link)
    }

    /// The link in force; nil where no directory is configured.
    var link: DirectoryLink? { state.withLock { $0.link } }

    /// Hands the services of the start over; called once, before they run.
    ///
    /// - Parameter report: the source of debug uploads.
    func begin(_ report: GatewayStatusReport) {
        let link = state.withLock { state in
            state.report = report
            return state.link
        }
        services.replace { [self] in running(link, start.configuration) }
    }

    func prepare(_ next: HeraldConfiguration) throws -> (@Sendable () async -> Void)? {
        let inputs = Inputs(next)
        let old = state.withLock { $0.inputs }
        guard inputs != old else { return nil }
        let link = try DirectoryLink(
            next, stored, publisher, troubles: troubles, logger: start.logger, isReload: true,
            whileSyncing: whileSyncing)
        let isOther = old.access?.url != inputs.access?.url || old.access?.key != inputs.access?.key
        return { [self] in
            if let logos = next.logos { stored.logos?.store.use(logos.storeSettings) }
            state.withLock { $0.inputs = inputs }
            // Another directory has records of its own, and another key perhaps another account.
            if isOther { link?.sync.syncNow(full: true) }
            services.replace { [self] in
                await takeOver(link, next)
                return running(link, next)
            }
        }
    }

    func reloaded() async { await link?.sync.retryRefusedKey() }

    /// Puts a link in force after the end of the old one.
    private func takeOver(_ link: DirectoryLink?, _ configuration: HeraldConfiguration) async {
        let obeys = configuration.directory?.voipDialer == .obey
        await publisher.change { gates in
            var gates = gates
            gates.obeysVoipDialer = obeys
            return gates
        }
        state.withLock { $0.link = link }
        listen(link)
        start.logger.notice(
            "directory and logos have their new settings",
            metadata: ["directory": "\(configuration.directory?.url ?? "none")"])
    }

    private func listen(_ link: DirectoryLink?) {
        let lookup = link?.lookup
        stored.recorder.onUnknownCaller { lookup?.ended(callFrom: $0) }
    }

    private func running(_ link: DirectoryLink?, _ configuration: HeraldConfiguration) -> [any Service] {
        guard let link else { return [] }
        let report = state.withLock { $0.report }
        let uploader = report.flatMap {
            link.debugUploader(configuration, stored.brands.current, start.log.recent, $0)
        }
        return link.services + (uploader.map { [$0] } ?? [])
    }
}
