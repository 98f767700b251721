// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import ConfigurationFiles
import Foundation
import GRDB
import GatewayStore
import GatewayTesting
import Logging
import Testing

@testable import GatewayOperator

@Suite("First steps", .timeLimit(.minutes(8)))
struct FirstStepsTests {
    private typealias Step = GatewayStatus.FirstStep

    private let folder: GatewayFolder

    init() throws {
        folder = try GatewayFolder()
        try folder.put(Array("k3y\n".utf8), in: "api-key")
    }

    /// A gateway with a directory.
    private func configuration(_ change: (ConfigurationText) -> ConfigurationText = { $0 }) throws
        -> HeraldConfiguration
    {
        try folder.configuration(
            change(folder.sections.with("directory", "{url: 'https://a.example', api_key_file: api-key}")))
    }

    /// A gateway that has just started: nothing has been received.
    private static var started: GatewayStatus {
        var status = FixedStatus.ready
        status.branding = .init(isSettled: false)
        status.sync = .init(result: "none")
        status.logos = .init(known: 0, ready: 0, failed: 0, bytes: 0, served: 0)
        status.targets = [.init(group: "pbx office", address: "127.85.0.2:5060", state: "up", takesCalls: true)]
        return status
    }

    private func steps(
        _ status: GatewayStatus, seen: FirstCalls = FirstCalls(), _ configuration: HeraldConfiguration? = nil
    ) throws -> [String: Step] {
        let all = FirstSteps.of(status, try configuration ?? self.configuration(), seen) ?? []
        return Dictionary(uniqueKeysWithValues: all.map { ($0.step, $0) })
    }

    @Test func `a gateway that has just started has all steps open, each with what to do`() throws {
        let steps = try steps(Self.started)
        #expect(steps.count == 5 && steps.values.allSatisfy { !$0.done })
        #expect(steps["carrier"]?.text == "no call has arrived; let the carrier send calls to \(folder.address):5060")
        #expect(
            steps["pbx"]?.text
                == "pbx office at 127.85.0.2:5060 has not responded; check that it runs, its firewall, and that it accepts "
                + "SIP from \(folder.address):5060")
        #expect(steps["directory"]?.text == "the first sync has not ended")
        #expect(steps["call"]?.text == "call the PBX from a number that has a brand")
    }

    @Test func `each step is done by what the gateway has seen`() throws {
        var status = Self.started
        status.targets[0].lastResponse = 1_700_000_000
        status.branding = .init(isSettled: true, numbers: 12, brands: 3)
        status.sync = .init(result: "succeeded", lastSuccess: 1_700_000_000)
        status.logos = .init(known: 3, ready: 3, failed: 0, bytes: 9, served: 0)
        let steps = try steps(status, seen: FirstCalls(hasInbound: true))
        #expect(steps.values.filter(\.done).map(\.step).sorted() == ["carrier", "directory", "logos", "pbx"])
        #expect(steps["call"]?.text.contains("none had a brand; herald calls") == true)
        let branded = FirstSteps.of(status, try configuration(), FirstCalls(hasInbound: true, hasBranded: true))
        #expect(branded == nil)
    }

    @Test func `an INVITE of an unknown carrier is offered with a line that the configuration takes`() throws {
        for (address, host) in [("198.51.100.7", "198.51.100.7"), ("2001:db8::7", "[2001:db8::7]")] {
            var status = Self.started
            status.unknownCallers = .init(
                invites: 3, addresses: 1, isMore: false,
                callers: [
                    .init(
                        address: address, invites: 3, last: 0, cause: "no trunk lists this address in sources",
                        line: "x")
                ])
            let step = try #require(try steps(status)["carrier"])
            #expect(!step.done && step.text.hasPrefix("INVITEs of \(address) are rejected: no trunk lists this"))
            let line = try #require(step.lines?.first)
            let trunk = "[{name: carrier, region: AU, next_hop: '127.85.0.1:5060', \(line)}]"
            let changed = try configuration { $0.with("trunks", trunk) }
            #expect(changed.trunks[0].sources.map(\.description) == ["127.85.0.1", host])
        }
    }

    @Test func `several trunks have a line each, with the trunk's name`() throws {
        var status = Self.started
        let caller = GatewayStatus.UnknownCallers.Caller(
            address: "198.51.100.7", invites: 1, last: 0, cause: "c", line: "x")
        status.unknownCallers = .init(invites: 1, addresses: 1, isMore: false, callers: [caller])
        let two = try configuration {
            $0.with("trunks", "[{name: a, sources: [127.85.0.1, 127.85.1.0/24]}, {name: b, sources: [127.85.0.4]}]")
        }
        #expect(
            try steps(status, two)["carrier"]?.lines == [
                "sources: [127.85.0.1, 127.85.1.0/24, 198.51.100.7]   # trunk a",
                "sources: [127.85.0.4, 198.51.100.7]   # trunk b",
            ])
    }

    @Test func `a listed address gets no line, because sources have it`() throws {
        var status = Self.started
        let caller = GatewayStatus.UnknownCallers.Caller(
            address: "127.85.0.1", invites: 1, last: 0, cause: "other port")
        status.unknownCallers = .init(invites: 1, addresses: 1, isMore: false, callers: [caller])
        let step = try steps(status)["carrier"]
        #expect(step?.lines == nil && step?.text.contains("List the address without a port") == true)
    }

    @Test(arguments: [
        (
            GatewayStatus.Sync(result: "failed", failuresInARow: 2, lastError: "no response"), 0,
            "the last sync failed: no response"
        ),
        (
            GatewayStatus.Sync(result: "succeeded", lastSuccess: 1), 0,
            "in sync, and no number has a brand; give a number"
        ),
    ])
    func `an open step of the directory has its cause`(sync: GatewayStatus.Sync, numbers: Int, text: String) throws {
        var status = Self.started
        status.sync = sync
        status.branding.numbers = numbers
        #expect(try steps(status)["directory"]?.text.hasPrefix(text) == true)
        status.gates = [.init(gate: "cap", open: false, reason: "the cap is used")]
        #expect(try steps(status)["directory"]?.text == "the gate cap is closed: the cap is used")
    }

    @Test func `without a directory, with a file and with trunks that nobody vouches for`() throws {
        var status = Self.started
        (status.sync, status.logos) = (nil, nil)
        let none = try folder.configuration(folder.sections)
        let open = try steps(status, none)
        #expect(open["directory"]?.text.hasPrefix("no directory is configured") == true && open["logos"] == nil)
        try folder.put(Array("+61255501001|Acme Bank|||b-7\n".utf8), in: "brands.psv")
        status.branding.numbers = 1
        let file = try folder.configuration(folder.sections.with("brands", "{file: brands.psv}"))
        #expect(try steps(status, file)["directory"]?.done == true)
        let untrusted = try configuration { $0.with("trunks", "[{name: a, sources: [127.85.0.1]}]") }
        #expect(
            try steps(status, untrusted)["call"]?.text.hasPrefix("calls of an untrusted trunk get no brand") == true)
        let off = try configuration { $0.with("branding", "{enabled: false}") }
        #expect(FirstSteps.of(status, off, FirstCalls()) == nil)
    }

    @Test func `a PBX that gets no OPTIONS says so`() throws {
        let silent = try configuration { $0.with("pbx", "[{name: office, address: 127.85.0.2, probe: false}]") }
        #expect(try steps(Self.started, silent)["pbx"]?.text.contains("gets no OPTIONS (probe: false)") == true)
    }

    // MARK: Where they are shown

    @Test func `the first page has them until the first branded call, without markup of others`() async throws {
        let status = FixedStatus()
        let hostile = "<script>alert(1)</script>\u{202E}"
        status.change {
            $0.firstSteps = [
                .init(step: "carrier", done: false, text: hostile, lines: ["sources: ['\(hostile)']"]),
                .init(step: "pbx", done: true, text: "it responds"),
            ]
        }
        let pages = GatewayPagesTests()
        try await pages.run(FixedPages(status: status)) { person in
            let page = try await person.get("/").body
            #expect(page.contains("<h2>First steps</h2>") && page.contains("The PBX responds"))
            #expect(
                page.contains("<pre>sources: [&#39;&lt;script&gt;") || page.contains("<pre>sources: ['&lt;script&gt;"))
            #expect(!page.contains("<script>") && !page.unicodeScalars.contains("\u{202E}"))
        }
        status.change { $0.firstSteps = nil }
        try await pages.run(FixedPages(status: status)) { person in
            let page = try await person.get("/").body
            #expect(!page.contains("First steps</h2>"))
        }
    }

    @Test func `herald status has the open steps, and herald setup all of them`() throws {
        var gateway = FixedStatus.ready
        gateway.firstSteps = [
            Step(step: "carrier", done: false, text: "cause", lines: ["sources: [198.51.100.7]"]),
            Step(step: "pbx", done: true, text: "it responds"),
        ]
        var state = ControlledState(
            at: 1_700_000_000, callsInProgress: 0, inboundCalls: 0, brandedCalls: 0, recorderAge: 0,
            log: ControlledLogLevel(level: "info", configured: "info"), certificates: [], gateway: gateway)
        let text = StatusText(state).text
        #expect(text.contains("step      carrier: cause: sources: [198.51.100.7]\n") && !text.contains("it responds"))
        let ready = try configuration()
        let path = SetupOptions.packagedPath
        let all = FirstStepsText(ready, state, path: path).text
        #expect(
            all.hasPrefix(
                "First steps:\n  open  carrier    cause\n        sources: [198.51.100.7]\n  done  pbx        it responds\n"
            ))
        state.gateway.firstSteps = nil
        #expect(
            FirstStepsText(ready, state, path: path).text == "First steps: done, calls have a brand\n")
        let before = FirstStepsText(ready, nil, path: path).text
        #expect(before.contains("  open  gateway    start it: sudo systemctl start herald\n"))
    }

    @Test func `the status of a gateway has its steps in JSON, and none afterwards`() throws {
        var status = FixedStatus.ready
        status.firstSteps = [Step(step: "call", done: false, text: "t")]
        let json = String(decoding: try JSONEncoder().encode(status), as: UTF8.self)
        #expect(json.contains("\"first_steps\":[{"))
        #expect(try JSONDecoder().decode(GatewayStatus.self, from: Data(json.utf8)) == status)
        let later = String(decoding: try JSONEncoder().encode(FixedStatus.ready), as: UTF8.self)
        #expect(!later.contains("first_steps"))
    }

    // MARK: The first calls

    @Test func `the ledger has the first calls of earlier runs`() throws {
        let calls = try EndedCalls()
        let reader = LedgerReader(try calls.database.ledger)
        #expect(try reader.firstCalls() == FirstCalls())
        try calls.end(1)
        try calls.database.ledger.write { try $0.execute(sql: "UPDATE call SET decision = 'no_match'") }
        #expect(try reader.firstCalls() == FirstCalls(hasInbound: true))
        try calls.database.ledger.write { try $0.execute(sql: "UPDATE call SET direction = 2, decision = 'matched'") }
        #expect(try reader.firstCalls() == FirstCalls(), "a call of the PBX is none")
        try calls.end(1)
        #expect(try reader.firstCalls() == FirstCalls(hasInbound: true, hasBranded: true))
        try calls.database.ledger.write { try $0.execute(sql: "UPDATE call SET decision = 'no_match' WHERE id = 1") }
        #expect(try reader.firstCalls(newest: 1) == FirstCalls(hasInbound: true, hasBranded: true))
    }

    @Test func `the ledger is read once, after a failure again, and never with a branded call`() {
        struct Away: Error {}
        let watch = FirstCallWatch()
        let start = ContinuousClock.now
        var reads = 0
        func seen(_ inbound: UInt64, _ branded: UInt64, after: Duration, _ found: FirstCalls?) -> FirstCalls {
            watch.seen(inbound: inbound, branded: branded, at: start + after) {
                reads += 1
                guard let found else { throw Away() }
                return found
            }
        }
        #expect(seen(0, 0, after: .zero, nil) == FirstCalls() && reads == 1)
        #expect(seen(1, 0, after: .seconds(14), nil) == FirstCalls(hasInbound: true) && reads == 1)
        #expect(
            seen(0, 0, after: .seconds(15), FirstCalls(hasInbound: true)) == FirstCalls(hasInbound: true) && reads == 2)
        #expect(seen(0, 0, after: .seconds(99), nil) == FirstCalls(hasInbound: true) && reads == 2)
        let branded = FirstCallWatch().seen(inbound: 1, branded: 1) { throw Away() }
        #expect(branded.hasBranded)
    }
}
