// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayTesting
import Host
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration

@Suite("What a reload would change")
struct ReloadPlanTests {
    private static func lines(_ plan: ReloadPlan) -> [String] {
        plan.changes.map { entry in
            "\(entry.change.path): \(entry.change.old ?? "-") > \(entry.change.new ?? "-")"
                + (entry.needsRestart ? " (restart)" : "")
        }
    }

    /// Plans a reload of the fixture's file with one section changed.
    private static func plan(_ fixture: ReloadFixture, _ section: String, _ value: String) async throws -> ReloadPlan {
        try fixture.folder.write(fixture.sections.with(section, value).text)
        return await fixture.plan()
    }

    @Test func `nothing changes, neither in the gateway nor in its log`() async throws {
        let fixture = try ReloadFixture()
        fixture.systemd.serves()
        let before = fixture.settings.current
        let states = fixture.states.all
        _ = fixture.log.take()
        let plan = try await Self.plan(fixture, "strangers", "drop")
        #expect(Self.lines(plan) == ["strangers: - > drop"] && plan.problem == nil)
        #expect(fixture.settings.current === before && fixture.last.entry == nil)
        #expect(fixture.log.take().isEmpty && fixture.states.all == states)
    }

    @Test(arguments: ReloadRow.fixed)
    func `it names the settings that need a restart, as the reload does`(row: (String, String, String)) async throws {
        let fixture = try ReloadFixture()
        try fixture.folder.put(Array("+61255501001|Acme\n".utf8), in: "brands.psv")
        let plan = try await Self.plan(fixture, row.0, row.1)
        #expect(plan.problem == nil && plan.waiting.isEmpty, "\(plan)")
        let restarts = plan.changes.filter(\.needsRestart).map(\.change.path)
        let key = row.2.prefix { $0 != " " }
        #expect(!restarts.isEmpty && restarts.allSatisfy { $0.hasPrefix(key) }, "\(plan)")
    }

    @Test func `a setting that waits since an earlier reload is compared with the start`() async throws {
        let fixture = try ReloadFixture()
        _ = try await fixture.reload("streams", "{connections: 10}")
        #expect(Self.lines(await fixture.plan()) == ["streams.connections: - > 10 (restart)"])
        let other = try await Self.plan(fixture, "streams", "{connections: 20}")
        #expect(Self.lines(other) == ["streams.connections: - > 20 (restart)"])
        // Back to the value of the start: nothing waits any more.
        try fixture.folder.write(fixture.sections.text)
        #expect(await fixture.plan() == ReloadPlan())
    }

    @Test func `after a reload its settings are in force`() async throws {
        let fixture = try ReloadFixture()
        _ = try await fixture.reload("strangers", "drop")
        #expect(await fixture.plan() == ReloadPlan())
        let plan = try await Self.plan(fixture, "strangers", "refuse")
        #expect(Self.lines(plan) == ["strangers: drop > refuse"])
    }

    @Test func `another list of addresses would be refused, and is shown`() async throws {
        let fixture = try ReloadFixture()
        let plan = try await Self.plan(fixture, "listen", "[{name: sip, address: '127.84.0.1:5099'}]")
        #expect(plan.problem?.hasPrefix("listen has changed") == true)
        #expect(plan.changes.allSatisfy { $0.needsRestart && $0.change.path.hasPrefix("listen[sip]") })
        #expect(!plan.changes.isEmpty)
    }

    @Test(arguments: [
        ("strangers", "nobody", "\"nobody\" is not one of refuse, drop"),
        (
            "pbx", "[{name: office, address: 'pbx.example:5060'}]",
            "no address for pbx.example yet: DNS has none, or does not respond; herald doctor names the cause"
        ),
        ("trunks", "[", "is not valid YAML here"),
    ])
    func `a file that a reload would refuse has its problem`(section: String, value: String, problem: String)
        async throws
    {
        let fixture = try ReloadFixture()
        let plan = try await Self.plan(fixture, section, value)
        #expect(plan.problem?.contains(problem) == true, "\(plan)")
        #expect(fixture.last.entry == nil)
    }

    @Test func `a part that refuses its settings is asked without a change`() async throws {
        let folder = try GatewayFolder()
        let part = RefusingPart()
        let fixture = try ReloadFixture(folder, folder.sections, makeStreams: { _ in nil }, parts: { _ in [part] })
        let plan = try await Self.plan(fixture, "strangers", "drop")
        #expect(plan.problem == "this part refuses" && Self.lines(plan) == ["strangers: - > drop"])
    }

    private struct RefusingPart: ReloadablePart {
        struct Refusal: Error, CustomStringConvertible { let description = "this part refuses" }

        func prepare(_ next: HeraldConfiguration) throws -> (@Sendable () async -> Void)? {
            Issue.record("a plan prepares nothing")
            return nil
        }

        func check(_ next: HeraldConfiguration) throws { throw Refusal() }
    }
}
