// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import SIPCore
import Testing

/// A PBX asks for its carrier through Herald; the response must be the carrier's, or a dead carrier looks up.
@Suite("OPTIONS: the gateway's own, and those that go on, RFC 3261 §11.2, §16.4")
struct OwnOptionsTests {
    private static let trunk = GatewayUnderTest.trunk
    private static let pbx = GatewayUnderTest.pbx

    private func gateway() throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.ownNames = [OwnName(host: "herald.example.com", port: nil), OwnName(host: "198.51.100.10", port: 5070)]
        options.sockets = [5060, 5080]
        return try GatewayUnderTest(numbers: [], options: options)
    }

    private func options(_ uri: String, route: String = "", from source: PeerAddress) -> String {
        request("OPTIONS", extra: route.isEmpty ? "" : "Route: \(route)\n")
            .replacing("sip:100@192.0.2.20 SIP", with: "\(uri) SIP")
            .replacing("SIP/2.0/UDP 203.0.113.5:5060", with: "SIP/2.0/UDP \(source)")
    }

    /// Request-URI and Route of OPTIONS that Herald itself responds to, from either side.
    static let own: [(uri: String, route: String)] = [
        ("sip:192.0.2.10:5060", ""), ("sip:192.0.2.10", ""), ("sip:192.0.2.10:5080;transport=udp", ""),
        ("sip:HERALD.example.com", ""), ("sip:herald.example.com.:5060", ""), ("sip:198.51.100.10:5070", ""),
        ("sip:192.0.2.10:5060", "<sip:192.0.2.10:5060;lr>"),
        ("sip:192.0.2.10", "<sip:herald.example.com;lr>, <sip:192.0.2.10:5080;lr>"),
    ]

    @Test(arguments: own)
    func `those for its own addresses and names get its response`(row: (uri: String, route: String)) throws {
        for source in [Self.trunk, Self.pbx] {
            let out = try gateway().receive(options(row.uri, route: row.route, from: source), from: source)
            #expect(out.count == 1)
            #expect(out.to(source).first?.hasPrefix("SIP/2.0 200 OK\r\n") == true)
        }
    }

    /// OPTIONS of the PBX that go to its carrier.
    static let onward: [(uri: String, route: String)] = [
        // Asterisk and FreePBX with an outbound proxy, as docs/recipes/freepbx.md has it.
        ("sip:203.0.113.5:5060", "<sip:192.0.2.10:5060;lr>"), ("sip:203.0.113.5", "<sip:192.0.2.10;lr>"),
        ("sip:203.0.113.5:5060", ""), ("sip:carrier.example", "<sip:192.0.2.10:5060;lr>"),
        ("sip:192.0.2.10:5071", "<sip:192.0.2.10:5060;lr>"), ("sip:100@192.0.2.10", ""),
        ("sip:192.0.2.10:5060", "<sip:192.0.2.10:5060;lr>, <sip:203.0.113.5;lr>"),
    ]

    @Test(arguments: onward)
    func `those of the PBX for its carrier go on, and so does what the carrier responds`(
        row: (uri: String, route: String)
    ) throws {
        let gateway = try gateway()
        let out = gateway.receive(options(row.uri, route: row.route, from: Self.pbx), from: Self.pbx)
        #expect(out.to(Self.pbx).isEmpty)
        let sent = try #require(out.to(Self.trunk).first)
        #expect(sent.hasPrefix("OPTIONS \(row.uri) SIP/2.0\r\n") && !sent.contains("Route: <sip:192.0.2.10"))
        let busy = gateway.receive(response("486 Busy Here", to: sent), from: Self.trunk)
        #expect(busy.to(Self.pbx).first?.hasPrefix("SIP/2.0 486 ") == true)
        #expect(gateway.counters.count(.optionsResponses) == 0)
    }

    @Test func `a silent carrier is silent for the PBX`() throws {
        let gateway = try gateway()
        _ = gateway.receive(
            options("sip:203.0.113.5:5060", route: "<sip:192.0.2.10:5060;lr>", from: Self.pbx), from: Self.pbx)
        var heard: [String] = []
        for _ in 0..<310 { heard += gateway.pass(.milliseconds(100)).to(Self.pbx) }
        #expect(heard.allSatisfy { $0.hasPrefix("SIP/2.0 100 ") }, "RFC 4320 §4.1")
    }

    @Test func `those of a carrier for its PBX go on`() throws {
        let out = try gateway().receive(options("sip:192.0.2.20:5060", from: Self.trunk), from: Self.trunk)
        #expect(out.to(Self.pbx).first?.hasPrefix("OPTIONS sip:192.0.2.20:5060 SIP/2.0\r\n") == true)
    }
}
