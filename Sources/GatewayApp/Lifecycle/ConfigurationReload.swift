// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import Host
import Logging
import SIPTransport
import Synchronization

/// Reads the configuration file again and applies it: to the call path between two messages, to the parts one by one.
///
/// A file with a problem changes nothing. The log names settings that need a restart; they keep their values until then.
/// Reloads run one after the other, from whichever task they are asked for.
final class ConfigurationReload: Sendable {
    private let path: String
    private let fixed: RestartOnlySettings
    private let settings: LiveSettings
    /// Nil where no address uses TCP or TLS.
    private let streams: StreamTransport?
    private let names: LiveNameLookup
    private let resolver: NextHopResolver
    private let recorder: OutcomeRecorder
    /// Parts with settings of their own, in the order of their change.
    private let parts: [any ReloadablePart]
    private let logger: Logger
    /// The result and the time of the last reload.
    let last: LastReload
    private let report: SystemdReport
    /// The reload that the next one waits for.
    private let running = Mutex<Task<ReloadResult, Never>?>(nil)

    init(
        path: String, fixed: RestartOnlySettings, settings: LiveSettings, streams: StreamTransport?,
        names: LiveNameLookup, resolver: NextHopResolver, recorder: OutcomeRecorder, parts: [any ReloadablePart],
        last: LastReload, report: SystemdReport, logger: Logger
    ) {
        self.path = path
        self.fixed = fixed
        self.settings = settings
        self.streams = streams
        self.names = names
        self.resolver = resolver
        self.recorder = recorder
        self.parts = parts
        self.last = last
        self.report = report
        self.logger = logger
    }

    /// Reloads once, after those that run already, and logs the result.
    @discardableResult
    func run() async -> ReloadResult {
        let turn = running.withLock { running in
            let before = running
            let turn = Task {
                _ = await before?.value
                return await self.reload()
            }
            running = turn
            return turn
        }
        return await turn.value
    }

    /// Reads and checks the file as a reload would, and changes nothing.
    func plan() async -> ReloadPlan {
        do {
            var next = try HeraldConfiguration.load(path: path)
            let waiting = fixed.restore(in: &next)
            var plan = fixed.plan(next.values, inForce: settings.configuration.values, waiting, earlier: waitingNow)
            do {
                guard !waiting.contains("listen") else { throw ReloadRefusal.otherAddresses }
                try await check(next)
            } catch {
                plan.problem = Self.text(error)
            }
            return plan
        } catch {
            return ReloadPlan(problem: "\(error)")
        }
    }

    /// The keys that wait for a restart since the last reload.
    private var waitingNow: [String] {
        guard case .applied(let waiting)? = last.entry?.result else { return [] }
        return waiting
    }

    /// Checks what `apply` needs, without a change to a running part.
    private func check(_ next: HeraldConfiguration) async throws {
        _ = try next.recorderSettings()
        for part in parts { try part.check(next) }
        try await learnNames(of: next, asking: names.other(next.nameServers), keeps: false)
        try streams?.checkIdentities()
    }

    private func reload() async -> ReloadResult {
        report.reloadBegins()
        defer { report.reloadEnds() }
        let result: ReloadResult
        do throws(ReloadRefusal) {
            result = .applied(waiting: try await readAndApply())
        } catch {
            logger.error(
                "the configuration was not reloaded, the old one stays in force",
                metadata: ["problem": "\(error.problem)"])
            result = .refused(problem: error.problem)
        }
        last.record(result)
        return result
    }

    /// Returns the keys that wait for a restart.
    private func readAndApply() async throws(ReloadRefusal) -> [String] {
        do {
            var next = try HeraldConfiguration.load(path: path)
            let waiting = fixed.restore(in: &next)
            guard !waiting.contains("listen") else { throw ReloadRefusal.otherAddresses }
            try await apply(next)
            log(next, waiting)
            return waiting
        } catch {
            throw ReloadRefusal(problem: Self.text(error))
        }
    }

    private static func text(_ error: any Error) -> String { (error as? ReloadRefusal)?.problem ?? "\(error)" }

    /// Applies a configuration as a whole.
    ///
    /// - Throws: when a file, a key or a peer cannot be used, or the name of a next hop has no address.
    private func apply(_ next: HeraldConfiguration) async throws {
        let accounting = try next.recorderSettings()
        let steps = try parts.compactMap { try $0.prepare(next) }
        let otherLookup = names.other(next.nameServers)
        try await learnNames(of: next, asking: otherLookup, keeps: true)
        try streams?.reloadIdentities()
        try settings.use(next)
        resolver.replace(names: next.nextHopNames)
        if let otherLookup { names.use(next.nameServers, otherLookup) }
        recorder.use(accounting)
        for step in steps { await step() }
        for part in parts { await part.reloaded() }
    }

    /// Asks for the addresses of new names.
    ///
    /// A peer without an address would become an unknown peer, even for its calls in progress.
    private func learnNames(
        of next: HeraldConfiguration, asking lookup: (any NameLookup)?, keeps: Bool
    ) async throws {
        let unknown = await resolver.learn(next.nextHopNames, asking: lookup, keeps: keeps)
        guard unknown.isEmpty else {
            let hosts = unknown.map(\.host).joined(separator: ", ")
            throw ReloadRefusal(
                problem: "no address for \(hosts) yet: DNS has none, or does not respond; herald doctor names the cause"
            )
        }
    }

    private func log(_ next: HeraldConfiguration, _ waiting: [String]) {
        logger.notice(
            "configuration reloaded", metadata: ["trunks": "\(next.trunks.count)", "pbx": "\(next.pbx.count)"])
        for remark in next.remarks { logger.notice("\(remark)") }
        CertificateReport.warn(of: next, logger)
        guard !waiting.isEmpty else { return }
        logger.warning("some changes need a restart", metadata: ["sections": "\(waiting.joined(separator: ", "))"])
    }
}

/// Why a reload changes nothing.
private struct ReloadRefusal: Error {
    /// Peers name listen entries by position, so another list makes all of them ambiguous.
    static let otherAddresses = ReloadRefusal(
        problem: "listen has changed: nothing of the new configuration is used before the next start")

    let problem: String
}
