// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import Foundation
import GatewayStore
import GatewayTesting
import Primitives
import SIPCore
import SIPTransport
import Testing

@testable import GatewayApp
@testable import GatewayOperator

@Suite("Orders to a gateway", .serialized, .timeLimit(.minutes(8)))
struct OperatorControlTests {
    private let fixture: StartFixture

    init() async throws { fixture = try await StartFixture() }

    /// The control of a started gateway without threads.
    private func control(_ body: (OperatorControl, GatewayShared) async throws -> Void) async throws {
        let start = try fixture.start(fixture.folder.sections)
        let resources = try await GatewayResources(start)
        let state = try await StoredState(start, resources)
        let callPath = try CallPathParts(start, resources, state)
        let services = try GatewayServices(start, resources, state, callPath)
        try await body(services.operatorControl, callPath.shared)
        try state.database.close()
        await resources.transport.streams?.stop()
    }

    @Test func `a sync order without a directory is unavailable`() async throws {
        try await control { (control: OperatorControl, _: GatewayShared) async throws in
            let sync = await control.sync(full: false, customer: nil)
            #expect(sync.result == .unavailable)
            #expect(sync.error == "no directory is configured, so there is nothing to sync with")
        }
    }

    @Test func `a drain shows in the state until it is taken back, and a stop is none`() async throws {
        try await control { (control: OperatorControl, shared: GatewayShared) async throws in
            #expect(try await control.drain(true).gateway.isDraining)
            #expect(await control.state().obstacle?.contains("drains") == true)
            #expect(try await control.drain(false).gateway.isDraining == false)
            shared.drain()
            let refusal = await #expect(throws: ControlProblem.self) { try await control.drain(false) }
            #expect(refusal?.error.contains("stopping") == true)
        }
    }

    private static let allDisabled =
        "every target of pbx office is disabled: calls are rejected with 503; herald targets enable puts a disabled one into "
        + "service"

    @Test func `a call that failed at a target shows in the state at once, with its cause`() async throws {
        try await control { (control: OperatorControl, shared: GatewayShared) async throws in
            let target = try #require(shared.settings.load().topology.trunks.first?.pbx.targets.targets.first)
            target.targetState.record(.unreachable, at: Moment.now().milliseconds)
            let state = await control.state()
            let shown = try #require(state.gateway.targets.first { $0.group == "pbx office" })
            #expect(shown.state == "failing" && shown.takesCalls && shown.isInUse && shown.since != nil)
            let text = StatusText(state).text
            #expect(
                text.contains(
                    "targets   2 of 2 take calls; pbx office 127.85.0.2:5060 is failing: a call could not be delivered"),
                "\(text)")
            #expect(GatewayOrders.table(of: [shown], .narrow, at: shown.since ?? 0).contains("failing"))
            target.targetState.record(.responded, at: Moment.now().milliseconds)
            #expect(await control.targets().first { $0.group == "pbx office" }?.state == "up")
        }
    }

    @Test func `the status has the records that wait for each output, and the cause`() async throws {
        try await control { (control: OperatorControl, _: GatewayShared) async throws in
            var state = await control.state()
            #expect(!StatusText(state).text.contains("records"))
            state.gateway.callRecords = [
                .init(output: "cdr_file", waiting: 0),
                .init(output: "kafka", waiting: 12, problem: "Kafka at k:9092: \u{1B}"),
            ]
            let text = StatusText(state).text
            #expect(text.contains("records   0 wait for outcomes.cdr_file\n"), "\(text)")
            #expect(
                text.contains("records   12 wait for outcomes.kafka\nrecords   Kafka at k:9092: \\u{1b}\n"), "\(text)")
        }
    }

    @Test func `a target is named by its address or with its group`() async throws {
        try await control { (control: OperatorControl, _: GatewayShared) async throws in
            let disabled = try await control.setTarget("127.85.0.2:5060", isDisabled: true)
            #expect(disabled.state == "disabled" && !disabled.takesCalls && disabled.group == "pbx office")
            #expect(await control.state().obstacle == Self.allDisabled)
            #expect(try await control.setTarget("pbx office 127.85.0.2:5060", isDisabled: false).takesCalls)
            let unknown = await #expect(throws: ControlProblem.self) {
                try await control.setTarget("nowhere", isDisabled: true)
            }
            #expect(unknown?.error.contains("there are pbx office 127.85.0.2:5060, trunk carrier") == true)
        }
    }

    @Test func `a level of the log is checked, holds, and is taken back`() async throws {
        try await control { (control: OperatorControl, _: GatewayShared) async throws in
            #expect(control.logLevel() == ControlledLogLevel(level: "info", configured: "info"))
            #expect(try control.setLogLevel("debug", seconds: 600).until != nil)
            #expect(control.logLevel().level == "debug")
            #expect(try control.setLogLevel(nil, seconds: nil) == ControlledLogLevel(level: "info", configured: "info"))
            #expect(throws: ControlProblem.self) { try control.setLogLevel("loud", seconds: nil) }
            #expect(throws: ControlProblem.self) { try control.setLogLevel("debug", seconds: 0) }
        }
    }

    @Test func `the text of the state has every fact in a line`() async throws {
        try await control { (control: OperatorControl, _: GatewayShared) async throws in
            let text = StatusText(await control.state()).text
            for name in [
                "gateway", "up", "ready", "listening", "calls", "brands", "sync", "outbox", "recorder", "targets",
            ] {
                #expect(text.contains("\(name) "), "\(name): \(text)")
            }
            #expect(text.contains("ready     yes\n") && text.contains("targets   2 of 2 take calls\n"), "\(text)")
            #expect(text.contains("log       info\n"), "\(text)")
        }
    }

    @Test func `a target that is down and due for a trial call takes none for the state`() async throws {
        try await control { (control: OperatorControl, _: GatewayShared) async throws in
            var state = await control.state()
            let position = try #require(state.gateway.targets.firstIndex { $0.group == "pbx office" })
            state.gateway.targets[position].state = "down"
            #expect(state.gateway.targets[position].takesCalls)
            let text = StatusText(state).text
            #expect(text.contains("targets   1 of 2 take calls; pbx office 127.85.0.2:5060 is down\n"), "\(text)")
        }
    }
}
