// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
package import Host

/// `herald doctor`: checks the configuration, the machine and the peers, and reports cause and remedy of what is wrong.
///
/// The checks run side by side, and each ends after some seconds. OPTIONS go to PBXs and trunks, and one request that changes
/// nothing goes to the directory.
package struct Doctor: Sendable {
    /// The longest time of one check that waits for the network.
    static let patience = Duration.seconds(5)

    private let path: String

    /// - Parameter path: the configuration file.
    package init(path: String) { self.path = path }

    /// Runs all checks that the configuration allows.
    package func examine() async -> DoctorReport {
        let check = ConfigurationCheck(path: path)
        var findings = check.problems.map { DoctorFinding("configuration", .error, $0) }
        // Without the secrets, whose file this user may not be permitted to read, the other checks still run.
        guard let configuration = try? HeraldConfiguration.load(path: path, secrets: .ignored) else {
            return DoctorReport(findings + DoctorMachine.findings(nil))
        }
        if check.problems.isEmpty { findings.append(DoctorFinding("configuration", .ok, "\(path) can be used")) }
        findings += configuration.remarks.map { DoctorFinding("configuration", .note, $0) }
        return DoctorReport(findings + (await examine(configuration)))
    }

    private func examine(_ configuration: HeraldConfiguration) async -> [DoctorFinding] {
        let running = try? await ControlClient(folder: configuration.runtime).state()
        let names = DoctorNames(configuration)
        async let directory = DoctorDirectory(configuration, path: path).findings()
        async let kafka = DoctorKafka(configuration, path: path).findings(patience: Self.patience)
        async let siblings = DoctorSiblings(configuration, path: path).findings(patience: Self.patience)
        async let peers = names.resolved()
        let local = await Self.onThread {
            Self.gateway(running, configuration) + DoctorPorts(configuration, isRunning: running != nil).findings
                + DoctorState(configuration).findings + DoctorCalls(configuration).findings
                + DoctorReturns(configuration).findings
                + DoctorSharedLedger(configuration, path: path).findings(patience: Self.patience)
                + Self.certificates(configuration) + DoctorTrust.findings(configuration)
                + DoctorTrust.running(running?.gateway.trust) + DoctorDoors.running(running?.gateway.doors)
                + Self.firstSteps(running?.gateway.firstSteps ?? [])
                + DoctorMachine.findings(configuration)
        }
        let resolved = await peers
        let options = await DoctorOptions(configuration, resolved.hops, isRunning: running != nil).findings()
        return local + resolved.findings + options + (await directory) + (await siblings) + (await kafka)
    }

    /// The state of the running gateway.
    private static func gateway(_ state: ControlledState?, _ configuration: HeraldConfiguration) -> [DoctorFinding] {
        guard let state else {
            return [
                DoctorFinding(
                    "gateway", .note,
                    "no gateway responds at \(configuration.runtime)/\(ControlServer.socketName); "
                        + "start it with systemctl start herald, or run this command as its user"
                )
            ]
        }
        var findings: [DoctorFinding] = []
        if let obstacle = state.obstacle { findings.append(DoctorFinding("gateway", .error, "not ready: \(obstacle)")) }
        findings += reload(state.reload)
        findings += state.gateway.stateProblems.map { DoctorFinding("gateway", .warning, $0) }
        if let problem = state.gateway.ledgerProblem {
            findings.append(DoctorFinding("gateway", .warning, "outcomes cannot be stored: \(problem)"))
        }
        if let problem = state.gateway.sharedLedger?.problem {
            findings.append(DoctorFinding("gateway", .warning, "the shared ledger is not written: \(problem)"))
        }
        findings += (state.gateway.callRecords ?? []).compactMap(\.problem).map {
            DoctorFinding("gateway", .warning, $0)
        }
        if let unknown = state.gateway.unknownCallers {
            findings.append(DoctorFinding("gateway", .warning, unknown.sentence))
        }
        findings += state.gateway.rejectedCalls(at: state.at).map { DoctorFinding("gateway", .warning, $0) }
        if let error = state.gateway.sync?.lastError {
            findings.append(DoctorFinding("gateway", .warning, "the last sync failed: \(error)"))
        }
        findings += state.gateway.gates.filter { !$0.open }.map {
            DoctorFinding("gateway", .warning, "the gate \($0.gate) is closed: \($0.reason ?? "no call is branded")")
        }
        if let trouble = state.gateway.customers?.trouble {
            findings.append(DoctorFinding("gateway", .warning, "\(trouble): see herald customers --problems"))
        }
        findings += standby(state.gateway)
        for target in state.gateway.targets where target.state != "standby" && (!target.isInUse || target.state != "up")
        {
            let remedy = target.state == "disabled" ? "herald targets enable ends that" : "see herald targets"
            findings.append(DoctorFinding("gateway", .warning, "\(target.sentence); \(remedy)"))
        }
        guard findings.allSatisfy({ $0.level == .note }) else { return findings }
        let work = state.gateway.isStandby ? "waits for its address" : "takes calls"
        return findings + [DoctorFinding("gateway", .ok, "runs and \(work), herald \(state.gateway.version)")]
    }

    /// A file that the gateway refused, or keys that wait for its restart.
    static func reload(_ reload: ControlledReload?) -> [DoctorFinding] {
        guard let reload else { return [] }
        if let problem = reload.problem {
            return [
                DoctorFinding(
                    "gateway", .warning,
                    "the last reload was refused, and the earlier configuration is in force: \(problem)")
            ]
        }
        guard !reload.waiting.isEmpty else { return [] }
        let keys = reload.waiting.joined(separator: ", ")
        let text = "the last reload left out \(keys): restart herald for \(reload.waiting.count == 1 ? "it" : "them")"
        return [DoctorFinding("gateway", .warning, text)]
    }

    /// A gateway without a shared address, and targets that such an address cuts off.
    private static func standby(_ gateway: GatewayStatus) -> [DoctorFinding] {
        guard let text = gateway.standbyText else { return [] }
        let standing = DoctorFinding("gateway", gateway.siblings.isEmpty ? .warning : .note, text)
        guard !gateway.isStandby else { return [standing] }
        return [standing]
            + gateway.targets.filter { $0.state == "standby" }.map {
                DoctorFinding(
                    "gateway", .warning,
                    """
                    \($0.group) \($0.address) is reached from an address that is not here: calls that arrive at another \
                    address cannot go there; let its listen name an address of this machine
                    """)
            }
    }

    /// The way to the first branded call; nothing after it.
    private static func firstSteps(_ steps: [GatewayStatus.FirstStep]) -> [DoctorFinding] {
        steps.map { DoctorFinding("first steps", $0.done ? .ok : .note, "\($0.step): \($0.sentence)") }
    }

    private static func certificates(_ configuration: HeraldConfiguration) -> [DoctorFinding] {
        let report = CertificateReport(configuration, at: Int64(Date().timeIntervalSince1970))
        let wrong =
            report.problems.map { DoctorFinding("certificates", .error, $0) }
            + report.remarks.map { DoctorFinding("certificates", $0.contains(" expires in ") ? .warning : .error, $0) }
        guard wrong.isEmpty else { return wrong }
        return report.summary.map {
            DoctorFinding("certificates", .ok, $0.replacing("tls     ", with: "", maxReplacements: 1))
        }
    }

    /// Runs blocking work on a thread of its own.
    static func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: work()) }
        }
    }
}
