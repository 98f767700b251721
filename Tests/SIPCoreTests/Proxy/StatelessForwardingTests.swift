// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// What a proxy does for a message without keeping any state of it, and what only the message itself can tell it then.
@Suite("Stateless forwarding, RFC 3261 §16.11, §16.7 step 3 and §18.2.2")
struct StatelessForwardingTests {
    static let socket = LocalSocket(position: 0, address: PeerAddress(ipv4: 0xc000_020a, port: 5060))
    static let secret = Secret(key0: 1, key1: 2)

    private static func branch(_ message: SIPMessage, sender: UInt64 = 1) throws -> Branch {
        Branch(of: message, via: try #require(message.topVia).value, sender: sender, secret: secret)
    }

    /// The request as it goes on: the gateway's Via, received and rport, Max-Forwards.
    private static func forwarded(_ message: SIPMessage) throws -> [UInt8] {
        let marks = HopMarks(branch: try branch(message), of: message, secret: secret)
        var splices = Splices()
        RequestForwarding.addVia(socket, marks, before: message.headers[0], into: &splices)
        RequestForwarding.markSource(
            PeerAddress(ipv4: 0xc633_6407, port: 5060), in: message, via: try #require(message.topVia).value,
            into: &splices)
        RequestForwarding.countHop(message, into: &splices)
        return splices.applied(to: message.bytes)
    }

    @Test(arguments: ["ACK", "CANCEL", "INVITE", "BYE", "OPTIONS"])
    func `§16.11: a retransmission leaves as the request left, byte for byte`(method: String) throws {
        let lines = WireMessage.invite([
            ("INVITE", "\(method) sip:a@b SIP/2.0"), ("CSeq", "CSeq: 314159 \(method)"),
        ])
        let bytes = try Self.forwarded(try WireMessage.message(lines))
        #expect(try Self.forwarded(try WireMessage.message(lines)) == bytes)
    }

    @Test(
        arguments: [
            (
                "§8.1.1.7: another transaction has another branch parameter",
                [("Via", "Via: SIP/2.0/UDP a;branch=z9hG4bKb")]
            ),
            ("§16.11: without the cookie another Via", [("Via", "Via: SIP/2.0/UDP a;branch=1")]),
            ("§16.11: another Call-ID", [("Call-ID", "Call-ID: other@198.51.100.7")]),
            ("§16.11: another CSeq number", [("CSeq", "CSeq: 314160 INVITE")]),
        ] as [(String, [(name: String, line: String?)])])
    func `another request leaves with another branch`(rule: String, changes: [(name: String, line: String?)]) throws {
        let one = try Self.branch(try WireMessage.message(WireMessage.invite))
        #expect(try Self.branch(try WireMessage.message(WireMessage.invite(changes))) != one, "\(rule)")
    }

    @Test(arguments: ["ACK", "CANCEL"])
    func `§9.1, §17.1.1.3: a forgotten INVITE's ACK and CANCEL leave with its branch`(method: String) throws {
        let invite = try Self.branch(try WireMessage.message(WireMessage.invite))
        let lines = WireMessage.invite([
            ("INVITE", "\(method) sip:a@b SIP/2.0"), ("CSeq", "CSeq: 314159 \(method)"),
            ("To", "To: <sip:+4930987654@192.0.2.10>;tag=314"),
        ])
        #expect(try Self.branch(try WireMessage.message(lines)) == invite)
    }

    @Test(arguments: [
        // §16.7 step 3, §18.1.2: the response is for the proxy only if its own Via is on top.
        ("SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd0123456789abcdef", true),
        ("SIP/2.0/UDP 192.0.2.10;branch=z9hG4bKhd0123456789abcdef;rport=5060;received=192.0.2.10", true),
        ("SIP/2.0/UDP 192.0.2.10:5060;branch=Z9HG4BKHD0123456789ABCDEF", true),
        ("SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd0123456789abcdef2", true),
        ("SIP/2.0/UDP 192.0.2.10:5070;branch=z9hG4bKhd0123456789abcdef", false),
        ("SIP/2.0/UDP 192.0.2.11:5060;branch=z9hG4bKhd0123456789abcdef", false),
        ("SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK0123456789abcdef", false),
        ("SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd0123456789abcde", false),
        ("SIP/2.0/UDP 192.0.2.10:5060", false),
    ])
    func `a Via is the gateway's by sent-by and branch`(via: String, isOwn: Bool) throws {
        let message = try WireMessage.message(["SIP/2.0 200 OK", "Via: \(via)", "Via: SIP/2.0/UDP 198.51.100.7"])
        let top = try #require(message.topVia).value
        #expect(top.isOwn(in: message, sockets: [Self.socket]) == isOwn)
    }

    @Test(
        arguments: [
            // §16.7 step 3: the Via below the proxy's own says where the response goes, on whatever line it is.
            (["SIP/2.0/UDP a", "SIP/2.0/UDP 198.51.100.7:5062"], "198.51.100.7:5062"),
            (["SIP/2.0/UDP a, SIP/2.0/UDP 198.51.100.7"], "198.51.100.7:5060"),
            (["SIP/2.0/UDP a", "SIP/2.0/UDP 198.51.100.7:1, SIP/2.0/UDP 198.51.100.8:2"], "198.51.100.7:1"),
            // §18.2.2: received before sent-by; RFC 3581 §4: and rport before its port.
            (["SIP/2.0/UDP a", "SIP/2.0/UDP 10.0.0.1:5062;received=198.51.100.7"], "198.51.100.7:5062"),
            (["SIP/2.0/UDP a", "SIP/2.0/UDP 10.0.0.1;received=198.51.100.7;rport=40000"], "198.51.100.7:40000"),
            // §18.2.2: by a stream the port is that of sent-by, 5061 for TLS.
            (["SIP/2.0/UDP a", "SIP/2.0/TCP 10.0.0.1;received=198.51.100.7;rport=40000"], "198.51.100.7:5060"),
            (["SIP/2.0/UDP a", "SIP/2.0/TLS 198.51.100.7"], "198.51.100.7:5061"),
            // §18.1.1: maddr and ttl are multicast's, and a name cannot be resolved on the call path.
            (["SIP/2.0/UDP a", "SIP/2.0/UDP b.example"], nil),
            (["SIP/2.0/UDP a"], nil), (["SIP/2.0/UDP a", "b"], nil), (["SIP/2.0/UDP a", ""], nil),
        ] as [([String], String?)])
    func `the second Via says where a response goes`(vias: [String], destination: String?) throws {
        let message = try WireMessage.message(["SIP/2.0 200 OK"] + vias.map { "Via: \($0)" })
        let second = ViaValue.second(of: message)
        #expect(second.flatMap { ResponseForwarding.destination(of: $0, in: message) }?.description == destination)
    }

    @Test(arguments: [
        ("SIP/2.0/UDP", SIPTransportKind.udp), ("SIP / 2.0 / TCP", .tcp), ("sip/2.0/tls", .tls),
        ("SIP/2.0/SCTP", nil), ("SIP/2.0/WSS", nil),
    ])
    func `§20.42: a Via names its transport, white space and case apart`(
        protocolText: String, kind: SIPTransportKind?
    ) throws {
        let message = try WireMessage.message(["SIP/2.0 200 OK", "Via: \(protocolText) a.example;branch=1"])
        #expect(try #require(message.topVia).value.transport(in: message) == kind)
    }

    @Test(
        arguments: [
            // §8.1.1.6, §16.6 step 3: one less at each hop, and 70 where the sender wrote none.
            ("Max-Forwards: 70" as String?, "Max-Forwards: 69"), ("Max-Forwards: 1", "Max-Forwards: 0"),
            (nil, "Max-Forwards: 70"),
        ])
    func `a hop is counted without memory as well`(field: String?, counted: String) throws {
        let message = try WireMessage.message(WireMessage.invite([("Max-Forwards", field)]))
        #expect(text(try Self.forwarded(message)).contains("\r\n\(counted)\r\n"))
    }

    @Test func `§16.3 step 4, RFC 5393 §4.2: a request that returns as it left is a loop, a changed one a spiral`()
        throws
    {
        let message = try WireMessage.message(WireMessage.invite)
        let returned = try SIPMessage.index(try Self.forwarded(message))
        let mark = HopMarks(branch: try Self.branch(returned), of: returned, secret: Self.secret).loop
        #expect(mark.isPresent(in: returned, sockets: [Self.socket]))
        for (old, new) in [
            ("sip:+4930987654@192.0.2.10 SIP", "sip:+4930987655@192.0.2.10 SIP"),
            ("Max-Forwards", "Route: <sip:p1.example.com;lr>\r\nMax-Forwards"),
        ] {
            let changed = try SIPMessage.index(Array(text(returned.bytes).replacing(old, with: new).utf8))
            let spiral = HopMarks(branch: try Self.branch(changed), of: changed, secret: Self.secret).loop
            #expect(!spiral.isPresent(in: changed, sockets: [Self.socket]))
        }
        let first = HopMarks(branch: try Self.branch(message), of: message, secret: Self.secret).loop
        #expect(!first.isPresent(in: message, sockets: [Self.socket]))
    }

    /// The changes that proxies make on the way of a spiral (RFC 3261 §16.6), and those of a sender who copies a Via or
    /// makes one up.
    @Test(arguments: [
        ("", "", true), ("sip:+4930987654@192.0.2.10 SIP", "sip:+4930987655@192.0.2.10 SIP", true),
        ("\r\nVia: SIP", "\r\nVia: SIP/2.0/UDP p1.example.com;branch=z9hG4bKp\r\nVia: SIP", true),
        ("CSeq: 3", "CSeq: 4", false), ("Call-ID: ", "Call-ID: x", false),
        ("branch=z9hG4bKhd", "branch=z9hG4bKhd0123456789abcdef;x=", false),
        ("\r\nVia: SIP", "\r\nVia: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd0123456789abcdef\r\nVia: SIP", false),
    ])
    func `RFC 5393 §4: an earlier pass is proven by the branch`(old: String, new: String, isProven: Bool) throws {
        let sent = text(try Self.forwarded(try WireMessage.message(WireMessage.invite)))
        let changed = old.isEmpty ? sent : sent.replacing(old, with: new, maxReplacements: 1)
        #expect(old.isEmpty || changed != sent)
        let returned = try SIPMessage.index(Array(changed.utf8))
        let pass = EarlierPass(of: returned, sockets: [Self.socket])
        #expect(pass?.isProven(sender: 1, secret: Self.secret) == isProven)
        #expect(pass?.isProven(sender: 2, secret: Self.secret) == false, "of another peer")
        #expect(pass?.isProven(sender: 1, secret: Secret(key0: 9, key1: 9)) == false, "of another gateway")
        #expect(
            pass?.isProven(sender: 1, secret: Secret(key0: 9, key1: 9).replacing(Self.secret)) == isProven,
            "of the secret before")
        let first = try WireMessage.message(WireMessage.invite)
        #expect(EarlierPass(of: first, sockets: [Self.socket]) == nil)
    }
}
