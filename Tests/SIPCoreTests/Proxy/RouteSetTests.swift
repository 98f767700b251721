// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Route set, RFC 3261 §16.4 and §16.6 step 6")
struct RouteSetTests {
    /// 192.0.2.10:5060, and 192.0.2.11:5070 which peers know as gw.example:5070.
    static let sockets = [
        LocalSocket(position: 0, address: PeerAddress(ipv4: 0xc000_020a, port: 5060)),
        LocalSocket(
            position: 1, address: PeerAddress(ipv4: 0xc000_020b, port: 5070), advertisedHost: "gw.example",
            advertisedPort: 5070),
    ]

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lines: [String]
        let result: [String]
        let nextHop: String
        let isRouted: Bool

        init(_ rule: String, _ lines: [String], _ result: [String], to nextHop: String, routed: Bool = false) {
            testDescription = rule
            self.lines = lines
            self.result = result
            self.nextHop = nextHop
            isRouted = routed
        }
    }

    static let bye = "BYE sip:pbx.example SIP/2.0"
    static let rows: [Row] = [
        Row("no Route", [bye, "To: a"], [bye, "To: a"], to: "pbx.example"),
        Row(
            "§16.4: an own entry alone on its line",
            [bye, "Route: <sip:192.0.2.10;lr>", "To: a"], [bye, "To: a"], to: "pbx.example"),
        Row(
            "§16.4: an own entry by its advertised name",
            [bye, "Route: <sip:GW.example:5070;lr>", "To: a"], [bye, "To: a"], to: "pbx.example"),
        Row(
            "§19.1.2: without port it is 5060", [bye, "Route: <sip:192.0.2.11;lr>"],
            [bye, "Route: <sip:192.0.2.11;lr>"],
            to: "192.0.2.11", routed: true),
        Row(
            "RFC 5658: double entries on two lines",
            [bye, "Route: <sip:192.0.2.10;lr>", "Route: <sip:192.0.2.11:5070;lr>", "To: a"], [bye, "To: a"],
            to: "pbx.example"),
        Row(
            "double entries on one line", [bye, "Route: <sip:192.0.2.10;lr>,<sip:gw.example:5070;lr>"], [bye],
            to: "pbx.example"),
        Row(
            "an own entry before a foreign one on its line",
            [bye, "Route: <sip:192.0.2.10;lr> , <sip:c.example;lr>", "To: a"],
            [bye, "Route: <sip:c.example;lr>", "To: a"],
            to: "c.example", routed: true),
        Row(
            "both forms",
            [
                bye, "Route: <sip:192.0.2.10;lr>",
                "Route: \"a, b\" <sip:gw.example:5070;lr>, <sip:c.example;lr>,<sip:d;lr>",
            ],
            [bye, "Route: <sip:c.example;lr>,<sip:d;lr>"], to: "c.example", routed: true),
        Row(
            "a foreign entry first keeps all",
            [bye, "Route: <sip:c.example;lr>,<sip:192.0.2.10;lr>"],
            [bye, "Route: <sip:c.example;lr>,<sip:192.0.2.10;lr>"],
            to: "c.example", routed: true),
        Row(
            "no Route on its line is no Route", [bye, "Route: ,", "Route: <sip:192.0.2.10;lr>"], [bye, "Route: ,"],
            to: "pbx.example"),
        Row(
            "§16.4: a strict router before us",
            ["BYE sip:192.0.2.10;lr SIP/2.0", "Route: <sip:c.example;lr>", "Route: <sip:pbx.example>", "To: a"],
            [bye, "Route: <sip:c.example;lr>", "To: a"], to: "c.example", routed: true),
        Row(
            "§16.4: a strict router before us, one line",
            ["BYE sip:192.0.2.10;lr SIP/2.0", "Route: <sip:c.example;lr>, <sip:pbx.example>"],
            [bye, "Route: <sip:c.example;lr>"], to: "c.example", routed: true),
        Row(
            "§16.4: a strict router before us, and nothing behind",
            ["BYE sip:192.0.2.10;lr SIP/2.0", "Route: <sip:pbx.example>", "To: a"], [bye, "To: a"], to: "pbx.example"),
        Row(
            "§16.4: a strict router before us, and a second entry of ours on the line",
            ["BYE sip:192.0.2.10;lr SIP/2.0", "Route: <sip:gw.example:5070;lr>, <sip:pbx.example>", "To: a"],
            [bye, "To: a"], to: "pbx.example"),
        Row(
            "§16.4: an own Request-URI without Route stays", ["OPTIONS sip:192.0.2.10;lr SIP/2.0", "To: a"],
            ["OPTIONS sip:192.0.2.10;lr SIP/2.0", "To: a"], to: "192.0.2.10"),
        Row(
            "§16.6: a strict router behind us",
            [bye, "Route: <sip:c.example>", "Route: <sip:d;lr>", "To: a"],
            ["BYE sip:c.example SIP/2.0", "Route: <sip:d;lr>", "Route: <sip:pbx.example>", "To: a"], to: "c.example",
            routed: true),
        Row(
            "§16.6: a strict router behind us, alone",
            [bye, "Route: <sip:c.example>", "To: a"],
            ["BYE sip:c.example SIP/2.0", "Route: <sip:pbx.example>", "To: a"], to: "c.example", routed: true),
        Row(
            "§16.6: a strict router behind us, on our line",
            [bye, "Route: <sip:192.0.2.10;lr>, <sip:c.example>", "To: a"],
            ["BYE sip:c.example SIP/2.0", "Route: <sip:pbx.example>", "To: a"], to: "c.example", routed: true),
        Row(
            "§16.6: a strict router behind us, in the middle of a line",
            [bye, "Route: <sip:192.0.2.10;lr>, <sip:c.example>, <sip:d>"],
            ["BYE sip:c.example SIP/2.0", "Route: <sip:d>", "Route: <sip:pbx.example>"], to: "c.example", routed: true),
        Row(
            "strict routers on both sides",
            ["BYE sip:192.0.2.10;lr SIP/2.0", "Route: <sip:c.example>, <sip:d;lr>, <sip:pbx.example>"],
            ["BYE sip:c.example SIP/2.0", "Route: <sip:d;lr>", "Route: <sip:pbx.example>"], to: "c.example",
            routed: true),
    ]

    @Test(arguments: rows)
    func `routes are followed and everything else stays`(row: Row) throws {
        let message = try WireMessage.message(row.lines, body: "body")
        var splices = Splices()
        let routes = RouteSet(
            of: message, sockets: Self.sockets, secret: Secret(key0: 1, key1: 2), into: &splices
        ) { _ in true }
        #expect(splices.applied(to: message.bytes) == WireMessage.bytes(row.result, body: "body"))
        #expect(splices.growth == WireMessage.bytes(row.result).count - WireMessage.bytes(row.lines).count)
        #expect(routes.nextHop.map { text($0.host) } == row.nextHop)
        #expect(routes.isRouted == row.isRouted)
        #expect(routes.cookie == nil)
    }

    // The last one is folded inside the URI: as a Request-URI it would end the request line.
    @Test(arguments: ["Route: <http://c.example>", "Route: c", "Route: <>", "Route: <sip:c.example;x\r\n ;y>"])
    func `a Route that cannot be read leads nowhere and stays`(route: String) throws {
        let message = try WireMessage.message([Self.bye, route])
        var splices = Splices()
        let routes = RouteSet(
            of: message, sockets: Self.sockets, secret: Secret(key0: 1, key1: 2), into: &splices
        ) { _ in true }
        #expect(splices.isEmpty)
        #expect(routes.isRouted)
        #expect(routes.nextHop == nil)
    }

    @Test(
        arguments: [
            ("192.0.2.11", 5070, true), ("gw.example", 5070, true), ("192.0.2.11", nil, false),
            ("gw.example", 5060, false),
            ("[2001:db8::1]", 5060, false), ("", 5070, false),
        ] as [(String, UInt16?, Bool)])
    func `a socket is known by address and advertised name`(host: String, port: UInt16?, isNamed: Bool) {
        #expect(Self.sockets[1].isNamed(host: Array(host.utf8)[...], port: port) == isNamed)
    }

    /// 192.0.2.12:5070, called pbx.office.example on its own port, and edge.example on 5090.
    static let called = LocalSocket(
        position: 0, address: PeerAddress(ipv4: 0xc000_020c, port: 5070),
        names: [
            OwnName(host: "herald.office.example", port: nil), OwnName(host: "edge.example.", port: 5090),
            OwnName(host: "gw.example", port: 5060), OwnName(host: "198.51.100.20", port: 5060),
        ])

    @Test(
        arguments: [
            ("herald.office.example", 5070, true), ("HERALD.Office.Example.", 5070, true),
            // RFC 3263 §4.2: without port, SRV records may name any.
            ("herald.office.example", nil, true), ("herald.office.example", 5080, false),
            ("edge.example", 5090, true), ("edge.example", nil, false), ("edge.example", 5070, false),
            // RFC 3261 §19.1.2: without port it is 5060.
            ("gw.example", nil, true), ("gw.example", 5060, true), ("gw.example", 5070, false),
            ("198.51.100.20", 5060, true), ("198.51.100.20", nil, true),
            ("office.example", 5070, false), ("herald.office.example.org", 5070, false), (".", 5070, false),
        ] as [(String, UInt16?, Bool)])
    func `a socket is known by every name it is called, RFC 3261 §16.4`(host: String, port: UInt16?, isNamed: Bool) {
        #expect(Self.called.isNamed(host: Array(host.utf8)[...], port: port) == isNamed)
    }

    @Test(arguments: [
        (
            ["BYE sip:pbx.example SIP/2.0", "Route: <sip:herald.office.example;lr>, <sip:edge.example:5090;lr>"],
            ["BYE sip:pbx.example SIP/2.0"]
        ),
        // §16.4: a strict router puts the name into the Request-URI.
        (
            ["BYE sip:herald.office.example:5070;lr SIP/2.0", "Route: <sip:pbx.example>"],
            ["BYE sip:pbx.example SIP/2.0"]
        ),
        (
            ["BYE sip:pbx.example SIP/2.0", "Route: <sip:herald.office.example:5099;lr>"],
            ["BYE sip:pbx.example SIP/2.0", "Route: <sip:herald.office.example:5099;lr>"]
        ),
    ])
    func `a Route to one of the gateway's names is its own`(lines: [String], result: [String]) throws {
        let message = try WireMessage.message(lines)
        var splices = Splices()
        _ = RouteSet(
            of: message, sockets: [Self.called], secret: Secret(key0: 1, key1: 2), into: &splices
        ) { _ in
            false
        }
        #expect(splices.applied(to: message.bytes) == WireMessage.bytes(result))
    }

    @Test func `an IPv6 socket is known with and without brackets and in any spelling`() {
        let socket = LocalSocket(
            position: 0, address: PeerAddress(ipv6High: 0, low: 1, port: 5060), advertisedHost: "2001:db8::9")
        #expect(text(socket.sentBy) == "[2001:db8::9]:5060")
        for host in ["[2001:db8::9]", "2001:DB8:0::9", "::1", "[::1]"] {
            #expect(socket.isNamed(host: Array(host.utf8)[...], port: nil))
        }
    }
}
