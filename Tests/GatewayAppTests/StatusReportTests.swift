// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import Foundation
import GatewayStore
import GatewayTesting
import Host
import SIPCore
import SIPTransport
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("Metrics and status of a gateway", .serialized, .timeLimit(.minutes(8)))
struct StatusReportTests {
    private let fixture: StartFixture

    init() async throws { fixture = try await StartFixture() }

    /// Builds the report of a started gateway without threads.
    private func report(
        _ text: ConfigurationText, _ body: (GatewayStatusReport, StoredState, CallPathParts) async throws -> Void
    ) async throws {
        let start = try fixture.start(text)
        let resources = try await GatewayResources(start)
        let state = try await StoredState(start, resources)
        let callPath = try CallPathParts(start, resources, state)
        let services = try GatewayServices(start, resources, state, callPath)
        try await body(services.statusReport, state, callPath)
        try state.database.close()
        await resources.transport.streams?.stop()
    }

    private var directory: ConfigurationText {
        fixture.folder.sections.with("directory", "{url: 'http://127.0.0.1:9', api_key_env: KEY}")
            .with("logos", "{listen: '127.0.0.1:9480', hosts: [assets.example]}")
    }

    @Test func `samples of one metric are together, and no series occurs twice`() async throws {
        let text = directory.with(
            "listen",
            "[{name: sip, address: '\(fixture.folder.address):5060'}, "
                + "{name: tcp, address: '\(fixture.folder.address):5060', transport: tcp}]")
        try await report(text) { report, _, _ in
            let counters = await report.counters().map { ($0.name, "\($0.name) \($0.labels)") }
            let gauges = await report.gauges().map { ($0.name, "\($0.name) \($0.labels)") }
            let all = counters + gauges
            #expect(all.count > 80)
            #expect(Set(all.map(\.1)).count == all.count)
            var seen: Set<String> = []
            var last = ""
            for (name, _) in all where name != last {
                #expect(seen.insert(name).inserted, "\(name) begins twice; Prometheus refuses the page")
                last = name
            }
            #expect(seen.isSuperset(of: ["herald_gate_open", "herald_logos_known", "herald_stream_connections"]))
        }
    }

    @Test func `gauges show calls, problems and the limit of transactions`() async throws {
        let text = fixture.folder.sections.with("limits", "{max_transactions: 500}")
        try fixture.folder.put([1], in: "state/secret")
        try await report(text) { report, _, callPath in
            callPath.shared.calls.begin(CallIdentifier(high: 1, low: 2), on: nil, at: 0)
            let gauges = await report.gauges()
            func value(_ name: String) -> Double? { gauges.first { $0.name == name }?.value }
            #expect(value("herald_calls_in_progress") == 1)
            #expect(value("herald_transactions_limit") == 500)
            #expect(value("herald_state_problems") == 1)
            #expect(value("herald_ledger_refuses") == 0)
            #expect(value("herald_events_waiting") == 0)
            #expect(value("herald_sync_age_seconds") == nil, "no directory")
            let target = gauges.first { $0.name == "herald_target_up" }
            #expect(
                target?.labels == [
                    MetricLabel("kind", "pbx"), MetricLabel("peer", "office"),
                    MetricLabel("address", "127.85.0.2:5060"),
                    MetricLabel("transport", "udp"),
                ])
            #expect(gauges.count { $0.name == "herald_target_up" } == 2)
            let office = try #require(callPath.foundation.health.all.first)
            callPath.shared.calls.send(CallIdentifier(high: 1, low: 2), to: office)
            let open = await report.gauges().filter { $0.name == "herald_target_calls_open" }
            #expect(open.map(\.value) == [1, 0] && open.first?.labels == target?.labels)
            let sent = await report.counters().filter { $0.name == "herald_target_calls_total" }
            #expect(sent.map(\.value) == [1, 0] && sent.first?.labels == target?.labels)
        }
    }

    @Test func `the version and the last reload are gauges, and the start counts as a reload`() async throws {
        try await report(fixture.folder.sections) { report, _, _ in
            func value(_ name: String) async -> Double? { await report.gauges().first { $0.name == name }?.value }
            let build = await report.gauges().first { $0.name == "herald_build_info" }
            #expect(build?.labels == [MetricLabel("version", HeraldVersion.current)] && build?.value == 1)
            #expect(await value("herald_config_last_reload_successful") == 1)
            #expect(await value("herald_config_last_reload_timestamp_seconds") == Double(report.startedAt))
            report.lastReload.record(.refused(problem: "a typing error"))
            #expect(await value("herald_config_last_reload_successful") == 0)
            report.lastReload.record(.applied(waiting: []))
            #expect(await value("herald_config_last_reload_successful") == 1)
        }
    }

    @Test func `every duration has a distribution, those of the directory only with one`() async throws {
        try await report(fixture.folder.sections) { report, _, _ in
            let names = await Set(report.histograms().map(\.name))
            #expect(names == ["herald_added_delay_seconds", "herald_ring_seconds"])
        }
        try await report(directory) { report, _, _ in
            let names = await Set(report.histograms().map(\.name))
            #expect(names.isSuperset(of: ["herald_sync_duration_seconds", "herald_event_delivery_seconds"]))
        }
    }

    @Test func `the status names the gateway, its addresses and its problems`() async throws {
        try fixture.folder.put([1], in: "state/secret")
        try await report(fixture.folder.sections) { report, _, callPath in
            var status = await report.status()
            #expect(status.gateway == "edge" && status.version == HeraldVersion.current)
            #expect(status.listening == ["\(fixture.folder.address):5060"])
            #expect(status.stateProblems.count == 1)
            #expect(status.trunks.map(\.name) == ["carrier"] && status.trunks.first?.pbx == "office")
            #expect(status.targets.count == 2)
            #expect(status.sync == nil && status.gates.isEmpty && status.logos == nil)
            #expect(status.branding.isSettled, "no sync is awaited")
            #expect(!status.isDraining)
            callPath.shared.drain()
            status = await report.status()
            #expect(status.isDraining)
        }
    }

    @Test func `before the first sync the status is not settled, and every gate has its reason`() async throws {
        try await report(directory) { report, _, _ in
            let status = await report.status()
            #expect(!status.branding.isSettled)
            #expect(status.sync?.lastSuccess == nil)
            #expect(status.gates.map(\.gate).contains("branding_enabled"))
            for gate in status.gates where !gate.open { #expect(gate.reason?.isEmpty == false, "\(gate.gate)") }
            #expect(status.logos?.known == 0)
        }
    }
}
