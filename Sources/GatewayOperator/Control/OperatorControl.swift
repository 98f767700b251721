// SPDX-License-Identifier: Apache-2.0

import Branding
package import CallAccounting
package import CallPath
import Foundation
package import GatewayConfiguration
import GatewayStore
package import GatewaySync
import Logging
import Primitives
import SIPCore
import SIPTransport
package import ServiceLifecycle

/// Carries out the orders of the control socket.
package struct OperatorControl: GatewayControl {
    private let currentSync: @Sendable () -> SyncService?
    private let branding: CurrentBranding
    private let report: GatewayStatusReport
    private let reloadConfiguration: @Sendable () async -> ReloadResult
    private let planReloading: @Sendable () async -> ReloadPlan
    private let log: LogOutput
    private let disabledTargets: DisabledTargets

    /// - Parameters:
    ///   - sync: nil where no directory is configured; a reload may replace it.
    ///   - reload: reads the configuration file again.
    ///   - plan: reports what that would change.
    package init(
        sync: @escaping @autoclosure @Sendable () -> SyncService?, branding: CurrentBranding,
        report: GatewayStatusReport, reload: @escaping @Sendable () async -> ReloadResult,
        plan: @escaping @Sendable () async -> ReloadPlan, log: LogOutput, disabledTargets: DisabledTargets
    ) {
        currentSync = sync
        self.branding = branding
        self.report = report
        reloadConfiguration = reload
        planReloading = plan
        self.log = log
        self.disabledTargets = disabledTargets
    }

    func sync(full: Bool, customer: String?) async -> ControlledSync {
        guard let customer else {
            guard let sync = currentSync() else {
                let known = report.customers.known
                let problem = "no directory is configured, so there is nothing to sync with"
                return ControlledSync(result: .unavailable, error: known.names.isEmpty ? problem : known.choice)
            }
            return await Self.run(sync, full: full, branding)
        }
        guard let account = report.customers.account(of: customer) else {
            return ControlledSync(result: .unavailable, error: report.customers.known.problem(of: customer))
        }
        return await Self.run(account.sync, full: full, account.brands.current)
    }

    func customers(named name: String?) throws(ControlProblem) -> [GatewayStatus.Customer] {
        if let name, let problem = report.customers.known.problem(of: name) { throw ControlProblem(error: problem) }
        do {
            let all = report.customers.list(try report.reader.backlogOfCustomers())
            return name == nil ? all : all.filter { $0.name == name }
        } catch {
            throw ControlProblem(error: "the ledger cannot be read: \(error)")
        }
    }

    private static func run(_ sync: SyncService, full: Bool, _ branding: CurrentBranding) async -> ControlledSync {
        let start = ContinuousClock.now
        let before = branding.load().gates.all
        do throws(SyncRefusal) {
            let report = try await sync.syncOrdered(full: full)
            let gates = branding.load().gates
            let reasons = GateReasons(sync, gates)
            let switched = zip(before, gates.all).filter { $0.isOpen != $1.isOpen }.map {
                ControlledSync.Gate(gate: $1.gate, open: $1.isOpen, reason: reasons.reason($1.gate, $1.isOpen))
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            var result = ControlledSync(
                result: report.error == nil ? .succeeded : .failed, isFull: report.isFull,
                numbers: branding.load().index.count, seconds: seconds,
                error: report.error.map { "the sync failed: \($0)" })
            result.closed = reasons.closed.isEmpty ? nil : reasons.closed
            result.switched = switched.isEmpty ? nil : switched
            guard report.error == nil else { return result }
            (result.written, result.removed) = (report.written, report.removed)
            result.rejected = report.rejected.isEmpty ? nil : report.rejected
            return result
        } catch {
            switch error {
            case .running:
                return ControlledSync(result: .busy, error: "a sync runs already; wait for its end and try again")
            case .stopping:
                return ControlledSync(result: .unavailable, error: "the gateway is stopping and starts no sync")
            }
        }
    }

    func state() async -> ControlledState {
        let now = Int64(Date().timeIntervalSince1970)
        let status = await report.status()
        let shared = report.shards.shared
        return ControlledState(
            obstacle: status.obstacle, at: now, callsInProgress: report.present.count,
            inboundCalls: shared.counters.count(.inboundCalls),
            brandedCalls: shared.counters.count(.callsBranded), syncAge: currentSync()?.successAge,
            recorderAge: report.recorder.age / .seconds(1), log: logLevel(),
            reload: report.lastReload.entry.map { ControlledReload($0.result, at: $0.at) },
            certificates: report.identities.compactMap { identity in
                identity.identity.standing.map { "listen \(identity.name): \($0.summary(at: now))" }
            },
            gateway: status)
    }

    func reload() async -> ControlledReload {
        ControlledReload(await reloadConfiguration(), at: Int64(Date().timeIntervalSince1970))
    }

    func planReload() async -> ControlledReloadPlan { ControlledReloadPlan(await planReloading()) }

    func drain(_ isOn: Bool) async throws(ControlProblem) -> ControlledState {
        guard report.shards.shared.orderDrain(isOn) else {
            throw ControlProblem(error: "the gateway is stopping and drains to its end; start it again to take calls")
        }
        return await state()
    }

    func logLevel() -> ControlledLogLevel {
        ControlledLogLevel(
            level: log.level.rawValue, configured: log.configuredLevel.rawValue, until: log.ordered.until)
    }

    func setLogLevel(_ level: String?, seconds: Int?) throws(ControlProblem) -> ControlledLogLevel {
        let levels = Logger.Level.allCases.map(\.rawValue)
        if let level, !levels.contains(level) {
            throw ControlProblem(
                error: "\(level) is no level of the log; choose one of \(levels.joined(separator: ", "))")
        }
        if let seconds, !(1...604_800).contains(seconds) {
            throw ControlProblem(error: "the time must be 1 s to 7 d")
        }
        log.ordered.set(level.flatMap(Logger.Level.init(rawValue:)), for: seconds.map { .seconds($0) })
        return logLevel()
    }

    func renewLogos(
        _ url: String?, clears: Bool, customer: String?
    ) async throws(ControlProblem) -> ControlledLogos {
        if let customer, let problem = report.customers.known.problem(of: customer) {
            throw ControlProblem(error: problem)
        }
        let account = customer.map { report.customers.account(of: $0) } ?? report.directory
        guard let logos = account?.brands.logos, let keeper = account?.logos else {
            throw ControlProblem(
                error: customer.map { "no copies of logos of \($0) are kept: it has no section logos in herald.yaml" }
                    ?? "no copies of logos are kept: herald.yaml has no section logos, or no directory")
        }
        let count: Int
        do {
            count = try await logos.store.renew(url, clears: clears, now: Int64(Date().timeIntervalSince1970))
        } catch {
            throw ControlProblem(error: "the copies of logos cannot be changed: \(error)")
        }
        if count == 0, let url {
            throw ControlProblem(error: "no brand names the logo \(url); herald logos lists those that brands name")
        }
        keeper.brandsChanged()
        return ControlledLogos(logos: count, cleared: clears)
    }

    func targets() async -> [GatewayStatus.Target] { await report.status().targets }

    func setTarget(_ name: String, isDisabled: Bool) async throws(ControlProblem) -> GatewayStatus.Target {
        let found = report.health.all.filter { $0.name == name || $0.address == name }
        guard let target = found.first else {
            let known = report.health.all
            let hint = NearestName.hint(name, among: known.map(\.name) + known.map(\.address))
            let names = known.map(\.name).joined(separator: ", ")
            throw ControlProblem(error: "no target is named \(TerminalText.visible(name))\(hint); there are \(names)")
        }
        guard found.count == 1 else {
            let names = found.map { "'\($0.name)'" }.joined(separator: " and ")
            throw ControlProblem(error: "\(name) is the address of \(names); name one of them")
        }
        report.health.disable(target, isDisabled)
        do throws(FileReplacementError) {
            try await disabledTargets.store(report.health)
        } catch {
            let effect = isDisabled ? "is disabled until the next start only" : "is enabled until the next start only"
            throw ControlProblem(error: "\(target.name) \(effect): \(error)")
        }
        let all = await targets()
        guard let status = all.first(where: { $0.group == target.group && $0.address == target.address }) else {
            throw ControlProblem(error: "the target \(name) has left the configuration")
        }
        return status
    }
}

extension OperatorControl {
    /// The server of the control socket, then the service that ends a test call when the gateway stops.
    ///
    /// - Parameters:
    ///   - folder: the folder of the socket.
    ///   - calls: the source of the pages.
    ///   - settings: admit the caller of a test call.
    package func servers(
        in folder: String, traces: TraceServices, calls: GatewayPageReport, _ settings: LiveSettings,
        _ shared: GatewayShared
    ) -> [any Service] {
        let tests = TestCallService(settings, shared) { await targets() }
        let server = ControlServer(
            folder: folder, control: self, trace: traces.service, calls: calls, tests: tests,
            logger: Logger(label: "herald.control"))
        return [server, tests]
    }
}

extension ControlledReload {
    init(_ result: ReloadResult, at: Int64) {
        switch result {
        case .applied(let waiting): self.init(applied: true, waiting: waiting, at: at)
        case .refused(let problem): self.init(applied: false, problem: problem, at: at)
        }
    }
}
