// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// The cookie in the gateway's Record-Route comes back in Route, from peers who may have changed it.
@Suite("Dialog cookie, RFC 3261 §16.6 step 4 and §16.4")
struct DialogCookieTests {
    static let socket = LocalSocket(position: 0, address: PeerAddress(ipv4: 0xc000_020a, port: 5060))
    static let secret = Secret(key0: 1, key1: 2)
    static let target = DialogEnd(address: PeerAddress(ipv4: 0xc000_0216, port: 5062), transport: .udp)
    static let origin = DialogEnd(address: PeerAddress(ipv4: 0xcb00_7109, port: 5060), transport: .tcp)
    static let plain = DialogNote(trunk: 7, isInbound: true, isBranded: true)
    /// A tag of the side that is called.
    private static let answered = (name: "To", line: "To: <sip:+4930987654@192.0.2.10>;tag=callee" as String?)

    static func cookie(
        _ note: DialogNote, target: DialogEnd = target, origin: DialogEnd = origin
    ) -> DialogCookie { DialogCookie(note: note, target: target, origin: origin) }

    /// The URI of the Record-Route entry that a call with this cookie gets.
    static func entry(
        _ cookie: DialogCookie, _ changes: [(name: String, line: String?)] = [], secret: Secret = secret
    ) throws -> String {
        let message = try WireMessage.message(WireMessage.invite(changes))
        let entry = RecordRoute(socket: socket, cookie: SealedCookie(cookie, of: message, secret: secret))
        var splices = Splices()
        RequestForwarding.addRecordRoute(entry, before: message.headers[0], into: &splices)
        let forwarded = try SIPMessage.index(splices.applied(to: message.bytes))
        return forwarded.text(NameAddressExtent.scan(forwarded.bytes, forwarded.headers[0].value).uri)
    }

    /// What the gateway reads when that URI comes back in a Route of the side that began the dialog.
    static func read(
        _ uri: String, _ changes: [(name: String, line: String?)] = [answered], isFromTrunk: Bool = true,
        secret: Secret = secret
    ) throws -> DialogCookie? {
        let message = try WireMessage.message(WireMessage.invite([("Route", "Route: <\(uri)>")] + changes))
        var splices = Splices()
        return RouteSet(
            of: message, sockets: [socket], secret: secret, isFromTrunk: isFromTrunk, into: &splices
        ).cookie
    }

    /// The headers of a request of the side that was called: From and To have changed places.
    private static let reversed: [(name: String, line: String?)] = [
        ("From", "From: <sip:+4930987654@192.0.2.10>;tag=callee"),
        ("To", "To: \"Trunk\" <sip:+49891234567@carrier.example>;tag=1928301774"),
    ]

    @Test(arguments: [0, 7, 4095, 65_535], [(true, true), (true, false), (false, true), (false, false)])
    func `a cookie comes back as it was, from both sides`(
        trunk: Int, flags: (isInbound: Bool, isBranded: Bool)
    ) throws {
        let note = DialogNote(trunk: trunk, isInbound: flags.isInbound, isBranded: flags.isBranded)
        let uri = try Self.entry(Self.cookie(note))
        #expect(try Self.read(uri, isFromTrunk: flags.isInbound) == Self.cookie(note))
        #expect(try Self.read(uri, Self.reversed, isFromTrunk: !flags.isInbound) == Self.cookie(note))
    }

    @Test func `a cookie tells whose name was written`() throws {
        for (caller, isAsserted) in [(61_491_570_156 as UInt64, false), (999_999_999_999_999, true), (1, true)] {
            let note = DialogNote(
                trunk: 7, isInbound: true, isBranded: true, isNamed: true, caller: caller, isAsserted: isAsserted)
            #expect(try Self.read(Self.entry(Self.cookie(note))) == Self.cookie(note))
        }
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

    @Test func `a cookie of an unbranded call by IPv4 is short`() throws {
        let uri = try Self.entry(Self.cookie(DialogNote(trunk: 65_535, isInbound: false, isBranded: false)))
        #expect(try #require(uri.split(separator: "hd=").last).utf8.count <= 49)
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
        what: String, changes: [(name: String, line: String?)], isFromTrunk: Bool
    ) throws {
        let uri = try Self.entry(Self.cookie(Self.plain))
        #expect(try Self.read(uri, [Self.answered] + changes, isFromTrunk: isFromTrunk) == nil, "\(what)")
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

    private static let named = DialogNote(
        trunk: 7, isInbound: true, isBranded: true, isNamed: true, caller: 61_491_570_156)

    @Test(arguments: [
        ("hd=7ib", "hd=7ia"), ("hd=7ib0", "hd=7ib1"), ("hd=7ib0", "hd=7ib"), ("hd=7ib", "hd=7il"),
        ("hd=7ib", "hd=8ib"), ("hd=7ib", "hd=7ob"), ("hd=7ib", "hd=7ip"), ("hd=7ib", "hd=7xb"), ("hd=7ib", "hd=7ix"),
        ("hd=7ib", "hd="), ("hd=7ib", "hd=ib"), ("hd=7ib", "hd=-7ib"), ("hd=7ib", "hd=99999999999ib"),
        ("hd=7ib", "hd=7ib0"), ("hd=7ib", "dh=7ib"), ("hd=7ib", "hd;x=7ib"),
        // Target and origin: transport, family, address and port.
        ("0c000021613c6", "1c000021613c6"), ("0c000021613c6", "3c000021613c6"), ("0c000021613c6", "4c000021613c6"),
        ("0c000021613c6", "0c000021713c6"), ("0c000021613c6", "0c000021613c7"), ("0c000021613c6", "0g000021613c6"),
        ("1cb00710913c4", "1cb00710a13c4"), ("1cb00710913c4", "1cb00710913c5"), ("1cb00710913c4", ""),
    ])
    func `a changed cookie is none`(original: String, changed: String) throws {
        let uri = try Self.entry(Self.cookie(Self.named))
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
        "7ip0123456789abcdef", "7ib0000000e50a1c8ac0123456789abcdef", "0il" + String(repeating: "0", count: 42),
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
