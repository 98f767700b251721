// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import Foundation
import GatewayStore
package import GatewaySync
import Host
import Primitives

extension DirectoryAccount {
    /// Every gate with its last change and the reason of its state.
    func gates(_ gates: BrandingGates) async -> [GatewayStatus.Gate] {
        let changedAt = await brands.publisher.changedAt
        let reasons = GateReasons(sync, gates)
        return gates.all.map { gate, isOpen in
            GatewayStatus.Gate(gate: gate, open: isOpen, since: changedAt[gate], reason: reasons.reason(gate, isOpen))
        }
    }

    /// Mode, versions and cache lifetime that the directory has set, and the counts of lookups.
    var standing: GatewayStatus.DirectoryStanding {
        let versions = remote.standing
        return GatewayStatus.DirectoryStanding(
            mode: client.state.config.mode.map { TerminalText.visible($0) }, minimumVersion: versions.minimumVersion,
            latestVersion: versions.latestVersion, isUpdateDue: versions.isUpdateDue,
            cacheLifetime: lifetime.lifetime?.components.seconds,
            lookups: lookup.map { lookup in
                let counts = lookup.counts
                return [
                    "found": counts.found, "unknown": counts.unknown, "failed": counts.failed,
                    "skipped": counts.skipped,
                ]
            })
    }

    /// One gauge a gate, a due update, and the test mode.
    func gauges(_ gates: BrandingGates) -> [GaugeSample] {
        var gauges = gates.all.map { gate, isOpen in
            GaugeSample(
                name: "herald_gate_open", help: "1 while the gate lets calls be branded",
                labels: [MetricLabel("gate", gate)], value: isOpen ? 1 : 0)
        }
        gauges.append(
            GaugeSample(
                name: "herald_update_due", help: "1 when the directory requests a newer herald",
                value: remote.standing.isUpdateDue ? 1 : 0))
        gauges.append(
            GaugeSample(
                name: "herald_directory_testing", help: "1 while the directory is in another mode than live",
                value: ["live", nil].contains(client.state.config.mode) ? 0 : 1))
        return gauges
    }

    /// Lookups of callers, by result; empty where they are off.
    var counters: [CounterSample] {
        (standing.lookups ?? [:]).sorted { $0.key < $1.key }.map { result, count in
            CounterSample(
                name: "herald_lookups_total", help: "Callers looked up after their call, by result",
                labels: [MetricLabel("result", result)], value: UInt64(count))
        }
    }
}

extension GatewayStatusReport {
    /// The content of an account's debug upload: the log and the status, or of a customer's account what is about its
    /// customers alone.
    package func debugContent(of account: DirectoryAccount, _ log: RecentLog) -> DebugUploader.Content {
        guard account.settings.key != .usual else {
            return DebugUploader.Content(
                logs: { log.lines }, state: { try? JSONEncoder().encode(await status()) })
        }
        let names = account.settings.customers
        return DebugUploader.Content(
            logs: { log.lines(of: names) },
            state: {
                let backlog = (try? reader.backlogOfCustomers()) ?? [:]
                let own = customers.list(backlog).filter { names.contains($0.name) }
                return try? JSONEncoder().encode(["customers": own])
            })
    }
}
