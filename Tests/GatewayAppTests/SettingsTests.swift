// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayStore
import GatewayTesting
import SIPCore
import SIPTransport
import Testing
import Trust

@testable import GatewayApp
@testable import GatewayConfiguration

@Suite("Settings from the configuration")
struct SettingsTests {
    private let folder: GatewayFolder

    init() throws { folder = try GatewayFolder() }

    private func address(_ host: String, _ port: UInt16) throws -> PeerAddress {
        try #require(PeerAddress(host: Array(host.utf8)[...], port: port))
    }

    private func targets(_ settings: SettingsFixture) -> [SIPCore.Target] {
        settings.current.topology.pbxs[0].targets.targets
    }

    @Test func `a target with a name has no address until it is resolved, and follows each change`() throws {
        let settings = try SettingsFixture(
            folder, folder.sections.with("pbx", "[{name: office, address: 'pbx.example:5060'}]"))
        let name = NextHopName(host: "pbx.example", port: 5060, transport: .udp)
        #expect(settings.configuration.nextHopNames == [name])
        #expect(targets(settings).isEmpty)
        settings.live.use([name: [ResolvedHop(address: try address("127.85.0.7", 5060), priority: 0, weight: 0)]])
        #expect(targets(settings).map(\.address.description) == ["127.85.0.7:5060"])
        #expect(targets(settings).map(\.weight) == [1], "a hop without weight has that of its target")
        let hops = [
            ResolvedHop(address: try address("127.85.0.8", 5070), priority: 10, weight: 3),
            ResolvedHop(address: try address("127.85.0.9", 5070), priority: 20, weight: 0),
        ]
        settings.live.use([name: hops])
        #expect(targets(settings).map(\.priority) == [10, 20] && targets(settings).map(\.weight) == [3, 1])
        settings.live.use([:])
        #expect(targets(settings).isEmpty)
    }

    @Test func `addresses of a name stay inside the priority of their target`() throws {
        let settings = try SettingsFixture(
            folder,
            folder.sections.with(
                "pbx",
                "[{name: office, targets: [{address: 'pbx.example', priority: 1}, "
                    + "{address: '127.85.0.2:5060', priority: 2}]}]"))
        let name = NextHopName(host: "pbx.example", port: nil, transport: .udp)
        settings.live.use([name: [ResolvedHop(address: try address("127.85.0.8", 5070), priority: 65_535, weight: 1)]])
        let priorities = targets(settings).map(\.priority)
        #expect(priorities.count == 2 && priorities[0] < priorities[1])
    }

    @Test func `an address of the other family is reached from a socket of that family`() throws {
        let settings = try SettingsFixture(
            folder,
            folder.sections.with(
                "listen", "[{name: sip, address: '\(folder.address):5060'}, {name: sip6, address: '[::1]:5060'}]"
            ).with("pbx", "[{name: office, address: 'pbx.example:5060'}]"))
        #expect(settings.configuration.addressFamilies == [.ipv4, .ipv6])
        let name = NextHopName(host: "pbx.example", port: 5060, transport: .udp)
        settings.live.use([
            name: [
                ResolvedHop(address: try address("127.85.0.8", 5060), priority: 0, weight: 0),
                ResolvedHop(address: try address("::1", 5060), priority: 1, weight: 0),
            ]
        ])
        #expect(targets(settings).map(\.socket) == [0, 1])
    }

    @Test func `a resolved name survives a reload`() throws {
        let text = folder.sections.with("pbx", "[{name: office, address: 'pbx.example:5060'}]")
        let settings = try SettingsFixture(folder, text)
        let name = NextHopName(host: "pbx.example", port: 5060, transport: .udp)
        settings.live.use([name: [ResolvedHop(address: try address("127.85.0.7", 5060), priority: 0, weight: 0)]])
        try settings.live.use(try folder.configuration(text.with("strangers", "drop")))
        #expect(settings.current.strangers == .drop)
        #expect(targets(settings).map(\.address.description) == ["127.85.0.7:5060"])
    }

    @Test func `a PBX gets logos for its phones if the running gateway makes them`() throws {
        let directory = folder.sections.with("directory", "{url: 'https://directory.example', api_key_env: KEY}")
        let text = directory.with("logos", "{listen: '127.85.0.1:9480'}")
        func pbx(_ phones: String) -> ConfigurationText {
            text.with("pbx", "[{name: office, address: '127.85.0.2:5060', phones: \(phones)}]")
        }
        let settings = try SettingsFixture(folder, pbx("snom_370"))
        func key() -> String? {
            settings.current.topology.pbxs[0].logoKey.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(key() == "64x64grey.bmp")
        var next = try folder.configuration(pbx("snom_m9"))
        #expect(RestartOnlySettings(settings.configuration, hasStreams: false).restore(in: &next) == ["logos.phones"])
        try settings.live.use(next)
        #expect(key() == nil, "the usual form until a restart")
    }

    @Test func `a trunk has the verification of its keys, and a reload changes it`() throws {
        func text(_ keys: String) -> ConfigurationText {
            folder.sections.with("trust", "{regimes: [us, private], signer: {\"123A\": deny, 567B: watch}}").with(
                "trunks", "[{name: carrier, sources: [127.85.0.1], region: US, trusted: true\(keys)}]")
        }
        #expect(try SettingsFixture(folder, folder.sections).current.topology.trunks[0].signatures == nil)
        let settings = try SettingsFixture(folder, text(", regimes: [private], retargeted: accept"))
        let shadow = try #require(settings.current.topology.trunks[0].signatures)
        #expect(shadow.mode == .shadow && shadow.policy.retargeted == .accept && shadow.policy.denied == ["123A"])
        #expect(shadow.policy.regimes.map(\.name) == ["private"] && shadow.policy.regimes[0].position == 1)
        #expect(shadow.policy.regimeSet == RegimeSet.number(of: ["us", "private"]))
        try settings.live.use(try folder.configuration(text(", signatures: decide, on_failed: pass")))
        let decide = try #require(settings.current.topology.trunks[0].signatures)
        #expect(decide.mode == .decide && decide.onFailed == .pass && decide.policy.regimes.count == 2)
        try settings.live.use(try folder.configuration(text(", signatures: off")))
        #expect(settings.current.topology.trunks[0].signatures == nil)
    }

    @Test func `certificate names follow the addresses of their targets`() throws {
        let configuration = try folder.configuration(
            folder.sections.with("pbx", "[{name: office, address: 'pbx.example:5060'}]"))
        let name = NextHopName(host: "pbx.example", port: 5060, transport: .udp)
        let place = try address("127.85.0.7", 5060)
        let peers = ResolvedPeers(configuration, [name: [ResolvedHop(address: place, priority: 0, weight: 0)]])
        #expect(peers.serverNames == [place: "pbx.example"])
    }

    @Test func `a PBX sends from its targets' addresses unless it has sources`() throws {
        let plain = try SettingsFixture(folder, folder.sections)
        #expect(plain.current.topology.mayBePeer(at: try address("127.85.0.2", 40_000)))
        let narrow = try SettingsFixture(
            folder,
            folder.sections.with("pbx", "[{name: office, address: '127.85.0.2:5060', sources: [127.85.0.4]}]"))
        #expect(narrow.current.topology.mayBePeer(at: try address("127.85.0.4", 40_000)))
    }

    @Test func `settings of the recorder have their units, and retention is in whole days`() throws {
        let outcomes = """
            {retention: 36h, returned_window: 1h, returned_originals: any, max_call_duration: 2h, retry_window: 3s, \
            max_size: 2000000, surface: desk, vocabulary: {missed: lost}}
            """
        let settings = try folder.configuration(folder.sections.with("outcomes", outcomes)).recorderSettings()
        #expect(settings.retentionDays == 2)
        #expect(settings.returns.window == 3_600 && settings.returns.originals == .any)
        #expect(settings.limits.answered == 7_200_000_000 && settings.limits.redial == 3_000_000)
        #expect(settings.maxBytes == 2_000_000 && !settings.hasDirectory)
        #expect(settings.vocabulary.surface == "desk" && settings.vocabulary.missed == "lost")
        #expect(settings.vocabulary.displayed == "displayed", "other words keep their default")
        #expect(Array(settings.trunks.values) == ["carrier"])
    }

    @Test(arguments: [("generic", false), ("asterisk", true), ("freeswitch", true)])
    func `a PBX profile knows its voicemail`(profile: String, knows: Bool) throws {
        let text = folder.sections.with("outcomes", "{profile: \(profile), voicemail: {users: [box-*]}}")
        let rules = try folder.configuration(text).outcomes.answerers
        #expect((rules.voicemail.users.count > 1) == knows)
        #expect(rules.system.users.isEmpty)
    }
}
