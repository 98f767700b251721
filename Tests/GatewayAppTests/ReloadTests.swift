// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import ChildPrograms
import ConfigurationFiles
import Foundation
import GatewayTesting
import Host
import SIPCore
import SIPTransport
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration

/// One setting: the section with another value, and how it shows.
struct ReloadRow: Sendable, CustomTestStringConvertible {
    let section: String
    let value: String
    let isInForce: @Sendable (GatewaySettings) -> Bool

    init(_ section: String, _ value: String, _ isInForce: @escaping @Sendable (GatewaySettings) -> Bool) {
        self.section = section
        self.value = value
        self.isInForce = isInForce
    }

    var testDescription: String { "\(section): \(value)" }

    private static let trunk =
        "name: carrier, sources: [127.85.0.1], next_hop: '127.85.0.1:5060', region: AU, trusted: true"

    /// Settings that a reload changes.
    static let live = [
        ReloadRow("trunks", "[{\(trunk), policy: strict}]") { $0.topology.trunks[0].policy == .strict },
        ReloadRow("trunks", "[{\(trunk), carrier_name: keep}]") { $0.topology.trunks[0].carrierName == .keep },
        ReloadRow("trunks", "[{\(trunk), identity: [from]}]") { $0.topology.trunks[0].identityOrder == [.from] },
        ReloadRow("trunks", "[{\(trunk), trunk_header: X-Line}]") { $0.topology.trunks[0].trunkHeader == "X-Line" },
        ReloadRow("trunks", "[{sources: [127.85.0.1], trusted: false, name: carrier}]") {
            !$0.topology.trunks[0].isTrusted
        },
        ReloadRow("trunks", "[{\(trunk)}, {name: second, sources: [127.85.0.9]}]") {
            $0.topology.trunks.map(\.name) == ["carrier", "second"]
        },
        ReloadRow("pbx", "[{name: office, address: '127.85.0.3:5070'}]") {
            $0.topology.pbxs[0].targets.targets.map(\.address.description) == ["127.85.0.3:5070"]
        },
        ReloadRow("pbx", "[{name: office, address: '127.85.0.2:5060', max_datagram: 4000}]") {
            $0.topology.pbxs[0].targets.targets[0].largestDatagram == 4000
        },
        ReloadRow("branding", "{enabled: false}") { !$0.brands },
        ReloadRow("branding", "{call_info: false}") { !$0.writesCallInfo },
        ReloadRow("branding", "{card_link: call_info}") { $0.writesCardLink },
        ReloadRow("strangers", "drop") { $0.strangers == .drop },
        ReloadRow("limits", "{max_headers: 100}") { $0.limits.headerFields == 100 },
        ReloadRow("limits", "{max_message: 2000}") { $0.limits.messageBytes == 2_000 },
        ReloadRow("health", "{interval: 1s, timeout: 300ms}") {
            $0.probes.interval == 1_000 && $0.probes.timeout == 300
        },
        ReloadRow("health", "{report_pbx: false}") { !$0.reportsPBX },
        ReloadRow("timers", "{t1: 100ms}") { $0.timers == TransactionTimers(t1: .milliseconds(100)) },
        ReloadRow("outcomes", "{max_call_duration: 1h}") { $0.longestCall == 3_600_000 },
    ]

    /// Settings that wait for a restart, with the key that the log names.
    static let fixed = [
        ("gateway", "{id: other, state: state, runtime: run}", "gateway.id"),
        ("gateway", "{id: edge, state: elsewhere, runtime: run}", "gateway.state"),
        ("gateway", "{id: edge, state: state, runtime: elsewhere}", "gateway.runtime"),
        ("gateway", "{id: edge, state: state, runtime: run, workers: 4}", "gateway.workers"),
        ("brands", "{file: brands.psv}", "brands"),
        (
            "directory", "{url: 'https://directory.example', api_key_env: PATH}\nlogos: {listen: '127.0.0.1:9480'}",
            "logos"
        ),
        ("outcomes", "{ring_slots: 64}", "outcomes.ring_slots"),
        ("streams", "{connections: 10}", "streams"),
        ("limits", "{max_transactions: 500}", "limits.max_transactions"),
        ("branding", "{max_name_bytes: 40}", "branding (how names are written)"),
        ("branding", "{quotes: typographic}", "branding (how names are written)"),
    ]
}

@Suite("A reload of the configuration")
struct ReloadTests {
    private static let done = "notice configuration reloaded [pbx: 1, trunks: 1]"
    private static let refused = "error the configuration was not reloaded, the old one stays in force"

    @Test(arguments: ReloadRow.live)
    func `it changes this setting between two messages`(row: ReloadRow) async throws {
        let fixture = try ReloadFixture()
        #expect(!row.isInForce(fixture.settings.current))
        let lines = try await fixture.reload(row.section, row.value)
        #expect(row.isInForce(fixture.settings.current), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("notice configuration reloaded") })
        #expect(!lines.contains { $0.contains("need a restart") })
    }

    @Test(arguments: ReloadRow.fixed)
    func `this setting waits for a restart, and the log names it`(row: (String, String, String)) async throws {
        let fixture = try ReloadFixture()
        try fixture.folder.put(Array("+61255501001|Acme\n".utf8), in: "brands.psv")
        let text = fixture.sections.with(row.0, row.1).with("strangers", "drop")
        let lines = try await fixture.reload(text.text)
        #expect(lines.last == "warning some changes need a restart [sections: \(row.2)]", "\(lines)")
        #expect(fixture.settings.current.strangers == .drop, "other changes are in force")
        let again = try await fixture.reload(fixture.sections.text)
        #expect(again.contains(Self.done) && !again.contains { $0.contains("restart") }, "\(again)")
    }

    @Test func `several waiting settings are named in one line`() async throws {
        let fixture = try ReloadFixture()
        let text = fixture.sections.with("outcomes", "{ring_slots: 64}").with("streams", "{connections: 10}")
        #expect(
            try await fixture.reload(text.text).last
                == "warning some changes need a restart [sections: outcomes.ring_slots, streams]")
    }

    @Test func `another list of addresses changes nothing at all`() async throws {
        let fixture = try ReloadFixture()
        let before = fixture.settings.current
        let text = fixture.sections.with("listen", "[{name: sip, address: '127.84.0.1:5099'}]")
            .with("strangers", "drop")
        #expect(
            try await fixture.reload(text.text) == [
                Self.refused
                    + " [problem: listen has changed: nothing of the new configuration is used before the next start]"
            ])
        #expect(fixture.settings.current === before)
    }

    @Test(arguments: [
        ("trunks: [", "herald.yaml:"), ("", "is empty"),
        ("strangers: none", "herald.yaml:6:12: strangers: \"none\" is not one of refuse, drop"),
        ("unknown: 1", "unknown"),
    ])
    func `a file with a problem changes nothing, and the log has the place`(text: String, problem: String) async throws
    {
        let fixture = try ReloadFixture()
        let before = fixture.settings.current
        let whole = text.hasPrefix("trunks") || text.isEmpty ? text : fixture.sections.text + text + "\n"
        let lines = try await fixture.reload(whole)
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.hasPrefix(Self.refused + " [problem: ") && line.contains(problem), "\(line)")
        #expect(fixture.settings.current === before)
        #expect(
            try await fixture.reload(fixture.sections.text).contains(Self.done), "the next reload is an ordinary one")
    }

    @Test func `a file that is gone changes nothing`() async throws {
        let fixture = try ReloadFixture()
        let before = fixture.settings.current
        try FileManager.default.removeItem(atPath: fixture.folder.configurationPath)
        let lines = await fixture.again()
        #expect(lines.count == 1 && lines.first?.hasPrefix(Self.refused) == true, "\(lines)")
        #expect(fixture.settings.current === before)
    }

    @Test func `the last reload keeps its result and its time`() async throws {
        let fixture = try ReloadFixture()
        #expect(fixture.last.entry == nil)
        _ = try await fixture.reload("strangers", "drop")
        #expect(fixture.last.entry == .init(result: .applied(waiting: []), at: 1_800_000_000))
        _ = try await fixture.reload("streams", "{connections: 10}")
        #expect(fixture.last.entry?.result == .applied(waiting: ["streams"]))
        _ = try await fixture.reload("pbx", "[{name: office, address: 'pbx.example:5060'}]")
        #expect(
            fixture.last.entry?.result
                == .refused(
                    problem:
                        "no address for pbx.example yet: DNS has none, or does not respond; herald doctor names the cause"
                ))
    }

    @Test func `systemd sees each reload, applied or refused`() async throws {
        let fixture = try ReloadFixture()
        _ = await fixture.again()
        #expect(fixture.states.all.isEmpty, "before the gateway is ready, no reload may make it so")
        fixture.systemd.serves()
        _ = await fixture.again()
        _ = try await fixture.reload("strangers", "nobody")
        let states = fixture.states.all.map { $0.split(separator: "=")[0] }
        #expect(states == ["READY", "RELOADING", "READY", "RELOADING", "READY"])
    }

    @Test func `reloads that are asked for at once run one after the other`() async throws {
        let fixture = try ReloadFixture()
        let one = await fixture.again()
        let results = await fixture.atOnce(20)
        #expect(results == Array(repeating: .applied(waiting: []), count: 20))
        #expect(fixture.log.take() == Array(repeating: one, count: 20).flatMap(\.self))
    }

    @Test func `a next hop without an address changes nothing`() async throws {
        let fixture = try ReloadFixture()
        let before = fixture.settings.current
        let lines = try await fixture.reload("pbx", "[{name: office, address: 'pbx.example:5060'}]")
        #expect(
            lines == [
                Self.refused
                    + " [problem: no address for pbx.example yet: DNS has none, or does not respond; herald doctor names the cause]"
            ])
        #expect(fixture.settings.current === before)
    }

    @Test func `a name that only the new name servers know has its address`() async throws {
        let fixture = try ReloadFixture()
        let text = fixture.sections.with("pbx", "[{name: office, address: 'pbx.example:5060'}]")
        _ = try await fixture.reload(text.text)
        #expect(fixture.last.entry?.result.isApplied == false)
        let lines = try await fixture.reload(text.with("dns", "{servers: [127.0.0.1]}").text)
        #expect(lines.contains(Self.done), "\(lines)")
        let targets = fixture.settings.current.topology.pbxs[0].targets.targets
        #expect(targets.map(\.address.description) == ["127.85.0.7:5060"])
    }

    @Test func `two trunks with one mark change nothing`() async throws {
        let fixture = try ReloadFixture()
        let before = fixture.settings.current
        var names: [UInt16: String] = [:]
        var pair: (String, String)?
        for number in 0... {
            let name = "t\(number)"
            if let other = names.updateValue(name, forKey: TrunkPeer.mark(of: name)) {
                pair = (other, name)
                break
            }
        }
        let (first, second) = try #require(pair)
        let lines = try await fixture.reload(
            "trunks", "[{name: \(first), sources: [127.85.0.1]}, {name: \(second), sources: [127.85.0.9]}]")
        #expect(
            lines == [
                Self.refused
                    + " [problem: the trunks \(first) and \(second) have the same mark in the ledger; rename one of them]"
            ])
        #expect(fixture.settings.current === before)
    }

    @Test func `a peer that is removed keeps its calls in progress`() async throws {
        let fixture = try ReloadFixture {
            $0.with("trunks", "[{name: carrier, sources: [127.85.0.1]}, {name: second, sources: [127.85.0.9]}]")
        }
        let flow = try #require(PeerAddress(host: Array("127.85.0.9".utf8)[...], port: 5060))
        #expect(fixture.settings.current.topology.mayBePeer(at: flow))
        _ = try await fixture.reload("trunks", "[{name: carrier, sources: [127.85.0.1]}]")
        #expect(fixture.settings.current.topology.trunks.count == 1)
        #expect(fixture.settings.current.topology.mayBePeer(at: flow), "BYEs of its calls are still accepted")
    }

    @Test func `the streams get their peers before the call path has the settings`() async throws {
        let fixture = try ReloadFixture()
        #expect(fixture.settings.peerChanges == 1)
        _ = try await fixture.reload("strangers", "drop")
        #expect(fixture.settings.peerChanges == 2)
        _ = try await fixture.reload("strangers", "nobody")
        #expect(fixture.settings.peerChanges == 2)
    }

    @Test func `a certificate that cannot be read changes nothing`() async throws {
        let folder = try GatewayFolder()
        let key = folder.path + "/tls.key"
        let made = try await ChildProgram.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", folder.path + "/tls.pem",
                "-subj", "/CN=a.example", "-days", "300",
            ])
        try #require(made.code == 0, "\(made.errors)")
        let good = try #require(folder.bytes(of: "tls.key"))
        let text = folder.sections.with(
            "listen",
            "[{name: sips, address: '\(folder.address):5061', transport: tls, certificate: tls.pem, key: tls.key}]")
        let transport = try OpenTransport(
            try folder.configuration(text), streamConnections: 10, memory: .current()
        ) { _ in }
        let fixture = try ReloadFixture(folder, text) { _ in transport.streams }
        let before = fixture.settings.current
        try folder.put(Array("no key".utf8), in: "tls.key")
        let lines = try await fixture.reload("strangers", "drop")
        #expect(lines.count == 1 && lines[0].hasPrefix(Self.refused) && lines[0].contains(key), "\(lines)")
        #expect(fixture.settings.current === before)
        try folder.put(good, in: "tls.key")
        #expect(try await fixture.reload("strangers", "drop").contains(Self.done))
        #expect(fixture.settings.current.strangers == .drop)
        await transport.streams?.stop()
    }

    @Test func `the buffer of traces waits for a restart, a collector does not`() throws {
        let folder = try GatewayFolder()
        let running = try folder.configuration(folder.sections)
        let text = folder.sections.with("trace", "{buffer: 16384, hep: {collector: '127.0.0.1:9060'}}")
        var next = try folder.configuration(text)
        #expect(RestartOnlySettings(running, hasStreams: false).restore(in: &next) == ["trace.buffer"])
        #expect(next.trace.buffer == 8192 && next.trace.hep != nil)
    }

    @Test(arguments: [
        ("", "{regimes: [us]}", ["trust"]), ("{regimes: [us]}", "", ["trust"]),
        ("{regimes: [us]}", "{regimes: [us, fr]}", ["trust.regimes"]),
        ("{regimes: [us, fr]}", "{regimes: [fr, us], signers: 200}", ["trust.regimes", "trust.signers"]),
        ("{regimes: [us]}", "{regimes: [us], signer: {\"123A\": deny}}", []),
    ])
    func `regimes and the limit of signers wait for a restart, the rules of signers do not`(
        running: String, next: String, waiting: [String]
    ) throws {
        let folder = try GatewayFolder()
        func configuration(_ trust: String) throws -> HeraldConfiguration {
            try folder.configuration(trust.isEmpty ? folder.sections : folder.sections.with("trust", trust))
        }
        let running = try configuration(running)
        var next = try configuration(next)
        let rules = next.trust?.rules
        #expect(RestartOnlySettings(running, hasStreams: false).restore(in: &next) == waiting)
        #expect(next.trust?.regimes == running.trust?.regimes && next.trust?.signers == running.trust?.signers)
        if waiting != ["trust"] { #expect(next.trust?.rules == rules) }
    }

    @Test func `with TCP or TLS the size of a message waits for a restart too`() throws {
        let folder = try GatewayFolder()
        let running = try folder.configuration(folder.sections)
        var next = try folder.configuration(folder.sections.with("limits", "{max_message: 2000}"))
        #expect(RestartOnlySettings(running, hasStreams: true).restore(in: &next) == ["limits.max_message"])
        #expect(next.limits.maxMessage == 65_535)
    }
}
