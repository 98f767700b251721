// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// The BYE of the examples in RFC 3261 §16.12.1, hop by hop: each proxy takes the request of the one before it.
@Suite("Routing examples, RFC 3261 §16.12.1")
struct RoutingExamplesTests {
    /// One hop: the proxy, the request it receives, the request it forwards, and the host it forwards to.
    struct Hop: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let proxy: String
        let received: [String]
        let forwarded: [String]
        let nextHop: String

        init(_ rule: String, at proxy: String, _ received: [String], _ forwarded: [String], to nextHop: String) {
            testDescription = rule
            self.proxy = proxy
            self.received = received
            self.forwarded = forwarded
            self.nextHop = nextHop
        }
    }

    private static let caller = "BYE sip:caller@u1.example.com SIP/2.0"

    static let hops: [Hop] = [
        Hop(
            "§16.12.1.1: the trapezoid, P2", at: "p2.domain.com",
            [caller, "Route: <sip:p2.domain.com;lr>,<sip:p1.example.com;lr>"],
            [caller, "Route: <sip:p1.example.com;lr>"], to: "p1.example.com"),
        Hop(
            "§16.12.1.1: the trapezoid, P1", at: "p1.example.com",
            [caller, "Route: <sip:p1.example.com;lr>"], [caller], to: "u1.example.com"),
        Hop(
            "§16.12.1.2: P4, before a strict router", at: "p4.domain.com",
            [
                caller, "Route: <sip:p4.domain.com;lr>", "Route: <sip:p3.middle.com>",
                "Route: <sip:p2.example.com;lr>", "Route: <sip:p1.example.com;lr>",
            ],
            [
                "BYE sip:p3.middle.com SIP/2.0", "Route: <sip:p2.example.com;lr>", "Route: <sip:p1.example.com;lr>",
                "Route: <sip:caller@u1.example.com>",
            ], to: "p3.middle.com"),
        Hop(
            "§16.12.1.2: P2, behind a strict router", at: "p2.example.com",
            [
                "BYE sip:p2.example.com;lr SIP/2.0", "Route: <sip:p1.example.com;lr>",
                "Route: <sip:caller@u1.example.com>",
            ],
            [caller, "Route: <sip:p1.example.com;lr>"], to: "p1.example.com"),
        Hop(
            "§16.12.1.2: P1, the last", at: "p1.example.com",
            [caller, "Route: <sip:p1.example.com;lr>"], [caller], to: "u1.example.com"),
    ]

    @Test(arguments: hops)
    func `each proxy of the examples forwards what the RFC shows`(hop: Hop) throws {
        let socket = LocalSocket(
            position: 0, address: PeerAddress(ipv4: 0xc000_020a, port: 5060), advertisedHost: hop.proxy)
        let message = try WireMessage.message(hop.received)
        var splices = Splices()
        let routes = RouteSet(
            of: message, sockets: [socket], secret: Secret(key0: 1, key1: 2), into: &splices
        ) { _ in true }
        #expect(splices.applied(to: message.bytes) == WireMessage.bytes(hop.forwarded))
        #expect(routes.nextHop.map { text($0.host) } == hop.nextHop)
        #expect(routes.cookie == nil)
    }

    /// Route sets that §16.4 and §16.6 step 6 describe in words.
    static let rules: [Hop] = [
        Hop(
            "§16.4: values above ours stay, ours behind them is another proxy's to remove", at: "p2.example.com",
            [caller, "Route: <sip:p3.middle.com;lr>, <sip:p2.example.com;lr>"],
            [caller, "Route: <sip:p3.middle.com;lr>, <sip:p2.example.com;lr>"], to: "p3.middle.com"),
        Hop(
            "§19.1.1: lr with a value is lr", at: "p2.example.com",
            [caller, "Route: <sip:p2.example.com;lr>, <sip:p1.example.com;lr=true>"],
            [caller, "Route: <sip:p1.example.com;lr=true>"], to: "p1.example.com"),
        Hop(
            "§19.1.4: parameter names have no case", at: "p2.example.com",
            [caller, "Route: <sip:p2.example.com;LR>, <sip:p1.example.com;Lr>"],
            [caller, "Route: <sip:p1.example.com;Lr>"], to: "p1.example.com"),
        Hop(
            "§20.34: a Route value keeps its header parameters", at: "p2.example.com",
            [caller, "Route: <sip:p2.example.com;lr>;x=1, <sip:p1.example.com;lr>;y=2"],
            [caller, "Route: <sip:p1.example.com;lr>;y=2"], to: "p1.example.com"),
        Hop(
            "§7.3.1: a folded Route is one field", at: "p2.example.com",
            [caller, "Route: <sip:p2.example.com;lr>,\r\n <sip:p1.example.com;lr>"],
            [caller, "Route: <sip:p1.example.com;lr>"], to: "p1.example.com"),
        Hop(
            "§7.3.1: fields between the Route lines stay where they are", at: "p2.example.com",
            [caller, "Route: <sip:p2.example.com;lr>", "Subject: a", "Route: <sip:p1.example.com;lr>", "Supported: b"],
            [caller, "Subject: a", "Route: <sip:p1.example.com;lr>", "Supported: b"], to: "p1.example.com"),
        Hop(
            "§16.6 step 6: a strict router's URI becomes the Request-URI with its user and parameters",
            at: "p2.example.com",
            [caller, "Route: <sip:p2.example.com;lr>, <sip:x@p3.middle.com:5070;transport=tcp>", "Subject: a"],
            [
                "BYE sip:x@p3.middle.com:5070;transport=tcp SIP/2.0", "Route: <sip:caller@u1.example.com>",
                "Subject: a",
            ], to: "p3.middle.com"),
        Hop(
            "§16.4: our Request-URI without lr is no strict router's", at: "p2.example.com",
            ["BYE sip:p2.example.com SIP/2.0", "Route: <sip:p1.example.com;lr>"],
            ["BYE sip:p2.example.com SIP/2.0", "Route: <sip:p1.example.com;lr>"], to: "p1.example.com"),
    ]

    @Test(arguments: rules)
    func `routes are read as the RFC's rules say`(rule: Hop) throws {
        try `each proxy of the examples forwards what the RFC shows`(hop: rule)
    }
}
