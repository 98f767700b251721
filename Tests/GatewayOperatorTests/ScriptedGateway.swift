// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import GatewayOperator

/// A gateway whose syncs end as the test says.
final class ScriptedGateway: GatewayControl {
    let asked = Mutex<[Bool]>([])
    private let result: ControlledSync

    init(_ result: ControlledSync) { self.result = result }

    func sync(full: Bool, customer: String?) async -> ControlledSync {
        asked.withLock { $0.append(full) }
        return result
    }

    /// The orders as they came, and the state that they changed.
    let orders = Mutex<[String]>([])

    func state() async -> ControlledState {
        ControlledState(
            obstacle: FixedStatus.ready.obstacle, at: 1_800_000_000, callsInProgress: 3, inboundCalls: 10,
            brandedCalls: 7, syncAge: 60,
            recorderAge: 0.1, log: logLevel(), reload: nil, certificates: [], gateway: FixedStatus.ready)
    }

    func customers(named name: String?) throws(ControlProblem) -> [GatewayStatus.Customer] {
        let all = ["acme", "beta"].map { GatewayStatus.Customer(name: $0, numbers: 12, brands: 3) }
        guard let name else { return all }
        guard let one = all.first(where: { $0.name == name }) else {
            throw ControlProblem(error: "no customer is named \(name); there are acme, beta")
        }
        return [one]
    }

    func reload() async -> ControlledReload {
        orders.withLock { $0.append("reload") }
        return ControlledReload(applied: false, problem: "herald.yaml:3:1: listen: unknown key")
    }

    func planReload() async -> ControlledReloadPlan {
        orders.withLock { $0.append("plan") }
        return plan
    }

    /// The plan of a reload.
    let plan = ControlledReloadPlan(
        applies: true,
        changes: [
            .init(path: "trunks[carrier].region", old: "AU", new: "NZ"),
            .init(path: "gateway.workers", old: "1", new: "2", needsRestart: true),
        ])

    func drain(_ isOn: Bool) async throws(ControlProblem) -> ControlledState {
        orders.withLock { $0.append("drain \(isOn)") }
        guard isOn else { throw ControlProblem(error: "the gateway is stopping") }
        return await state()
    }

    func logLevel() -> ControlledLogLevel { ControlledLogLevel(level: "info", configured: "info") }

    func setLogLevel(_ level: String?, seconds: Int?) throws(ControlProblem) -> ControlledLogLevel {
        orders.withLock { $0.append("log-level \(level ?? "-") \(seconds ?? 0)") }
        return ControlledLogLevel(level: level ?? "info", configured: "info", until: seconds.map(Int64.init))
    }

    func targets() async -> [GatewayStatus.Target] {
        [.init(group: "pbx office", address: "192.0.2.20:5060", state: "up", takesCalls: true)]
    }

    func setTarget(_ name: String, isDisabled: Bool) async throws(ControlProblem) -> GatewayStatus.Target {
        orders.withLock { $0.append("target \(name) \(isDisabled)") }
        guard name == "192.0.2.20:5060" else { throw ControlProblem(error: "no target is named \(name)") }
        return .init(group: "pbx office", address: name, state: "disabled", takesCalls: false)
    }

    func renewLogos(_ url: String?, clears: Bool, customer: String?) async throws(ControlProblem) -> ControlledLogos {
        orders.withLock { $0.append("logos \(url ?? "-") \(clears)" + (customer.map { " of \($0)" } ?? "")) }
        guard url?.hasSuffix("none.png") != true else { throw ControlProblem(error: "no brand names the logo") }
        return ControlledLogos(logos: url == nil ? 3 : 1, cleared: clears)
    }
}
