// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

/// Route sets of loose and strict routers against a model that works on lists of texts.
@Suite("Route sets against a model, RFC 3261 §16.4 and §16.6 step 6")
struct RouteModelTests {
    /// A request as the RFC's text sees it: a Request-URI and a list of Route values.
    struct Request: Equatable {
        var uri: String
        var routes: [String]

        /// §16.4: undo a strict router's work, then take off the own entries; §16.6 step 6: do a strict router's work.
        mutating func process() -> (nextHop: String, isRouted: Bool) {
            if Request.own.contains("<\(uri)>"), let last = routes.popLast() { uri = Request.bare(last) }
            while let first = routes.first, Request.own.contains(first) { routes.removeFirst() }
            guard let first = routes.first else { return (Request.host(uri), false) }
            if !first.contains(";lr") {
                routes = Array(routes.dropFirst()) + ["<\(uri)>"]
                uri = Request.bare(first)
            }
            return (Request.host(Request.bare(first)), true)
        }

        static let own = ["<sip:192.0.2.10;lr>", "<sip:gw.example:5070;lr>", "<sip:192.0.2.11:5070;lr>"]
        static let others = [
            "<sip:c1.example;lr>", "<sip:u,v@c2.example:5070;transport=tcp;lr>", "<sips:c3.example;lr>",
            "<sip:s1.example>", "<sip:user@s2.example:5080;x=1>",
        ]

        private static func bare(_ value: String) -> String { String(value.dropFirst().dropLast()) }

        private static func host(_ uri: String) -> String {
            let rest = uri.split(separator: ":", maxSplits: 1)[1]
            let address = rest.split(separator: "@").last ?? rest
            return String(address.prefix { $0 != ":" && $0 != ";" })
        }
    }

    /// The lines of Route values, cut into fields and parted in every way that §7.3.1 allows.
    private static func lines(_ routes: [String], _ random: inout RepeatableRandom) -> [String] {
        var lines: [String] = []
        for route in routes {
            if lines.isEmpty || lines.last == "Subject: between" || random.next() % 2 == 0 {
                lines.append(["Route: ", "route:", "ROUTE :\t"][Int(random.next() % 3)] + route)
            } else {
                lines[lines.count - 1] += [",", ", ", " ,\r\n "][Int(random.next() % 3)] + route
            }
            if random.next() % 4 == 0 { lines.append("Subject: between") }
        }
        return lines
    }

    private static func routes(of message: SIPMessage) -> [String] {
        message.headers.filter { $0.name == .route }.flatMap { field in
            HeaderValues(message.bytes, field.value).map { message.text($0) }
        }
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `a request is routed as the model routes it`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        var request = Request(uri: "sip:pbx.example", routes: [])
        if random.next() % 3 == 0 { request.uri = "sip:192.0.2.10;lr" }
        for _ in 0..<(random.next() % 6) {
            let pool = random.next() % 2 == 0 ? Request.own : Request.others
            request.routes.append(pool[Int(random.next() % UInt64(pool.count))])
        }
        let lines = Self.lines(request.routes, &random)
        let message = try WireMessage.message(
            ["BYE \(request.uri) SIP/2.0", "To: a"] + lines + ["Call-ID: b"], body: "body")
        var splices = Splices()
        let found = RouteSet(
            of: message, sockets: RouteSetTests.sockets, secret: Secret(key0: 1, key1: 2), into: &splices
        ) { _ in true }
        let expected = request.process()
        let forwarded = try SIPMessage.index(splices.applied(to: message.bytes))
        #expect(forwarded.text(forwarded.requestURI) == request.uri)
        #expect(Self.routes(of: forwarded) == request.routes)
        #expect(found.nextHop.map { text($0.host) } == expected.nextHop)
        #expect(found.isRouted == expected.isRouted)
        // Everything else is as it came, in its order.
        func rest(_ message: SIPMessage) -> [String] {
            message.headers.filter { $0.name != .route }.map { message.text($0.start..<$0.end) }
        }
        #expect(rest(forwarded) == rest(message))
        #expect(text(forwarded[forwarded.bodyStart..<forwarded.bytes.count]) == "body")
    }

    /// One rule of a route set: the lines that arrive and the lines that leave.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lines: [String]
        let result: [String]
        let nextHop: String?

        init(_ rule: String, _ lines: [String], _ result: [String], to nextHop: String?) {
            testDescription = rule
            self.lines = lines
            self.result = result
            self.nextHop = nextHop
        }
    }

    private static let bye = "BYE sip:pbx.example SIP/2.0"

    static let rows: [Row] = [
        Row(
            "§16.4: a Request-URI with a user was never an entry of ours, so it is no strict router's",
            ["INVITE sip:+4930987654@192.0.2.10;lr SIP/2.0", "Route: <sip:c1.example;lr>", "To: a"],
            ["INVITE sip:+4930987654@192.0.2.10;lr SIP/2.0", "Route: <sip:c1.example;lr>", "To: a"], to: "c1.example"),
        Row(
            "§19.1.1: a Request-URI has no header fields, so a strict router's URI loses them",
            [bye, "Route: <sip:x@s1.example;y=1?Subject=a&Priority=urgent>", "To: a"],
            ["BYE sip:x@s1.example;y=1 SIP/2.0", "Route: <sip:pbx.example>", "To: a"], to: "s1.example"),
        Row(
            "§19.1.1: so does the URI that a strict router put last",
            ["BYE sip:192.0.2.10;lr SIP/2.0", "Route: <sip:u@pbx.example?Subject=a>", "To: a"],
            ["BYE sip:u@pbx.example SIP/2.0", "To: a"], to: "pbx.example"),
        Row(
            "§25.1: a question mark in a user begins no header fields",
            [bye, "Route: <sip:a?b@s1.example>", "To: a"],
            ["BYE sip:a?b@s1.example SIP/2.0", "Route: <sip:pbx.example>", "To: a"], to: "s1.example"),
        Row(
            "§20.34: lr behind the bracket is a parameter of the field, and the router is strict",
            [bye, "Route: <sip:s1.example>;lr", "To: a"],
            ["BYE sip:s1.example SIP/2.0", "Route: <sip:pbx.example>", "To: a"], to: "s1.example"),
        Row(
            "§7.3.1: a comma inside the brackets parts no values",
            [bye, "Route: <sip:192.0.2.10;lr>, <sip:a,b@c1.example;lr>, <sip:d.example;lr>"],
            [bye, "Route: <sip:a,b@c1.example;lr>, <sip:d.example;lr>"], to: "c1.example"),
        Row(
            "§25.1: nor does one in a display name, nor does its bracket begin the URI",
            [bye, "Route: \"a, \\\" <sip:no>\" <sip:192.0.2.10;lr>, \"b>,\" <sip:c1.example;lr>"],
            [bye, "Route: \"b>,\" <sip:c1.example;lr>"], to: "c1.example"),
        Row(
            "RFC 3966: a number gives way to a strict router like any URI",
            ["BYE tel:+4930987654 SIP/2.0", "Route: <sip:s1.example>", "To: a"],
            ["BYE sip:s1.example SIP/2.0", "Route: <tel:+4930987654>", "To: a"], to: "s1.example"),
        Row(
            "§16.4: and comes back behind one",
            ["BYE sip:192.0.2.10;lr SIP/2.0", "Route: <sip:c1.example;lr>, <tel:+4930987654;phone-context=+49>"],
            ["BYE tel:+4930987654;phone-context=+49 SIP/2.0", "Route: <sip:c1.example;lr>"], to: "c1.example"),
        Row(
            "§16.4: our entry in the Request-URI with its parameters and our advertised name",
            ["BYE sip:GW.example:5070;transport=udp;lr SIP/2.0", "Route: <sip:pbx.example>", "To: a"],
            [bye, "To: a"], to: "pbx.example"),
        Row(
            "§16.4: a last Route that nobody can read does not become the Request-URI",
            ["BYE sip:192.0.2.10;lr SIP/2.0", "Route: <sip:c1.example;lr>, <http://pbx.example>"],
            ["BYE sip:192.0.2.10;lr SIP/2.0", "Route: <sip:c1.example;lr>, <http://pbx.example>"], to: "c1.example"),
        Row(
            "RFC 5118 §4: IPv6 literals of other routers",
            [bye, "Route: <sip:192.0.2.10;lr>, <sip:[2001:db8::9]:5070;lr>", "To: a"],
            [bye, "Route: <sip:[2001:db8::9]:5070;lr>", "To: a"], to: "2001:db8::9"),
        Row(
            "§16.12: a spiral leaves our later entry to our next pass",
            [bye, "Route: <sip:192.0.2.10;lr>, <sip:c1.example;lr>, <sip:192.0.2.10;lr>"],
            [bye, "Route: <sip:c1.example;lr>, <sip:192.0.2.10;lr>"], to: "c1.example"),
    ]

    @Test(arguments: rows)
    func `a rare route set is read as the RFC says`(row: Row) throws {
        let message = try WireMessage.message(row.lines)
        var splices = Splices()
        let routes = RouteSet(
            of: message, sockets: RouteSetTests.sockets, secret: Secret(key0: 1, key1: 2), into: &splices
        ) { _ in true }
        #expect(text(splices.applied(to: message.bytes)) == text(WireMessage.bytes(row.result)))
        #expect(routes.nextHop.map { text($0.host) } == row.nextHop)
    }
}
