// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import SIPCore
import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("herald.yaml: values")
struct HeraldConfigurationTests {
    private let folder = TemporaryFolder()

    @Test func `the smallest configuration is accepted and other keys have defaults`() throws {
        let configuration = try folder.load(smallest)
        #expect(configuration.id == ProcessInfo.processInfo.hostName)
        #expect(configuration.state == "/var/lib/herald")
        #expect(configuration.runtime == "/run/herald")
        #expect(configuration.listen.map(\.name) == ["listen1"])
        let trunk = try #require(configuration.trunks.first)
        #expect(trunk.name == "trunk1")
        #expect(trunk.targets[0].address == EndpointAddress(host: "203.0.113.5", port: 5060, isIPv6: false))
        #expect(!trunk.isTrusted)
        #expect(trunk.region == nil)
        #expect(trunk.policy == .standard)
        #expect(trunk.identity == [.pAssertedIdentity, .remotePartyID, .from])
        #expect(!trunk.keepsForeignCallInfo)
        #expect(trunk.trunkHeader == nil)
        let pbx = try #require(configuration.pbx.first)
        #expect(pbx.name == "pbx1")
        #expect(pbx.targets[0].address.port == 5060)
        #expect(pbx.sources.isEmpty, "empty means the addresses of the targets")
        #expect(pbx.targets[0].largestDatagram == nil)
        #expect(configuration.branding.isEnabled)
        #expect(configuration.branding.maxNameBytes == 80)
        #expect(configuration.directory == nil)
        #expect(configuration.outcomes.returnedWindow == .seconds(72 * 3600))
        #expect(configuration.timers.c == .seconds(181))
        #expect(configuration.limits.maxTransactions == nil, "nil means derived from the memory")
        #expect(configuration.drain == .zero)
        #expect(configuration.health.reportsPBX)
        #expect(pbx.isProbed && !pbx.mustRespond && !configuration.trunks[0].isProbed)
        #expect(configuration.strangers == .refuse)
        #expect(configuration.admin?.description == "127.0.0.1:9470")
        #expect(configuration.log == LogSettings())
    }

    /// A file with each kind of value in each section.
    private func everyKind() throws -> HeraldConfiguration {
        try folder.load(
            """
            gateway: {id: edge-1, state: data, runtime: /dev/shm/herald}
            listen:
              - {name: four, address: 0.0.0.0:5070, advertise: 198.51.100.10}
              - {name: six, address: "[2001:db8::10]:5060", advertise: edge.office.example:5070,
                 names: [Herald.office.example, "gw.example:5080", 198.51.100.20]}
            trunks:
              - name: one
                sources: ["203.0.113.0/24", "127.0.0.1:5060"]
                next_hop: 203.0.113.5:5062
                region: AU
                trusted: true
                policy: strict
                identity: [from, pai]
                trunk_header: true
                pbx: second
              - name: two
                sources: "[2001:db8:1::]/48"
                next_hop: "[2001:db8:1::5]:5080"
                listen: six
                trunk_header: X-Line
                foreign_call_info: keep
                withheld_identity: strip
            pbx:
              - {name: first, address: 192.0.2.20, max_datagram: 4000}
              - {name: second, address: "192.0.2.21:5080", sources: [192.0.2.21, "192.0.2.22:5080"]}
            directory: {url: http://127.0.0.1:8088/api, api_key_file: api-key, sync_interval: 90s, acknowledge: true}
            outcomes:
              returned_originals: any
              retention: 30d
              vocabulary: {returned: call_returned}
            timers: {t1: 50ms, t2: 400ms}
            strangers: drop
            admin: {enabled: false}
            log: {level: debug, format: json}
            """)
    }

    @Test func `every kind of value is read: gateway`() throws {
        let configuration = try everyKind()
        #expect(configuration.id == "edge-1")
        #expect(configuration.state == folder.path + "/data")
        #expect(configuration.runtime == "/dev/shm/herald")
    }

    @Test func `every kind of value is read: listen`() throws {
        let configuration = try everyKind()
        #expect(configuration.listen[0].advertise?.description == "198.51.100.10:5060")
        #expect(configuration.listen[1].address.description == "[2001:db8::10]:5060")
        #expect(configuration.listen[1].advertise?.description == "edge.office.example:5070")
        #expect(configuration.listen[1].names.map(\.hasPort) == [false, true, false])
        #expect(configuration.listen[1].names.map(\.host) == ["Herald.office.example", "gw.example", "198.51.100.20"])
    }

    @Test func `every kind of value is read: trunks`() throws {
        let configuration = try everyKind()
        let (one, two) = (configuration.trunks[0], configuration.trunks[1])
        #expect(one.sources.map(\.description) == ["203.0.113.0/24", "127.0.0.1:5060"])
        #expect(one.sources[1].port == 5060)
        #expect(one.region == Region("AU"))
        #expect(one.policy == .strict)
        #expect(one.identity == [.from, .pAssertedIdentity])
        #expect(one.keepsForeignCallInfo)
        #expect(one.trunkHeader == "X-Herald-Trunk")
        #expect(one.pbx == 1)
        #expect(two.sources.map(\.prefixLength) == [48])
        #expect(two.targets[0].address == EndpointAddress(host: "2001:db8:1::5", port: 5080, isIPv6: true))
        #expect(two.listener == 1)
        #expect(two.trunkHeader == "X-Line")
        #expect(two.keepsForeignCallInfo)
        #expect(one.takesWithheldIdentity, "the default of a trusted trunk")
        #expect(!two.takesWithheldIdentity)
        #expect(try !folder.load(smallest).trunks[0].takesWithheldIdentity)
    }

    @Test func `every kind of value is read: pbx`() throws {
        let configuration = try everyKind()
        #expect(configuration.pbx[0].targets[0].largestDatagram == 4000)
        #expect(configuration.pbx[1].sources.map(\.description) == ["192.0.2.21", "192.0.2.22:5080"])
    }

    @Test func `every kind of value is read: directory`() throws {
        let configuration = try everyKind()
        let directory = try #require(configuration.directory)
        #expect(directory.key.reveal() == "key-of-the-test")
        #expect(directory.syncInterval == .seconds(90))
        #expect(directory.acknowledges)
    }

    @Test func `every kind of value is read: outcomes`() throws {
        let configuration = try everyKind()
        #expect(configuration.outcomes.returnedOriginals == .any)
        #expect(configuration.outcomes.retention == .seconds(30 * 86_400))
        #expect(configuration.outcomes.vocabulary == ["returned": "call_returned"])
    }

    @Test func `every kind of value is read: timers, unknown peers, admin, log`() throws {
        let configuration = try everyKind()
        #expect(configuration.timers.t1 == .milliseconds(50))
        #expect(configuration.strangers == .drop)
        #expect(configuration.admin == nil)
        #expect(configuration.log.level == .debug)
        #expect(configuration.log.format == .json)
    }

    @Test func `emergency numbers, phone contexts and attestation headers of a trunk are read`() throws {
        let configuration = try folder.load(
            smallest.replacing(
                "[203.0.113.5]",
                with: """
                    [203.0.113.5]
                        emergency_numbers: [0000, "0112"]
                        phone_contexts: carrier.example
                        attestation_header: [X-Twilio-VerStat, P-Carrier-Attestation]
                    """))
        let trunk = try #require(configuration.trunks.first)
        #expect(trunk.emergencyNumbers == ["0000", "0112"], "leading zeros are kept")
        #expect(trunk.phoneContexts == ["carrier.example"])
        #expect(trunk.attestationHeaders == ["X-Twilio-VerStat", "P-Carrier-Attestation"])
        let plain = try #require(try folder.load(smallest).trunks.first)
        #expect(plain.emergencyNumbers + plain.phoneContexts + plain.attestationHeaders == [])
    }

    @Test(arguments: [
        ("emergency_numbers: [\"+112\"]", "\"+112\" is not an emergency number"),
        ("emergency_numbers: [1]", "\"1\" is not an emergency number"),
        ("phone_contexts: [\"+61\"]", "contexts such as +61 need no entry"),
        ("attestation_header: From", "\"From\" cannot be an attestation header"),
        ("attestation_header: P-Asserted-Identity", "cannot be an attestation header"),
        ("attestation_header: \"X-A: b\"", "cannot be an attestation header"),
    ])
    func `invalid numbers, contexts and headers of a trunk are rejected`(line: String, problem: String) throws {
        let error = try #require(throws: ConfigurationError.self) {
            try folder.load(smallest.replacing("[203.0.113.5]", with: "[203.0.113.5]\n    \(line)"))
        }
        #expect("\(error)".contains(problem), "\(error)")
    }

    @Test func `a target inherits the values of its group and can override them`() throws {
        let configuration = try folder.load(
            """
            listen: [{name: u, address: 192.0.2.10}, {name: t, address: 192.0.2.10, transport: tcp}]
            trunks: [{sources: [203.0.113.5]}]
            pbx:
              - listen: t
                max_datagram: 4000
                certificate_name: pbx.example
                targets:
                  - {address: 192.0.2.21}
                  - {address: 192.0.2.22, listen: u, max_datagram: 0, certificate_name: other.example}
            """)
        let targets = configuration.pbx[0].targets
        #expect(targets.map(\.listener) == [1, 0])
        #expect(targets.map(\.largestDatagram) == [4000, nil])
        #expect(targets.map(\.certificateName) == ["pbx.example", "other.example"])
    }

    @Test func `several targets have priorities and weights and are probed by default`() throws {
        let configuration = try folder.load(
            """
            gateway: {workers: 4, drain: 2m}
            listen: [{name: u, address: 192.0.2.10}, {name: t, address: 192.0.2.10, transport: tcp}]
            trunks:
              - sources: [203.0.113.0/24]
                next_hop: sip.carrier.example
                carrier_name: fill
                pbx_listen: t
                limits: {calls_per_second: 20, calls: 100}
            pbx:
              - name: office
                listen: t
                targets:
                  - {address: pbx1.example:5080, priority: 1, weight: 3}
                  - {address: 192.0.2.21, listen: u}
            health: {interval: 5s, patience: 2s, last_patience: 9s, report_pbx: false}
            limits: {max_transactions: 5000}
            dns: {servers: ["127.0.0.1:5353"]}
            """)
        #expect(configuration.workers == 4)
        #expect(configuration.drain == .seconds(120))
        #expect(!configuration.health.reportsPBX && configuration.limits.maxTransactions == 5000)
        let trunk = configuration.trunks[0]
        #expect(trunk.targets[0].address.isName && !trunk.targets[0].address.hasPort)
        #expect(!trunk.isProbed, "a single target is not probed by default")
        #expect(trunk.carrierName == .fill)
        #expect(trunk.pbxListener == 1)
        #expect(trunk.limits.callsPerSecond == 20 && trunk.limits.calls == 100 && trunk.limits.burst == nil)
        let pbx = configuration.pbx[0]
        #expect(pbx.isProbed && pbx.mustRespond)
        #expect(pbx.targets.map(\.address.description) == ["pbx1.example:5080", "192.0.2.21:5060"])
        #expect(pbx.targets.map(\.listener) == [1, 0])
        #expect(pbx.targets.map(\.priority) == [1, 0])
        #expect(pbx.targets.map(\.weight) == [3, 1])
        #expect(configuration.health.patience == .seconds(2))
        #expect(configuration.health.lastPatience == .seconds(9) && HeraldConfiguration.Health().lastPatience == nil)
        #expect(configuration.nameServers.map(\.description) == ["127.0.0.1:5353"])
    }

    @Test func `a TLS listener has certificate files and its targets use port 5061`() throws {
        for file in ["tls.pem", "tls.key"] { _ = try folder.write("x", to: file) }
        let configuration = try folder.load(
            """
            listen:
              - {address: "192.0.2.10:5061", transport: tls, certificate: tls.pem, key: tls.key, client_certificate: true}
            trunks: [{certificate_names: [SIP.carrier.example], next_hop: 203.0.113.5}]
            pbx: [{address: 192.0.2.20, certificate_name: pbx.example}]
            """)
        let tls = try #require(configuration.listen[0].tls)
        #expect(tls.certificate == folder.path + "/tls.pem")
        #expect(tls.asksForCertificate)
        #expect(configuration.trunks[0].certificateNames == ["sip.carrier.example"])
        #expect(configuration.trunks[0].targets[0].address.port == 5061)
        #expect(configuration.pbx[0].targets[0].certificateName == "pbx.example")
    }

    @Test func `one address can be trunk and PBX if both have ports`() throws {
        let configuration = try folder.load(
            """
            listen: [{address: "127.0.0.1:5070"}]
            trunks: [{sources: ["127.0.0.1:5060"]}]
            pbx: [{address: "127.0.0.1:5080", sources: ["127.0.0.1:5080"]}]
            """)
        #expect(configuration.trunks[0].targets[0].address.port == 5060)
    }

    /// RFC 3261 §19.1.2: the default port for TLS is 5061.
    @Test(arguments: [("203.0.113.5", 5061), ("'203.0.113.5:5060'", 5060), ("'203.0.113.5:5071'", 5071)])
    func `a next hop derived from a source has the transport's default port`(source: String, port: UInt16) throws {
        for file in ["tls.pem", "tls.key"] { try folder.write("x", to: file) }
        let configuration = try folder.load(
            """
            listen: [{address: "192.0.2.10:5061", transport: tls, certificate: tls.pem, key: tls.key}]
            trunks: [{sources: [\(source)]}]
            pbx: [{address: 192.0.2.20}]
            """)
        #expect(configuration.trunks[0].targets[0].address.port == port)
    }

    @Test func `remarks report valid but risky settings`() throws {
        #expect(
            try folder.load(smallest + "admin: {listen: 0.0.0.0}").remarks == [
                "neither directory nor brands is configured: every call passes unbranded",
                "admin.listen is 0.0.0.0:9470: /metrics and /status have no login; restrict access to this address",
                "the pages on 0.0.0.0:9470 are off: they need admin.tls and admin.token_file on an address that others can reach",
                "trunk trunk1 is not trusted: its calls are not branded",
                "trunk trunk1 gets no caller identity if the number is withheld, except in emergency calls: if the carrier "
                    + "needs it, set withheld_identity: keep",
            ])
        let far = try folder.load(
            smallest.replacing("[203.0.113.5]", with: "[203.0.113.5]\n    trusted: true")
                + "directory: {url: http://198.51.100.1, api_key_file: api-key}")
        #expect(far.remarks.first == "directory.url is http: the key travels unencrypted")
    }

    @Test func `the summary describes the configuration`() throws {
        let configuration = try folder.load(smallest + "gateway: {id: edge}\nbrands: {file: brands.psv}")
        #expect(
            ConfigurationSummary(configuration).text == """
                gateway edge, state in /var/lib/herald
                listen  listen1: UDP 192.0.2.10:5060
                trunk   trunk1: from 203.0.113.5, next hop 203.0.113.5:5060 by listen1, to pbx pbx1, not trusted, \
                policy standard, no region, emergency numbers 112 911
                pbx     pbx1: 192.0.2.20:5060 by listen1, from its own address
                brands  from the file \(folder.path)/brands.psv
                admin   http://127.0.0.1:9470, pages without login
                note    trunk trunk1 is not trusted: its calls are not branded
                note    trunk trunk1 gets no caller identity if the number is withheld, except in emergency calls: if \
                the carrier needs it, set withheld_identity: keep

                """)
    }

    @Test func `the summary names the receivers of call records`() throws {
        try folder.write("0123456789abcdef", to: "secret")
        let outcomes = """
            outcomes:
              cdr_file: calls.json
              webhook: {url: 'https://crm.example.com/hooks/0123456789abcdef', secret_file: secret}
              kafka:
                brokers: [kafka-1.example.com, 'kafka-2.example.com:9093']
                topic: herald-calls
                tls: {}
                sasl: {user: herald, password_file: secret}

            """
        let text = ConfigurationSummary(try folder.load(smallest + outcomes)).text
        #expect(
            text.split(separator: "\n").filter { $0.hasPrefix("calls") } == [
                "calls   to the file \(folder.path)/calls.json",
                "calls   to the webhook https://crm.example.com/<redacted>",
                "calls   to the topic herald-calls of kafka-1.example.com, kafka-2.example.com:9093, TLS, "
                    + "login SCRAM-SHA-512",
            ])
        #expect(!text.contains("0123456789abcdef"))
    }
}
