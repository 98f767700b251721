// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// A request that one target did not take goes to the next: it differs from the first in nothing but what names the hop.
@Suite("The next attempt at a request, RFC 3261 §16.6 step 8 and §16.7 step 4, RFC 5658 §3")
struct ReaddressingTests {
    static let secret = Secret(key0: 1, key1: 2)
    /// 192.0.2.10:5060, 192.0.2.11:5060 and 192.0.2.12:5060 by TCP.
    static let sockets = [
        LocalSocket(position: 0, address: PeerAddress(ipv4: 0xc000_020a, port: 5060)),
        LocalSocket(position: 1, address: PeerAddress(ipv4: 0xc000_020b, port: 5060)),
        LocalSocket(position: 2, address: PeerAddress(ipv4: 0xc000_020c, port: 5060), transport: .tcp),
    ]
    static let uris = [
        "sip:192.0.2.10:5060;lr", "sip:192.0.2.11:5060;lr", "sip:192.0.2.12:5060;transport=tcp;lr",
    ]
    static let origin = DialogEnd(address: PeerAddress(ipv4: 0xc633_6407, port: 5060), transport: .udp)
    static let first = DialogEnd(address: PeerAddress(ipv4: 0xc000_0214, port: 5060), transport: .udp)

    /// A received request, and as it was forwarded by one socket after it came in by another.
    struct Forwarded {
        let received: SIPMessage
        let message: SIPMessage
        let branch: Branch

        init(
            from source: Int, by socket: Int, _ changes: [(name: String, line: String?)] = [],
            payload: RouteCookie.Payload = .init(mark: 7, value: 9)
        ) throws {
            received = try WireMessage.message(WireMessage.invite(changes), body: "body")
            let top = try #require(received.headers.first)
            branch = Branch(of: received, via: try #require(received.topVia).value, sender: 1, secret: secret)
            var splices = Splices()
            RequestForwarding.addVia(
                sockets[socket], HopMarks(branch: branch, of: received, secret: secret), before: top, into: &splices)
            let cookie = SealedRouteCookie(
                RouteCookie(payload: payload, target: first, origin: origin), of: received, secret: secret)
            for position in socket == source ? [socket] : [socket, source] {
                let entry = RecordRoute(socket: sockets[position], cookie: cookie, of: received)
                RequestForwarding.addRecordRoute(entry, before: top, into: &splices)
            }
            message = try SIPMessage.index(splices.applied(to: received.bytes))
        }

        func readdressed(attempt: UInt8 = 1, from source: Int, by old: Int, to socket: Int) throws -> SIPMessage {
            let target = DialogEnd(
                address: PeerAddress(ipv4: 0xc000_0215, port: 5060), transport: sockets[socket].transport)
            let change = TargetChange(
                old: sockets[old], sourceSocket: sockets[source], socket: sockets[socket], target: target,
                secret: secret)
            let bytes = RequestForwarding.readdressed(message, branch: branch, attempt: attempt, change)
            return try SIPMessage.index(try #require(bytes))
        }
    }

    /// The URIs of the Record-Route fields without their cookies, top down.
    private static func recordRoutes(_ message: SIPMessage) -> [String] {
        message.headers.filter { $0.name == .recordRoute }.map { field in
            let uri = message.text(NameAddressExtent.scan(message.bytes, field.value).uri)
            return uri.split(separator: ";hd=").first.map(String.init) ?? ""
        }
    }

    @Test(arguments: [
        // RFC 3261 §16.6 step 4: one side, one entry.
        (source: 0, old: 0, new: 0, routes: [0]),
        // RFC 5658 §3: two sides, two entries, the outgoing side on top.
        (0, 0, 1, [1, 0]), (0, 0, 2, [2, 0]), (0, 1, 1, [1, 0]), (0, 1, 2, [2, 0]), (2, 1, 0, [0, 2]),
    ])
    func `Record-Route names the sides of the dialog as it is now`(source: Int, old: Int, new: Int, routes: [Int])
        throws
    {
        let sent = try Forwarded(from: source, by: old)
        let next = try sent.readdressed(from: source, by: old, to: new)
        #expect(Self.recordRoutes(next) == routes.map { Self.uris[$0] })
    }

    @Test(arguments: [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 2)])
    func `each entry's cookie names the new target and keeps all else, §16.6 step 4`(
        source: Int, old: Int, new: Int
    ) throws {
        let next = try Forwarded(from: source, by: old).readdressed(from: source, by: old, to: new)
        let fields = next.headers.filter { $0.name == .recordRoute }
        for field in fields {
            // RFC 3261 §12.1.1: the called side returns the entry as it came, in the Route of a later request.
            let bye = try WireMessage.message(
                WireMessage.invite([
                    ("INVITE", "BYE sip:a@b SIP/2.0"), ("Max-Forwards", "Route: \(next.text(field.value))"),
                    ("To", "To: <sip:+4930987654@192.0.2.10>;tag=callee"),
                ]))
            var splices = Splices()
            let cookie = RouteSet(of: bye, sockets: Self.sockets, secret: Self.secret, into: &splices) { _ in true }
                .cookie
            let read = try #require(cookie)
            #expect(read.payload == RouteCookie.Payload(mark: 7, value: 9))
            #expect(read.origin == Self.origin)
            #expect(read.target.address == PeerAddress(ipv4: 0xc000_0215, port: 5060))
            #expect(read.target.transport == Self.sockets[new].transport)
        }
    }

    @Test(arguments: 1...15 as ClosedRange<UInt8>)
    func `each attempt has a branch of its own, §16.6 step 8, and one transaction`(attempt: UInt8) throws {
        let sent = try Forwarded(from: 0, by: 0)
        let next = try sent.readdressed(attempt: attempt, from: 0, by: 0, to: 1)
        let via = try #require(next.topVia).value
        let branch = try #require(via.branch)
        #expect(next[branch] != sent.message[try #require(sent.message.topVia?.value.branch)])
        #expect(Branch(next[branch]) == sent.branch)
        #expect(Branch.attempt(next[branch]) == attempt)
        #expect(next.text(via.host) == "192.0.2.11" && via.port == 5060)
        #expect(via.rport?.isEmpty == true, "RFC 3581 §3: the proxy asks for rport as a client")
    }

    @Test func `an attempt after an attempt names the last target alone`() throws {
        let sent = try Forwarded(from: 0, by: 0)
        let second = try sent.readdressed(from: 0, by: 0, to: 1)
        let target = DialogEnd(address: PeerAddress(ipv4: 0xc000_0216, port: 5060), transport: .tcp)
        let change = TargetChange(
            old: Self.sockets[1], sourceSocket: Self.sockets[0], socket: Self.sockets[2], target: target,
            secret: Self.secret)
        let bytes = try #require(
            RequestForwarding.readdressed(second, branch: sent.branch, attempt: 2, change))
        let third = try SIPMessage.index(bytes)
        #expect(Self.recordRoutes(third) == [Self.uris[2], Self.uris[0]])
        #expect(third.headers.count { $0.name == .via } == 2, "the gateway's and the caller's")
    }

    @Test func `everything but Via and Record-Route stays as it was, §16.6 step 1`() throws {
        let sent = try Forwarded(
            from: 0, by: 0, [("Content-Length", "Content-Length: 4"), ("Subject", "subject :  a\r\n b")])
        let next = try sent.readdressed(from: 0, by: 0, to: 1)
        func kept(_ message: SIPMessage) -> [String] {
            message.headers.dropFirst().filter { $0.name != .recordRoute }.map { message.text($0.start..<$0.end) }
        }
        #expect(kept(next) == kept(sent.message))
        #expect(next.text(next.requestURI) == sent.message.text(sent.message.requestURI))
        #expect(
            next[next.bodyStart..<next.bytes.count]
                == sent.received[sent.received.bodyStart..<sent.received.bytes.count])
        // RFC 5393 §4.2: the mark that ends loops is a value of the request and not of the attempt.
        let marks = [sent.message, next].map { message in
            message.text(message.headers[0].value).split(separator: ";").first { $0.hasPrefix("hl=") }
        }
        #expect(marks[0] != nil && marks[0] == marks[1])
    }

    @Test(arguments: [
        // A Record-Route that another proxy wrote, RFC 3261 §16.6 step 4, and one that was made up for ours.
        "<sip:proxy.example;lr>", "<sip:192.0.2.10:5060;lr>", "<sip:192.0.2.10:5060;lr;hd=0>",
    ])
    func `an entry without the gateway's seal stays as it is`(route: String) throws {
        let received = try WireMessage.message(WireMessage.invite([("Record-Route", "Record-Route: \(route)")]))
        let branch = Branch(of: received, via: try #require(received.topVia).value, sender: 1, secret: Self.secret)
        var splices = Splices()
        RequestForwarding.addVia(
            Self.sockets[0], HopMarks(branch: branch, of: received, secret: Self.secret),
            before: received.headers[0], into: &splices)
        let sent = try SIPMessage.index(splices.applied(to: received.bytes))
        let change = TargetChange(
            old: Self.sockets[0], sourceSocket: Self.sockets[0], socket: Self.sockets[1], target: Self.first,
            secret: Self.secret)
        let next = try SIPMessage.index(
            try #require(RequestForwarding.readdressed(sent, branch: branch, attempt: 1, change)))
        #expect(next.headers.filter { $0.name == .recordRoute }.map { next.text($0.value) } == [route])
    }

    @Test func `a request whose topmost Via is not the gateway's has no next attempt`() throws {
        let sent = try Forwarded(from: 0, by: 0)
        let change = TargetChange(
            old: Self.sockets[0], sourceSocket: Self.sockets[0], socket: Self.sockets[1], target: Self.first,
            secret: Self.secret)
        #expect(RequestForwarding.readdressed(sent.received, branch: sent.branch, attempt: 1, change) == nil)
        #expect(RequestForwarding.readdressed(sent.message, branch: Branch(token: 1), attempt: 1, change) == nil)
    }

    @Test(arguments: [
        // RFC 3327 §5.2: the proxy's Path is the way back to this registration; another proxy's is its own.
        ("REGISTER", "<sip:192.0.2.10:5060;lr>", "<sip:192.0.2.11:5060;lr>"),
        ("REGISTER", "<sip:p1.example.com;lr>", "<sip:p1.example.com;lr>"),
        ("OPTIONS", "<sip:192.0.2.10:5060;lr>", "<sip:192.0.2.10:5060;lr>"),
    ])
    func `Path of a REGISTER names the socket of the attempt`(method: String, path: String, moved: String) throws {
        let sent = try Forwarded(
            from: 0, by: 0,
            [
                ("INVITE", "\(method) sip:registrar.example SIP/2.0"), ("CSeq", "CSeq: 1 \(method)"),
                ("Path", "Path: \(path)"),
            ])
        let next = try sent.readdressed(from: 0, by: 0, to: 1)
        let field = try #require(next.headers.first { next.text($0.start..<$0.nameEnd) == "Path" })
        #expect(next.text(field.value) == moved)
    }
}
