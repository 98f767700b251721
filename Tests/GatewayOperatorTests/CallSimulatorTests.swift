// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import GatewayTesting
import Host
import Testing

@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("herald simulate")
struct CallSimulatorTests {
    private let folder: GatewayFolder

    init() throws {
        folder = try GatewayFolder()
        try folder.put(Array("+61255501001|Acme Bank||A reason|b-7\n".utf8), in: "brands.psv")
        try FileManager.default.createDirectory(atPath: folder.path + "/state", withIntermediateDirectories: true)
    }

    private func invite(_ from: String, more: String = "", via: String = "127.85.0.1:5060") -> String {
        """
        INVITE sip:+61255502000@\(folder.address) SIP/2.0
        Via: SIP/2.0/UDP \(via);branch=z9hG4bKsim
        Max-Forwards: 70
        From: \(from);tag=1
        To: <sip:+61255502000@\(folder.address)>
        Call-ID: sim-1@carrier.example
        CSeq: 1 INVITE
        Contact: <sip:carrier@127.85.0.1>
        \(more)Content-Length: 0

        """
    }

    private func simulate(
        _ text: String, trunk: String? = nil, from: String? = nil, at time: String? = nil,
        _ change: (ConfigurationText) -> ConfigurationText = { $0 }
    ) throws -> SimulationReport {
        let sections = change(folder.sections.with("brands", "{file: brands.psv}"))
        return try CallSimulator(try folder.configuration(sections), trunk: trunk, source: from, at: time)
            .simulate(text)
    }

    @Test func `a branded call shows each step and the lines that change`() throws {
        let report = try simulate(invite("\"OLD\" <sip:0255501001@127.85.0.1>"))
        let text = report.text
        #expect(text.contains("sender      127.85.0.1:5060 (the topmost Via)\n"), "\(text)")
        #expect(text.contains("trunk       carrier: trusted, policy standard, region AU; its calls go to pbx office\n"))
        #expect(text.contains("caller      From: \"OLD\" <sip:0255501001@127.85.0.1>;tag=1\n"))
        #expect(text.contains("number      +61255501001\n"))
        #expect(text.contains("lookup      Acme Bank (b-7)\n"))
        #expect(text.contains("decision    show the brand\n"))
        #expect(text.contains("target      127.85.0.2:5060, of pbx office\n"))
        #expect(text.contains("\n- From: \"OLD\" <sip:0255501001@127.85.0.1>;tag=1\n"))
        #expect(text.contains("\n+ From: \"Acme Bank\" <sip:0255501001@127.85.0.1>;tag=1\n"))
        #expect(text.contains("\n+ Call-Info: "))
        #expect(text.contains("\n  Call-ID: sim-1@carrier.example\n"))
        #expect(report.json["branded"] == .bool(true) && report.json["decision"] == .string("matched"))
    }

    @Test func `a route shows its policy and its PBX in place of the trunk's`() throws {
        let report = try simulate(invite("<sip:0255501001@127.85.0.1>")) {
            $0.with(
                "pbx", "[{name: office, address: '127.85.0.2:5060'}, {name: shop, address: '127.85.0.3:5060'}]"
            )
            .with(
                "routes",
                "{table: [{name: acme, numbers: [+61255502000], pbx: shop, policy: strict, brands: false}]}")
        }
        let text = report.text
        #expect(text.contains("route       acme: policy strict; its calls go to pbx shop; brands: false\n"), "\(text)")
        #expect(text.contains("decision    pass through: policy (the route has brands: false)"))
        #expect(text.contains("target      127.85.0.3:5060, of pbx shop\n"))
        #expect(report.json["route"] == .string("acme"))
    }

    @Test func `a call in shadow has the decision, and the INVITE without a brand`() throws {
        let report = try simulate(invite("\"OLD\" <sip:0255501001@127.85.0.1>")) {
            $0.with("routes", "{table: [{name: acme, numbers: [+61255502000], brands: shadow}]}")
        }
        #expect(report.text.contains("; brands: shadow\n"), "\(report.text)")
        #expect(report.text.contains("decision    pass through: shadow (with brands: true the brand is written)"))
        #expect(report.text.contains("lookup      Acme Bank (b-7)\n") && !report.text.contains("\n+ From:"))
        #expect(report.json["branded"] == .bool(false) && report.json["decision"] == .string("shadow"))
    }

    @Test(arguments: [
        ("<sip:+61255501009@h>", "", "no_match", "lookup      no brand has +61255501009"),
        ("<sip:+61255501001@h>", "Privacy: id\n", "privacy", "caller      withheld\n"),
        ("<sip:12@h>", "", "number_unclear", "number      not certain"),
        ("<sip:+61255501001@h>", "Priority: emergency\n", "emergency", "decision    pass through: emergency"),
    ])
    func `an unbranded call has its reason`(from: String, more: String, reason: String, line: String) throws {
        let report = try simulate(invite(from, more: more))
        #expect(report.json["decision"] == .string(reason), "\(report.text)")
        #expect(report.text.contains(line), "\(report.text)")
    }

    @Test func `a large Identity field is no obstacle`() throws {
        let field = "Identity: " + String(repeating: "a", count: 40_000) + "\n"
        let report = try simulate(invite("<sip:0255501001@127.85.0.1>", more: field))
        #expect(report.text.contains("decision    show the brand\n"))
    }

    @Test(arguments: [
        ("Identity: " + String(repeating: "a", count: 2_000) + "\n", "bytes, and limits.max_message is 2000"),
        ((1...20).map { "X-Field: \($0)\n" }.joined(), "header fields, and limits.max_headers is 20"),
    ])
    func `a message above a limit has the limit in the error`(more: String, end: String) throws {
        let failure = #expect(throws: CommandFailure.self) {
            try simulate(invite("<sip:0255501001@127.85.0.1>", more: more)) {
                $0.with("limits", "{max_message: 2000, max_headers: 20}")
            }
        }
        let text = failure?.description ?? ""
        #expect(text.hasPrefix("the gateway would reject this message with 513: it has "), "\(text)")
        #expect(text.hasSuffix(end), "\(text)")
    }

    @Test func `P-Asserted-Identity is named as the caller's header`() throws {
        let report = try simulate(
            invite("<sip:+61255501009@h>", more: "P-Asserted-Identity: <sip:+61255501001@h>\n"))
        #expect(report.json["caller_header"] == .string("P-Asserted-Identity"))
        #expect(report.json["branded"] == .bool(true))
    }

    @Test func `an unknown sender is told by its address, and --trunk overrides it`() throws {
        let pasted = invite("<sip:+61255501001@h>", via: "198.51.100.9")
        let two =
            "[{name: carrier, sources: [127.85.0.1], next_hop: '127.85.0.1:5060', region: AU, trusted: true}, "
            + "{name: other, sources: [127.85.0.9], next_hop: '127.85.0.9:5060'}]"
        let failure = #expect(throws: CommandFailure.self) { try simulate(pasted) { $0.with("trunks", two) } }
        #expect(
            failure?.description == "the sender is not known from the message; give --trunk NAME, one of carrier, other"
        )
        let stranger = #expect(throws: CommandFailure.self) { try simulate(pasted, from: "198.51.100.9") }
        #expect(stranger?.description.contains("no trunk lists this address in sources") == true)
        #expect(try simulate(pasted, trunk: "carrier") { $0.with("trunks", two) }.json["branded"] == .bool(true))
        let untrusted = try simulate(pasted, trunk: "other") { $0.with("trunks", two) }
        #expect(untrusted.json["decision"] == .string("untrusted"))
        let unknown = #expect(throws: CommandFailure.self) { try simulate(pasted, trunk: "nope") }
        #expect(unknown?.description == "no trunk is named nope; there are carrier")
    }

    @Test func `with one trunk an unknown Via is taken for the trunk's`() throws {
        let report = try simulate(invite("<sip:+61255501001@h>", via: "10.1.1.1"))
        #expect(report.text.contains("sender      127.85.0.1:5060 (the only trunk)\n"), "\(report.text)")
    }

    @Test func `a call that Herald rejects shows its response`() throws {
        let report = try simulate(invite("<sip:+61255501001@h>").replacing("Max-Forwards: 70", with: "Max-Forwards: 0"))
        #expect(report.json["response"] == .string("483 Too Many Hops"), "\(report.text)")
        #expect(report.json.compactMapValues { $0 }["after"] == nil)
    }

    @Test func `a target that is configured by name needs no name server`() throws {
        let report = try simulate(invite("<sip:+61255501001@h>")) {
            $0.with("pbx", "[{name: office, address: 'pbx.example.net:5070'}]")
        }
        #expect(report.text.contains("target      pbx.example.net:5070 over UDP, of pbx office\n"), "\(report.text)")
    }

    @Test func `the walk is at the time of --at`() throws {
        let text = invite("<sip:+61255501001@h>")
        let report = try simulate(text, at: "2026-01-31T12:00:00Z")
        #expect(report.text.hasPrefix("time        2026-01-31T12:00:00Z\nsender      "), "\(report.text)")
        #expect(report.json["at"] == .string("2026-01-31T12:00:00Z"))
        #expect(try simulate(text).json.compactMapValues { $0 }["at"] == nil)
        let failure = #expect(throws: CommandFailure.self) { try simulate(text, at: "noon") }
        #expect(failure?.description.hasPrefix("--at takes 2026-01-31, ") == true)
    }

    @Test func `a trunk without signatures has no step of them`() throws {
        let report = try simulate(invite("<sip:+61255501001@h>", more: "Identity: a.b.c;info=<https://h/c>\n"))
        #expect(!report.text.contains("signature") && report.json.compactMapValues { $0 }["signature"] == nil)
    }

    @Test func `a call that is rejected for its signature shows the cause`() throws {
        let pasted = invite("<sip:+61255501001@h>", more: "Identity: a.b.c;info=<https://h/c>;ppt=shaken\n")
        let report = try simulate(pasted) {
            $0.with("trust", "{regimes: [private]}").with(
                "trunks",
                "[{name: carrier, sources: [127.85.0.1], region: AU, trusted: true, signatures: decide, on_failed: reject}]"
            )
        }
        #expect(report.text.contains("decision    rejected with 438 Invalid Identity Header\n"), "\(report.text)")
        #expect(report.text.contains("signature   failed, checked here, decide: the call was rejected\n"))
        #expect(report.text.contains("Identity    malformed: "))
    }

    @Test func `nothing is stored`() throws {
        _ = try simulate(invite("<sip:+61255501001@h>"))
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/state")
        #expect(left.filter { $0.contains("sqlite") || $0.contains("ring") } == [])
    }
}
