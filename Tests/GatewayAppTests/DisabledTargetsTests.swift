// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import SIPCore
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration
@testable import GatewayOperator

/// The lesson of HAProxy's server-state-file: an old file must not bring back an address that the configuration has left.
@Suite("Targets out of service over a restart", .serialized, .timeLimit(.minutes(8)))
struct DisabledTargetsTests {
    private let fixture: StartFixture
    private let office = "pbx office 127.85.0.2:5060"

    init() async throws { fixture = try await StartFixture() }

    /// The parts of one run of a gateway without threads.
    private func run(
        _ text: ConfigurationText? = nil,
        _ body: (OperatorControl, TargetRegistry, DisabledTargets) async throws -> Void
    ) async throws {
        await theRunBeforeLeavesTheFolder()
        let start = try fixture.start(text ?? fixture.folder.sections)
        let resources = try await GatewayResources(start)
        let state = try await StoredState(start, resources)
        let callPath = try CallPathParts(start, resources, state)
        let services = try GatewayServices(start, resources, state, callPath)
        try await body(services.operatorControl, callPath.foundation.health, callPath.disabledTargets)
        try state.database.close()
    }

    /// A program that another test starts has the lock of the run before until it runs, as a copy.
    private func theRunBeforeLeavesTheFolder() async {
        for _ in 0..<200 {
            if (try? FolderClaim(fixture.folder.path + "/state", key: "gateway.state")) != nil { return }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    private var file: String {
        String(decoding: fixture.folder.bytes(of: "state/disabled-targets") ?? [], as: UTF8.self)
    }

    @Test func `a disabled target is disabled after a restart, and the log names it`() async throws {
        try await run { (control: OperatorControl, _: TargetRegistry, _: DisabledTargets) async throws in
            #expect(try await control.setTarget("127.85.0.2:5060", isDisabled: true).state == "disabled")
        }
        #expect(file.hasSuffix("\n\(office)\n"))
        _ = fixture.log.take()
        try await run { (control: OperatorControl, registry: TargetRegistry, _: DisabledTargets) async throws in
            #expect(registry.all.first { $0.name == office }?.isDisabled == true)
            #expect(StatusText(await control.state()).text.contains("pbx office 127.85.0.2:5060 is disabled"))
            let line = fixture.log.all.first { $0.contains("still out of service") }
            #expect(line?.hasPrefix("warning ") == true && line?.contains("[targets: \(office)]") == true)
            #expect(try await control.setTarget("127.85.0.2:5060", isDisabled: false).takesCalls)
        }
        _ = fixture.log.take()
        try await run { (_: OperatorControl, registry: TargetRegistry, _: DisabledTargets) async throws in
            #expect(registry.all.allSatisfy { !$0.isDisabled })
        }
        #expect(!fixture.log.text.contains("out of service"))
    }

    @Test func `a target that has left the configuration is dropped with a line in the log`() async throws {
        try fixture.folder.put(
            Array("# x\n\(office)\npbx office 127.85.0.9:5060\npbx gone 127.85.0.3:5060\n".utf8),
            in: "state/disabled-targets")
        try await run { (_: OperatorControl, registry: TargetRegistry, _: DisabledTargets) async throws in
            #expect(registry.disabled == [office])
        }
        #expect(file.hasSuffix("\n\(office)\n") && !file.contains("127.85.0.9") && !file.contains("gone"))
        let line = fixture.log.all.first { $0.contains("not configured any more") }
        #expect(line?.hasSuffix("[targets: pbx gone 127.85.0.3:5060, pbx office 127.85.0.9:5060]") == true)
    }

    @Test func `an address of a host name is kept while the name is configured`() async throws {
        try fixture.folder.put(Array("pbx office 127.85.0.9:5060\n".utf8), in: "state/disabled-targets")
        let named = fixture.folder.sections.with("pbx", "[{name: office, address: 'pbx.example.com'}]")
        try await run(named) { (_: OperatorControl, registry: TargetRegistry, _: DisabledTargets) async throws in
            #expect(registry.disabled == ["pbx office 127.85.0.9:5060"])
        }
        #expect(file.contains("127.85.0.9"))
    }

    @Test func `a reload forgets a target that leaves the configuration`() async throws {
        try await run { (control: OperatorControl, registry: TargetRegistry, targets: DisabledTargets) async throws in
            _ = try await control.setTarget(office, isDisabled: true)
            let moved = fixture.folder.sections.with("pbx", "[{name: office, address: '127.85.0.7:5060'}]")
            let reload = DisabledTargets.Reload(targets: targets, registry: registry)
            await reload.prepare(try fixture.folder.configuration(moved))?()
            #expect(registry.disabled.isEmpty && !file.contains("127.85.0.2"))
            #expect(reload.prepare(try fixture.folder.configuration(moved)) == nil)
        }
    }

    @Test func `a file that is no list of targets is reported, and calls go on`() async throws {
        try fixture.folder.put([0xFF, 0xFE, 0xFF], in: "state/disabled-targets")
        try await run { (_: OperatorControl, registry: TargetRegistry, _: DisabledTargets) async throws in
            #expect(registry.disabled.isEmpty)
        }
        let line = fixture.log.all.first { $0.contains("disabled-targets cannot be read") }
        #expect(line?.contains("targets that were out of service take calls") == true)
    }

    @Test func `an order that cannot be stored holds until the next start, and says so`() async throws {
        try await run { (control: OperatorControl, registry: TargetRegistry, _: DisabledTargets) async throws in
            let path = fixture.folder.path + "/state/disabled-targets.new"
            // A folder with the draft's name: nothing can be written in its place.
            try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
            let problem = await #expect(throws: ControlProblem.self) {
                try await control.setTarget(office, isDisabled: true)
            }
            #expect(problem?.error.hasPrefix("\(office) is disabled until the next start only: cannot write") == true)
            #expect(registry.all.first { $0.name == office }?.isDisabled == true)
        }
    }
}
