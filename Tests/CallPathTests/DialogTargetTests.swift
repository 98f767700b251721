// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import SIPCore
import Testing

/// Later requests of a dialog go to the one target that has it, whatever Contact and Record-Route of others say.
@Suite("A dialog's own target, RFC 3261 §12.2.1.1 and §16.6 step 7")
struct DialogTargetTests {
    private static let first = PeerAddress(ipv4: 0xC000_0215, port: 5060)  // 192.0.2.21
    private static let second = PeerAddress(ipv4: 0xC000_0216, port: 5062)  // 192.0.2.22
    private static let edge1 = PeerAddress(ipv4: 0xCB00_7110, port: 5060)  // 203.0.113.16
    private static let edge2 = PeerAddress(ipv4: 0xCB00_7111, port: 5064)  // 203.0.113.17
    /// A media gateway of the carrier that is no target.
    private static let outlier = PeerAddress(ipv4: 0xC633_6421, port: 5070)  // 198.51.100.33

    /// Two targets on each side; those of the PBX are pbx.office.example, those of the carrier sbc1 and sbc2.
    static func options(outlierIsKnown: Bool = true) -> GatewayUnderTest.Options {
        func targets(_ addresses: [PeerAddress]) -> [Target] {
            addresses.enumerated().map { position, address in
                Target(
                    targetState: TargetState(name: "\(address)", rules: TargetHealthRules()), address: address,
                    socket: 0, priority: position)
            }
        }
        var options = GatewayUnderTest.Options()
        options.targets = targets([first, second])
        options.targetNames = [
            TargetName(host: "pbx.office.example", target: 0), TargetName(host: "pbx.office.example", target: 1),
        ]
        options.trunkTargets = targets([edge1, edge2])
        options.trunkTargetNames = [
            TargetName(host: "sbc1.carrier.example", target: 0), TargetName(host: "sbc2.carrier.example", target: 1),
        ]
        options.trunkSources = [edge1, edge2].map { PeerSource(network: $0, prefixLength: 32, port: nil) }
        if outlierIsKnown {
            options.trunkSources.append(PeerSource(network: outlier.with(port: 0), prefixLength: 28, port: nil))
        }
        return options
    }

    /// An INVITE of the carrier from an address, or of the PBX, with the other side's number.
    private static func invite(from source: PeerAddress, isFromTrunk: Bool) -> String {
        let text = request("INVITE").replacing(
            "Via: SIP/2.0/UDP 203.0.113.5:5060", with: "Via: SIP/2.0/UDP \(source)")
        return isFromTrunk ? text : text.replacing("sip:100@192.0.2.20 ", with: "sip:0155@sbc1.carrier.example ")
    }

    /// The Route that both sides make of the Record-Route of an INVITE as forwarded (RFC 3261 §12.1).
    private static func route(of forwarded: String) throws -> String {
        let lines = forwarded.split(separator: "\r\n").filter { $0.hasPrefix("Record-Route: ") }
        try #require(!lines.isEmpty)
        return lines.map { "Route: \($0.dropFirst("Record-Route: ".count))\n" }.joined()
    }

    /// A later request; the called side's has From and To changed about.
    private static func later(
        _ method: String, to uri: String, route: String, from source: PeerAddress, byCaller: Bool
    ) -> String {
        let text = request(method, extra: route, toTag: ";tag=p", branch: "\(method)later", sequence: 2)
            .replacing("sip:100@192.0.2.20 SIP/2.0", with: "\(uri) SIP/2.0")
            .replacing("Via: SIP/2.0/UDP 203.0.113.5:5060", with: "Via: SIP/2.0/UDP \(source)")
        guard !byCaller else { return text }
        return text.replacing(
            #"From: "Carrier" <sip:+61491570156@carrier.example>;tag=a"#, with: "From: <sip:100@192.0.2.20>;tag=p"
        )
        .replacing("To: <sip:100@192.0.2.20>;tag=p", with: "To: <sip:+61491570156@carrier.example>;tag=a")
    }

    static let methods = ["ACK", "BYE", "INVITE", "UPDATE", "PRACK", "INFO"]

    /// Contact URIs of the PBX that show no configured address.
    static let contacts = [
        "sip:asterisk@1af019b2ba08:5060", "sip:asterisk@172.17.0.3:5060", "sip:asterisk@172.17.0.3",
        "sip:asterisk@[fd00::3]:5060", "sip:100@192.0.2.10:5060", "sip:pbx.inside", "tel:+61255500000",
    ]

    @Test(arguments: methods, contacts)
    func `after a failover the caller's requests reach the target that answered`(method: String, uri: String) throws {
        for restarts in [false, true] {
            var gateway = try GatewayUnderTest(numbers: [], options: Self.options())
            let one = try #require(
                gateway.receive(Self.invite(from: Self.edge1, isFromTrunk: true), from: Self.edge1).to(Self.first).first
            )
            let out = gateway.receive(response("503 No", to: one), from: Self.first)
            let two = try #require(out.to(Self.second).first)
            #expect(try Self.route(of: one) != Self.route(of: two), "each branch names its own target")
            if restarts { gateway = try GatewayUnderTest(numbers: [], options: Self.options()) }
            let text = Self.later(method, to: uri, route: try Self.route(of: two), from: Self.edge1, byCaller: true)
            let sent = gateway.receive(text, from: Self.edge1)
            #expect(sent.to(Self.second).count == 1, "\(sent.map(\.destination))")
            #expect(sent.to(Self.first).isEmpty)
        }
    }

    /// Where a carrier's call comes from, and a Contact that is no address.
    static let carriers: [(source: PeerAddress, uri: String)] = [
        (edge2, "sip:gw@sbc9.carrier.example:5064"), (edge2, "sip:gw@10.1.1.1"),
        (outlier, "sip:gw@mgw.carrier.example"), (outlier, "sip:gw@10.1.1.1:5060;transport=udp"),
    ]

    @Test(arguments: methods, carriers)
    func `the called side's requests go back to where the call came from`(
        method: String, carrier: (source: PeerAddress, uri: String)
    ) throws {
        for restarts in [false, true] {
            var gateway = try GatewayUnderTest(numbers: [], options: Self.options())
            let invite = Self.invite(from: carrier.source, isFromTrunk: true)
            let forwarded = try #require(gateway.receive(invite, from: carrier.source).to(Self.first).first)
            if restarts { gateway = try GatewayUnderTest(numbers: [], options: Self.options()) }
            let text = Self.later(
                method, to: carrier.uri, route: try Self.route(of: forwarded), from: Self.first, byCaller: false)
            #expect(gateway.receive(text, from: Self.first).to(carrier.source).count == 1)
        }
    }

    @Test(arguments: methods)
    func `a call of the PBX comes back to the node that placed it, and goes on to the carrier's node`(
        method: String
    ) throws {
        let gateway = try GatewayUnderTest(numbers: [], options: Self.options())
        let invite = Self.invite(from: Self.second, isFromTrunk: false)
        let one = try #require(gateway.receive(invite, from: Self.second).to(Self.edge1).first)
        let out = gateway.receive(response("503 No", to: one), from: Self.edge1)
        let route = try Self.route(of: try #require(out.to(Self.edge2).first))
        let fromPBX = Self.later(method, to: "sip:gw@c.internal", route: route, from: Self.second, byCaller: true)
        #expect(gateway.receive(fromPBX, from: Self.second).to(Self.edge2).count == 1)
        let fromCarrier = Self.later(method, to: "sip:a@172.17.0.3", route: route, from: Self.edge2, byCaller: false)
            .replacing("=\(method)later", with: "=\(method)back")
        #expect(gateway.receive(fromCarrier, from: Self.edge2).to(Self.second).count == 1)
    }

    @Test(arguments: [
        // A name that a target is configured by is that target, with the dialog's cookie and without.
        ("sip:gw@sbc2.carrier.example:5064", "203.0.113.17:5064"),
        ("sip:gw@SBC2.Carrier.Example.", "203.0.113.17:5064"),
        ("sip:gw@sbc1.carrier.example", "203.0.113.16:5060"),
        // Another port at a node of the carrier, which its sources hold.
        ("sip:gw@sbc2.carrier.example:5090", "203.0.113.17:5090"),
        // RFC 3261 §12.2.1.1: an address that is the carrier's counts as it stands.
        ("sip:gw@203.0.113.16:5099", "203.0.113.16:5099"),
    ])
    func `a host name that a target is configured by is that target`(uri: String, hop: String) throws {
        for hasRoute in [true, false] {
            let gateway = try GatewayUnderTest(numbers: [], options: Self.options())
            let invite = Self.invite(from: Self.edge1, isFromTrunk: true)
            let forwarded = try #require(gateway.receive(invite, from: Self.edge1).to(Self.first).first)
            let route = hasRoute ? try Self.route(of: forwarded) : ""
            let bye = Self.later("BYE", to: uri, route: route, from: Self.first, byCaller: false)
            let sent = gateway.receive(bye, from: Self.first)
            #expect(sent.contains { "\($0.destination)" == hop && $0.bytes.starts(with: "BYE ".utf8) })
        }
    }

    @Test func `of two nodes with one name, the dialog's own is meant`() throws {
        let gateway = try GatewayUnderTest(numbers: [], options: Self.options())
        let one = try #require(
            gateway.receive(Self.invite(from: Self.edge1, isFromTrunk: true), from: Self.edge1).to(Self.first).first)
        let two = try #require(
            gateway.receive(response("503 No", to: one), from: Self.first).to(Self.second).first)
        let bye = Self.later(
            "BYE", to: "sip:a@pbx.office.example", route: try Self.route(of: two), from: Self.edge1, byCaller: true)
        #expect(gateway.receive(bye, from: Self.edge1).to(Self.second).count == 1)
    }

    @Test func `what a Record-Route of another proxy says counts before the dialog's end`() throws {
        let gateway = try GatewayUnderTest(numbers: [], options: Self.options())
        let invite = Self.invite(from: Self.edge1, isFromTrunk: true)
        let forwarded = try #require(gateway.receive(invite, from: Self.edge1).to(Self.first).first)
        for (entry, hop) in [
            ("<sip:203.0.113.17:5064;lr>", Self.edge2), ("<sip:edge9.carrier.example;lr>", Self.edge1),
            ("<sip:sbc2.carrier.example;lr>", Self.edge2),
        ] {
            let route = try Self.route(of: forwarded) + "Route: \(entry)\n"
            let bye = Self.later("BYE", to: "sip:gw@10.1.1.1", route: route, from: Self.first, byCaller: false)
                .replacing("BYElater", with: "BYE\(hop.port)\(entry.utf8.count)")
            let sent = try #require(gateway.receive(bye, from: Self.first).to(hop).first)
            #expect(sent.contains("Route: \(entry)\r\n"))
        }
    }

    @Test func `a source that no trunk lists any more gets nothing`() throws {
        let before = try GatewayUnderTest(numbers: [], options: Self.options())
        let invite = Self.invite(from: Self.outlier, isFromTrunk: true)
        let forwarded = try #require(before.receive(invite, from: Self.outlier).to(Self.first).first)
        let after = try GatewayUnderTest(numbers: [], options: Self.options(outlierIsKnown: false))
        let bye = Self.later(
            "BYE", to: "sip:gw@mgw", route: try Self.route(of: forwarded), from: Self.first, byCaller: false)
        let sent = after.receive(bye, from: Self.first)
        #expect(sent.to(Self.outlier).isEmpty)
        #expect(sent.requests("BYE").count == 1, "it goes to a target of the trunk instead")
    }

    @Test func `a dialog's target gets its requests however it is`() throws {
        let gateway = try GatewayUnderTest(numbers: [], options: Self.options())
        let one = try #require(
            gateway.receive(Self.invite(from: Self.edge1, isFromTrunk: true), from: Self.edge1).to(Self.first).first)
        for target in gateway.shared.settings.load().topology.pbxs[0].targets.targets {
            for _ in 0..<3 { target.targetState.record(.unreachable, at: gateway.now.milliseconds) }
        }
        let bye = Self.later(
            "BYE", to: "sip:a@172.17.0.3", route: try Self.route(of: one), from: Self.edge1, byCaller: true)
        #expect(gateway.receive(bye, from: Self.edge1).to(Self.first).count == 1)
    }

    @Test func `what came by TCP is asked at the port its Via names, RFC 3261 §18.2.2`() throws {
        var options = Self.options()
        options.hasStream = true
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let invite = Self.invite(from: Self.outlier, isFromTrunk: true).replacing("SIP/2.0/UDP", with: "SIP/2.0/TCP")
        let out = gateway.receive(invite, from: Self.outlier.with(port: 49_152), on: 1, connection: 9)
        let forwarded = try #require(out.to(Self.first).first)
        let bye = Self.later(
            "BYE", to: "sip:gw@mgw", route: try Self.route(of: forwarded), from: Self.first, byCaller: false)
        let sent = gateway.receive(bye, from: Self.first)
        let onward = try #require(sent.first { $0.destination == Self.outlier })
        #expect(onward.socket == 1)
        #expect(onward.bytes.starts(with: "BYE ".utf8))
    }
}
