// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Request forwarding, RFC 3261 §16.6 and §18.2.1, RFC 3581 §4")
struct RequestForwardingTests {
    static let source = PeerAddress(ipv4: 0xc633_6407, port: 40_000)  // 198.51.100.7:40000
    static let source6 = PeerAddress(ipv6High: 0x2001_0db8_0000_0000, low: 7, port: 40_000)
    static let socket = LocalSocket(position: 0, address: PeerAddress(ipv4: 0xc000_020a, port: 5060))
    static let secret = Secret(key0: 1, key1: 2)

    @Test(arguments: [
        // RFC 3261 §18.2.1: received when the host is a name or another address.
        ("SIP/2.0/UDP 198.51.100.7", "SIP/2.0/UDP 198.51.100.7"),
        ("SIP/2.0/UDP pbx.example;branch=a", "SIP/2.0/UDP pbx.example;branch=a;received=198.51.100.7"),
        ("SIP/2.0/UDP 10.0.0.1:5062;branch=a", "SIP/2.0/UDP 10.0.0.1:5062;branch=a;received=198.51.100.7"),
        // RFC 3581 §4: rport is filled in, and received is there even when it is the same.
        ("SIP/2.0/UDP 198.51.100.7;rport", "SIP/2.0/UDP 198.51.100.7;rport=40000;received=198.51.100.7"),
        ("SIP/2.0/UDP [198.51.100.7];rport", "SIP/2.0/UDP [198.51.100.7];rport=40000;received=198.51.100.7"),
        ("SIP/2.0/UDP 10.0.0.1;rport;branch=a", "SIP/2.0/UDP 10.0.0.1;rport=40000;branch=a;received=198.51.100.7"),
        ("SIP/2.0/UDP 10.0.0.1;rport=;a", "SIP/2.0/UDP 10.0.0.1;rport=40000;a;received=198.51.100.7"),
        // An rport or a received that the sender wrote itself says nothing.
        ("SIP/2.0/UDP 10.0.0.1;rport=5060", "SIP/2.0/UDP 10.0.0.1;rport=40000;received=198.51.100.7"),
        ("SIP/2.0/UDP 10.0.0.1;received=10.9.9.9;rport", "SIP/2.0/UDP 10.0.0.1;received=198.51.100.7;rport=40000"),
        ("SIP/2.0/UDP 10.0.0.1;received", "SIP/2.0/UDP 10.0.0.1;received=198.51.100.7"),
        ("SIP/2.0/UDP 10.0.0.1;received=;a", "SIP/2.0/UDP 10.0.0.1;received=198.51.100.7;a"),
        // The next value on the line stays as it is.
        (
            "SIP/2.0/UDP a;rport , SIP/2.0/UDP b;rport",
            "SIP/2.0/UDP a;rport=40000;received=198.51.100.7 , SIP/2.0/UDP b;rport"
        ),
    ])
    func `the source is added to the topmost Via`(via: String, noted: String) throws {
        let lines = WireMessage.invite([("Via", "Via: \(via)")])
        let message = try WireMessage.message(lines)
        var splices = Splices()
        RequestForwarding.markSource(
            Self.source, in: message, via: try #require(message.topVia).value, into: &splices)
        let expected = WireMessage.invite([("Via", "Via: \(noted)")])
        #expect(splices.applied(to: message.bytes) == WireMessage.bytes(expected))
    }

    @Test(arguments: [
        ("SIP/2.0/UDP [2001:db8::7]", "SIP/2.0/UDP [2001:db8::7]"),
        ("SIP/2.0/UDP [2001:DB8:0::7]:5060;rport", "SIP/2.0/UDP [2001:DB8:0::7]:5060;rport=40000;received=2001:db8::7"),
        ("SIP/2.0/UDP [2001:db8::8]", "SIP/2.0/UDP [2001:db8::8];received=2001:db8::7"),
    ])
    func `an IPv6 source is added without brackets`(via: String, noted: String) throws {
        let message = try WireMessage.message(WireMessage.invite([("Via", "Via: \(via)")]))
        var splices = Splices()
        RequestForwarding.markSource(
            Self.source6, in: message, via: try #require(message.topVia).value, into: &splices)
        #expect(message.text(with: splices).contains("\r\nVia: \(noted)\r\n"))
    }

    @Test(arguments: [
        ("Max-Forwards: 70", "Max-Forwards: 69"), ("max-forwards : 0068", "max-forwards : 67"),
        ("Max-Forwards: 1", "Max-Forwards: 0"), ("Max-Forwards: 0", "Max-Forwards: 0"),
    ])
    func `a hop is counted`(line: String, counted: String) throws {
        let message = try WireMessage.message(WireMessage.invite([("Max-Forwards", line)]))
        var splices = Splices()
        RequestForwarding.countHop(message, into: &splices)
        let expected = WireMessage.invite([("Max-Forwards", counted)])
        #expect(splices.applied(to: message.bytes) == WireMessage.bytes(expected))
    }

    @Test func `a missing Max-Forwards is added with 70`() throws {
        let message = try WireMessage.message(WireMessage.invite([("Max-Forwards", nil)]))
        var splices = Splices()
        RequestForwarding.countHop(message, into: &splices)
        #expect(message.text(with: splices).contains("\r\nMax-Forwards: 70\r\nVia: "))
    }

    @Test func `Via and Record-Route are above the present ones`() throws {
        // §16.6 steps 4 and 8; some senders write Record-Route before Via.
        let lines = WireMessage.invite([("INVITE", nil)])
        let message = try WireMessage.message(
            ["INVITE sip:a@b SIP/2.0", "Record-Route: <sip:198.51.100.7;lr>"] + lines)
        let top = message.headers[0]
        let branch = Branch(of: message, via: try #require(message.topVia).value, sender: 1, secret: Self.secret)
        let end = DialogEnd(address: Self.source, transport: .udp)
        let cookie = SealedRouteCookie(
            RouteCookie(payload: .init(mark: 7), target: end, origin: end), of: message, secret: Self.secret)
        let entry = RecordRoute(socket: Self.socket, cookie: cookie, of: message)
        var splices = Splices()
        let marks = HopMarks(branch: branch, of: message, secret: Self.secret)
        RequestForwarding.addVia(Self.socket, marks, before: top, into: &splices)
        RequestForwarding.addRecordRoute(entry, before: top, into: &splices)
        let forwarded = try SIPMessage.index(splices.applied(to: message.bytes))
        #expect(forwarded.headers.prefix(4).map(\.name) == [.via, .recordRoute, .recordRoute, .via])
        let via = try #require(forwarded.topVia).value
        #expect(forwarded.text(via.host) == "192.0.2.10")
        #expect(via.port == 5060)
        #expect(via.branch.flatMap { Branch(forwarded[$0]) } == branch)
        #expect(via.rport?.isEmpty == true)
        let route = forwarded.text(forwarded.headers[1].value)
        #expect(route.hasPrefix("<sip:192.0.2.10:5060;lr;hd=0c63364079c400c63364079c4000000007"))
        #expect(splices.growth == forwarded.bytes.count - message.bytes.count)
    }

    // RFC 3261 §16.6 step 4: a sips Request-URI gets a sips Record-Route. A hop without TLS has none (RFC 5658 §3.3).
    @Test(arguments: [
        ("sips:a@b", SIPTransportKind.tls, "sips:192.0.2.10:5061;lr;hd="),
        ("SIPS:a@b", .tls, "sips:192.0.2.10:5061;lr;hd="),
        ("sip:a@b", .tls, "sip:192.0.2.10:5061;transport=tls;lr;hd="),
        ("sips:a@b", .tcp, "sip:192.0.2.10:5061;transport=tcp;lr;hd="),
        ("sips:a@b", .udp, "sip:192.0.2.10:5061;lr;hd="),
    ])
    func `Record-Route has the scheme of the Request-URI`(uri: String, transport: SIPTransportKind, start: String)
        throws
    {
        let message = try WireMessage.message(WireMessage.invite([("INVITE", "INVITE \(uri) SIP/2.0")]))
        let socket = LocalSocket(
            position: 0, address: PeerAddress(ipv4: 0xc000_020a, port: 5061), transport: transport)
        let end = DialogEnd(address: Self.source, transport: transport)
        let cookie = SealedRouteCookie(
            RouteCookie(payload: .init(mark: 7), target: end, origin: end), of: message, secret: Self.secret)
        var splices = Splices()
        RequestForwarding.addRecordRoute(
            RecordRoute(socket: socket, cookie: cookie, of: message), before: message.headers[0], into: &splices)
        let forwarded = try SIPMessage.index(splices.applied(to: message.bytes))
        #expect(forwarded.text(forwarded.headers[0].value).hasPrefix("<" + start))
        let returned = try WireMessage.message(
            WireMessage.invite([
                ("To", "To: <sip:b@b>;tag=1"), ("Route", "Route: \(forwarded.text(forwarded.headers[0].value))"),
            ]))
        var unused = Splices()
        let routes = RouteSet(of: returned, sockets: [socket], secret: Self.secret, into: &unused) { _ in true }
        #expect(routes.cookie != nil && !routes.isRouted, "the entry is known again")
    }
}
