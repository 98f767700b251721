// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// The cookie in the gateway's Record-Route comes back in Route, from peers who may have changed it.
@Suite("Route cookie, RFC 3261 §16.6 step 4 and §16.4")
struct RouteCookieTests {
    static let socket = LocalSocket(position: 0, address: PeerAddress(ipv4: 0xc000_020a, port: 5060))
    static let secret = Secret(key0: 1, key1: 2)
    static let target = DialogEnd(address: PeerAddress(ipv4: 0xc000_0216, port: 5062), transport: .udp)
    static let origin = DialogEnd(address: PeerAddress(ipv4: 0xcb00_7109, port: 5060), transport: .tcp)
    static let plain = RouteCookie.Payload(mark: 0x7a)
    /// A tag of the side that is called.
    private static let answered = (name: "To", line: "To: <sip:+4930987654@192.0.2.10>;tag=callee" as String?)

    static func cookie(
        _ payload: RouteCookie.Payload, target: DialogEnd = target, origin: DialogEnd = origin
    ) -> RouteCookie { RouteCookie(payload: payload, target: target, origin: origin) }

    /// The URI of the Record-Route entry that a call with this cookie gets.
    static func entry(
        _ cookie: RouteCookie, _ changes: [(name: String, line: String?)] = [], secret: Secret = secret
    ) throws -> String {
        let message = try WireMessage.message(WireMessage.invite(changes))
        let entry = RecordRoute(
            socket: socket, cookie: SealedRouteCookie(cookie, of: message, secret: secret), of: message)
        var splices = Splices()
        RequestForwarding.addRecordRoute(entry, before: message.headers[0], into: &splices)
        let forwarded = try SIPMessage.index(splices.applied(to: message.bytes))
        return forwarded.text(NameAddressExtent.scan(forwarded.bytes, forwarded.headers[0].value).uri)
    }

    /// What the gateway reads when that URI comes back in a Route of the side that began the dialog.
    static func read(
        _ uri: String, _ changes: [(name: String, line: String?)] = [answered], isByOriginator: Bool = true,
        secret: Secret = secret
    ) throws -> RouteCookie? {
        let message = try WireMessage.message(WireMessage.invite([("Route", "Route: <\(uri)>")] + changes))
        var splices = Splices()
        return RouteSet(of: message, sockets: [socket], secret: secret, into: &splices) { _ in isByOriginator }.cookie
    }

    /// The headers of a request of the side that was called: From and To have changed places.
    private static let reversed: [(name: String, line: String?)] = [
        ("From", "From: <sip:+4930987654@192.0.2.10>;tag=callee"),
        ("To", "To: \"Trunk\" <sip:+49891234567@carrier.example>;tag=1928301774"),
    ]

    private static let payloads = [
        RouteCookie.Payload(mark: 0), .init(mark: 0x7a), .init(mark: .max), .init(mark: 1, value: 1),
        .init(mark: 0x7b, value: 61_491_570_156), .init(mark: .max, value: .max),
    ]

    @Test(arguments: payloads)
    func `a cookie returns as it was, from both sides`(payload: RouteCookie.Payload) throws {
        let uri = try Self.entry(Self.cookie(payload))
        #expect(try Self.read(uri) == Self.cookie(payload))
        #expect(try Self.read(uri, Self.reversed, isByOriginator: false) == Self.cookie(payload))
    }

    @Test(arguments: payloads)
    func `the connection of the call returns with it, under the seal`(payload: RouteCookie.Payload) throws {
        for connection in [1, 0x0123_4567_89AB_CDEF, .max] as [UInt64] {
            let cookie = RouteCookie(
                payload: payload, target: Self.target, origin: Self.origin, connection: connection)
            let uri = try Self.entry(cookie)
            #expect(try Self.read(uri) == cookie)
            let digits = String(connection, radix: 16)
            let hex = String(repeating: "0", count: 16 - digits.count) + digits
            let other = uri.replacing(hex, with: hex == "0000000000000001" ? "0000000000000002" : "0000000000000001")
            #expect(other != uri)
            #expect(try Self.read(other) == nil)
        }
    }

    @Test func `the owner's payload decides which side it serves`() throws {
        let uri = try Self.entry(Self.cookie(Self.plain))
        let message = try WireMessage.message(WireMessage.invite([("Route", "Route: <\(uri)>"), Self.answered]))
        var splices = Splices()
        var asked: [RouteCookie.Payload] = []
        _ = RouteSet(of: message, sockets: [Self.socket], secret: Self.secret, into: &splices) {
            asked.append($0)
            return true
        }
        #expect(asked == [Self.plain])
    }

    private static let ends = [
        PeerAddress(ipv4: 0, port: 0), PeerAddress(ipv4: .max, port: .max),
        PeerAddress(ipv6High: 0x2001_0db8_0000_0000, low: 0x10, port: 5061),
        PeerAddress(ipv6High: .max, low: .max, port: 1),
    ]

    @Test(arguments: ends, SIPTransportKind.allCases)
    func `both ends come back, of each family and transport`(address: PeerAddress, transport: SIPTransportKind) throws {
        let end = DialogEnd(address: address, transport: transport)
        for cookie in [Self.cookie(Self.plain, target: end), Self.cookie(Self.plain, origin: end)] {
            #expect(try Self.read(Self.entry(cookie)) == cookie)
        }
    }

    @Test func `a cookie without a value and with ends of IPv4 has 50 digits`() throws {
        let uri = try Self.entry(Self.cookie(Self.plain))
        #expect(try #require(uri.split(separator: "hd=").last).utf8.count == 50)
    }

    @Test(
        arguments: [
            ("another Call-ID", [("Call-ID", "Call-ID: b84b4c76e66710@198.51.100.7")], true),
            ("another tag of the side that began", [("From", "From: <sip:+49891234567@carrier.example>;tag=2")], true),
            ("no tag of that side", [("From", "From: <sip:+49891234567@carrier.example>")], true),
            // The called side may change: a call that was forked has several.
            ("the other side", [], false),
        ] as [(String, [(name: String, line: String?)], Bool)])
    func `a cookie serves its own dialog and the side it was made for`(
        what: String, changes: [(name: String, line: String?)], isByOriginator: Bool
    ) throws {
        let uri = try Self.entry(Self.cookie(Self.plain))
        #expect(try Self.read(uri, [Self.answered] + changes, isByOriginator: isByOriginator) == nil, "\(what)")
    }

    @Test func `each fork of a call reads it`() throws {
        let uri = try Self.entry(Self.cookie(Self.plain))
        let fork = (name: "To", line: "To: <sip:+4930987654@192.0.2.10>;tag=second" as String?)
        #expect(try Self.read(uri, [fork]) != nil)
    }

    @Test func `a cookie of another gateway is none`() throws {
        let uri = try Self.entry(Self.cookie(Self.plain), secret: Secret(key0: 1, key1: 3))
        #expect(try Self.read(uri) == nil)
    }

    private static let valued = RouteCookie.Payload(mark: 0x7b, value: 61_491_570_156)

    @Test(arguments: [
        ("hd=0", "hd="), ("hd=0", "hd=00"), ("hd=0", "hd=g"), ("hd=0", "dh=0"), ("hd=0", "hd;x=0"),
        // Mark and value of the payload.
        ("0000007b", "0000007a"), ("0000007b", "1000007b"), ("0000007b", "000007b"), ("0000007b", "0000007g"),
        ("0000000e512ee5ec", "0000000e512ee5ed"), ("0000000e512ee5ec", "0000000000000000"), ("0000000e512ee5ec", ""),
        // Target and origin: transport, family, address and port.
        ("0c000021613c6", "1c000021613c6"), ("0c000021613c6", "3c000021613c6"), ("0c000021613c6", "4c000021613c6"),
        ("0c000021613c6", "0c000021713c6"), ("0c000021613c6", "0c000021613c7"), ("0c000021613c6", "0g000021613c6"),
        ("1cb00710913c4", "1cb00710a13c4"), ("1cb00710913c4", "1cb00710913c5"), ("1cb00710913c4", ""),
    ])
    func `a changed cookie is none`(original: String, changed: String) throws {
        let uri = try Self.entry(Self.cookie(Self.valued))
        let forged = uri.replacing(original, with: changed)
        #expect(forged != uri)
        #expect(try Self.read(forged) == nil)
    }

    @Test func `a changed seal is none`() throws {
        let uri = try Self.entry(Self.cookie(Self.plain))
        for position in 1...16 {
            var forged = Array(uri.utf8)
            let index = forged.count - position
            forged[index] = forged[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            #expect(try Self.read(text(forged)) == nil)
        }
    }

    @Test(arguments: [
        "0123456789abcdef", String(repeating: "0", count: 50), String(repeating: "0", count: 66),
        String(repeating: "f", count: 50), "0c000021613c61cb00710913c40000007b",
    ])
    func `a cookie of another form is none`(text: String) throws {
        #expect(try Self.read("sip:192.0.2.10:5060;lr;hd=\(text)") == nil)
    }

    @Test func `each use of the secret has results of its own`() {
        let uses = [KeyedHashUse.branch, .dialogSeal, .ownTag, .loopMark, .probe, .callName]
        let results = uses.map { use in
            var hash = Self.secret.hash(for: use)
            hash.combine(Array("a84b4c76e66710".utf8)[...])
            hash.combine(7)
            return hash.finish()
        }
        #expect(Set(results).count == uses.count)
    }
}
