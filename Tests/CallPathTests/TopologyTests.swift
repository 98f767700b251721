// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore
import Testing

@testable import CallPath

@Suite("Who is who: trunks by address, port, local address and certificate")
struct TopologyTests {
    private static let carrier = PeerAddress(ipv4: 0xCB00_7105, port: 5060)
    private static let office = PeerAddress(ipv4: 0xC000_0214, port: 5060)

    /// Two local UDP addresses, one for TCP and one for TLS.
    private static let sockets = [SIPTransportKind.udp, .udp, .tcp, .tls].enumerated().map { position, transport in
        LocalSocket(
            position: position, address: PeerAddress(ipv4: 0xC000_020A, port: UInt16(5060 + position)),
            transport: transport)
    }

    private func source(_ address: PeerAddress, prefix: Int = 32, port: UInt16? = nil) -> PeerSource {
        PeerSource(network: address, prefixLength: prefix, port: port)
    }

    private func group(_ address: PeerAddress, socket: Int = 0) -> TargetGroup {
        let targetState = TargetState(name: "\(address)", rules: TargetHealthRules())
        return TargetGroup(name: "g", targets: [Target(targetState: targetState, address: address, socket: socket)])
    }

    private func trunk(
        _ name: String, _ sources: [PeerSource], socket: Int = 0, certificates: [String] = [], pbxSocket: Int? = nil,
        hosts: [String] = []
    ) -> TrunkPeer {
        TrunkPeer(
            name: name, sources: sources, targets: group(Self.carrier), socket: socket, isTrusted: true,
            policy: .standard, normaliser: NumberNormaliser(region: nil), identityOrder: [.from],
            keepsForeignCallInfo: true, trunkHeader: nil, pbx: pbx, certificateNames: certificates,
            pbxSocket: pbxSocket,
            hosts: hosts
        )
    }

    private var pbx: PBXPeer {
        PBXPeer(name: "office", sources: [source(Self.office)], targets: group(Self.office))
    }

    private func topology(_ trunks: [TrunkPeer]) -> GatewayTopology {
        GatewayTopology(sockets: Self.sockets, trunks: trunks, pbxs: [pbx])
    }

    private func name(_ topology: GatewayTopology, _ flow: Flow) -> String? {
        switch topology.peer(of: flow) {
        case .trunk(let trunk): trunk.name
        case .pbx(let pbx): pbx.name
        case nil: nil
        }
    }

    @Test func `of trunks with one source, the one whose local address the call came to has it`() {
        let topology = topology([
            trunk("one", [source(Self.carrier)], socket: 0), trunk("two", [source(Self.carrier)], socket: 1),
        ])
        #expect(name(topology, Flow(source: Self.carrier, socket: 0)) == "one")
        #expect(name(topology, Flow(source: Self.carrier, socket: 1)) == "two")
    }

    @Test func `a port that is asked for counts for datagrams`() {
        let topology = topology([trunk("one", [source(Self.carrier, port: 5060)])])
        #expect(name(topology, Flow(source: Self.carrier, socket: 0)) == "one")
        #expect(name(topology, Flow(source: Self.carrier.with(port: 5061), socket: 0)) == nil)
    }

    @Test func `a stream comes from an ephemeral port: ports count only where they distinguish peers`() {
        let one = trunk("one", [source(Self.carrier, port: 5060)])
        let two = trunk("two", [source(Self.carrier, port: 5070)])
        let topology = topology([one, two])
        #expect(name(topology, Flow(source: Self.carrier.with(port: 49_152), socket: 2, connection: 1)) == "one")
        #expect(name(topology, Flow(source: Self.carrier.with(port: 5070), socket: 2, connection: 1)) == "two")
    }

    static let certificates: [(names: [String]?, sources: Bool, address: PeerAddress, isTrunk: Bool)] = [
        (["sip.carrier.example"], false, office.with(port: 1), false),  // the PBX is looked for first
        (["sip.carrier.example"], false, PeerAddress(ipv4: 0x0101_0101, port: 1), true),
        (["other.example", "SIP.CARRIER.example"], false, PeerAddress(ipv4: 0x0101_0101, port: 1), true),
        (["carrier.example"], false, PeerAddress(ipv4: 0x0101_0101, port: 1), false),
        (nil, false, carrier, false),
        (["sip.carrier.example"], true, carrier, true),
        (["sip.carrier.example"], true, PeerAddress(ipv4: 0x0101_0101, port: 1), false),
        (nil, true, carrier, false),
    ]

    @Test(arguments: certificates)
    func `a trunk that is known by its certificate is known by nothing less, RFC 5922 §7`(
        row: (names: [String]?, sources: Bool, address: PeerAddress, isTrunk: Bool)
    ) {
        let sources = row.sources ? [source(Self.carrier)] : []
        let topology = topology([trunk("one", sources, socket: 3, certificates: ["sip.carrier.example"])])
        let flow = Flow(
            source: row.address, socket: 3, connection: 1, certificate: row.names.map { PeerCertificate(names: $0) })
        #expect((name(topology, flow) == "one") == row.isTrunk)
    }

    @Test func `a response comes from its target, whatever the sources`() {
        let elsewhere = PeerAddress(ipv4: 0xC633_6400, port: 5060)
        let topology = topology([
            trunk("one", [source(elsewhere, prefix: 24)]), trunk("two", [source(Self.office)], socket: 1),
        ])
        #expect(name(topology, Flow(source: Self.carrier, socket: 0)) == "one")
        #expect(name(topology, Flow(source: Self.carrier, socket: 1)) == "two")
        #expect(name(topology, Flow(source: Self.carrier.with(port: 5062), socket: 0)) == nil)
        #expect(name(topology, Flow(source: Self.carrier.with(port: 40_000), socket: 2, connection: 1)) == "one")
    }

    @Test(arguments: [
        ("sip:+4930123@sip.two.example", "two"), ("sip:+4930123@SIP.Two.Example:5061;user=phone", "two"),
        ("sip:+4930123@sip.one.example", "one"), ("sip:+4930123@elsewhere.example", "one"),
    ]) func `a call of the PBX goes to the carrier its URI names`(uri: String, name: String) throws {
        let topology = topology([
            trunk("one", [source(Self.office)], hosts: ["sip.one.example"]),
            trunk("two", [source(Self.office)], hosts: ["Sip.two.example"]),
        ])
        let bytes = Array(uri.utf8)
        let target = try #require(SIPURI(bytes, bytes.indices))
        #expect(topology.trunk(for: target, from: Flow(source: Self.office, socket: 0))?.name == name)
    }

    @Test func `what goes to a trunk finds it, though it is known by its certificate only when it comes`() {
        let topology = topology([trunk("one", [], socket: 3, certificates: ["sip.carrier.example"])])
        #expect(topology.peer(at: Self.carrier)?.isTrunk == true)
        #expect(topology.peer(at: Self.carrier.with(port: 5062)) == nil)
    }

    @Test(
        arguments: [
            ("sip:a@192.0.2.1", .udp), ("sip:a@192.0.2.1;transport=TCP", .tcp), ("sip:a@192.0.2.1;transport=tls", .tls),
            ("sips:a@192.0.2.1", .tls), ("sips:a@192.0.2.1;transport=tcp", .tls),
            ("sip:a@192.0.2.1;transport=sctp", .udp),
        ] as [(String, SIPTransportKind)])
    func `a URI says by what it is reached, RFC 3263 §4.1, RFC 3261 §26.2.2`(uri: String, transport: SIPTransportKind)
        throws
    {
        let bytes = Array(uri.utf8)
        #expect(try #require(SIPURI(bytes, bytes.indices)).transport == transport)
    }

    @Test func `all of a dialog leaves by the trunk's own address towards the PBX`() throws {
        var options = GatewayUnderTest.Options()
        options.sockets = [5060, 5070]
        options.pbxSocket = 1
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let bye = gateway.receive(request("BYE", toTag: ";tag=p"), from: GatewayUnderTest.trunk)
        #expect(try #require(bye.first { $0.destination == GatewayUnderTest.pbx }).socket == 1)
    }

    @Test func `calls leave by the trunk's own address towards the PBX, so that it can distinguish trunks`() throws {
        var options = GatewayUnderTest.Options()
        options.sockets = [5060, 5070]
        options.pbxSocket = 1
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let out = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        let invite = try #require(out.first { $0.destination == GatewayUnderTest.pbx })
        #expect(invite.socket == 1)
        let text = String(decoding: invite.bytes, as: UTF8.self)
        #expect(text.contains("Via: SIP/2.0/UDP 192.0.2.10:5070;branch="))
        // RFC 5658 §3: both sides of the gateway are in the route set, the outgoing side on top.
        let routes = text.split(separator: "\r\n").filter { $0.hasPrefix("Record-Route: ") }
        #expect(routes.map { $0.contains("192.0.2.10:5070") } == [true, false])
    }

    @Test func `a call the PBX sends to a trunk's own address goes to that trunk`() throws {
        var options = GatewayUnderTest.Options()
        options.sockets = [5060, 5070]
        options.pbxSocket = 1
        options.secondTrunk = Self.carrier.with(port: 5099)
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let call = request("INVITE").replacing("sip:100@192.0.2.20 ", with: "sip:0155@pbx.example ")
        let first = gateway.receive(call, from: GatewayUnderTest.pbx, on: 1)
        #expect(first.contains { $0.destination == GatewayUnderTest.trunk && $0.bytes.starts(with: "INVITE".utf8) })
        let other = call.replacing("story@", with: "other@").replacing("z9hG4bK1", with: "z9hG4bK2")
        let second = gateway.receive(other, from: GatewayUnderTest.pbx, on: 0)
        #expect(second.contains { $0.destination == options.secondTrunk && $0.bytes.starts(with: "INVITE".utf8) })
    }

    @Test(arguments: ["REGISTER", "BYE", "INVITE"])
    func `without any trunk the PBX gets 503`(method: String) throws {
        var options = GatewayUnderTest.Options()
        options.hasTrunk = false
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let tag = method == "BYE" ? ";tag=p" : ""
        let text = request(method, toTag: tag).replacing("192.0.2.20 SIP", with: "198.51.100.9 SIP")
        let responses = gateway.receive(text, from: GatewayUnderTest.pbx).to(GatewayUnderTest.pbx)
        #expect(try #require(responses.last).hasPrefix("SIP/2.0 503 "))
    }

    @Test func `of many PBXs the first with the address has it, by range, port or target, as of few`() {
        let pbxs = (0..<40).map { number -> PBXPeer in
            let own = PeerAddress(ipv4: 0x0A00_0000 + UInt32(number % 30), port: 5060)
            let sources: [PeerSource]
            switch number % 4 {
            case 0: sources = [source(own)]
            case 1: sources = [source(own, port: UInt16(5060 + number % 3))]
            case 2: sources = [source(PeerAddress(ipv4: 0x0A00_0000 + UInt32(number) & ~7, port: 0), prefix: 29)]
            default: sources = []
            }
            return PBXPeer(
                name: "pbx\(number)", sources: sources,
                targets: group(PeerAddress(ipv4: 0x0A00_0000 + UInt32(number), port: 5060)))
        }
        let topology = GatewayTopology(sockets: Self.sockets, trunks: [], pbxs: pbxs)
        for host in 0..<48 as Range<UInt32> {
            for port in 5059...5063 as ClosedRange<UInt16> {
                let address = PeerAddress(ipv4: 0x0A00_0000 + host, port: port)
                let expected =
                    pbxs.first { $0.sources.contains { $0.contains(address) } }
                    ?? pbxs.first { $0.targets.hasTarget(at: address, anyPort: false) }
                #expect(name(topology, Flow(source: address, socket: 0)) == expected?.name, "\(address)")
                let mayBe = pbxs.contains { pbx in
                    pbx.sources.contains { $0.contains(address, anyPort: true) }
                        || pbx.targets.hasTarget(at: address, anyPort: true)
                }
                #expect(topology.mayBePeer(at: address) == mayBe, "\(address)")
            }
        }
    }
}
