// SPDX-License-Identifier: Apache-2.0

import RepeatableChance
import SIPCore
import Testing

@Suite("A glance at a new INVITE, for its refusal in a flood (RFC 3261 §21.5.4)")
struct InviteGlanceTests {
    private static let secret = Secret(key0: 1, key1: 2)
    private static let source = PeerAddress(ipv4: 0xc633_6407, port: 40_000)

    @Test(
        arguments: [
            [], [("Via", "v: SIP/2.0/TCP [2001:db8::2]:5061;received=192.0.2.9;branch=z9hG4bK1")],
            [("Via", "Via: SIP/2.0/UDP a;branch=z9hG4bK1, SIP/2.0/UDP b\r\nVIA:SIP/2.0/TLS c\r\nVia: SIP/2.0/UDP d;x")],
            [("From", "f:  sip:a@b  "), ("To", "t: <sip:a@b;tag=1>;x ")],
            [("Priority", nil), ("CSeq", "cseq:7 INVITE")],
            [("From", "From: \"x;tag=1\" <sip:a@b>;TAG=2;tag=3"), ("Content-Length", "Content-Length: 90")],
        ] as [[(name: String, line: String?)]])
    func `an INVITE of plain lines is refused as it would be if it were indexed`(
        changes: [(name: String, line: String?)]
    ) throws {
        let bytes = WireMessage.bytes(WireMessage.invite(changes))
        #expect(try Self.agrees(bytes))
    }

    @Test(
        arguments: [
            ("inside a dialog (§12.2)", [("To", "To: <sip:a@b>;tag=1")]),
            ("with resource priority (RFC 4412)", [("Resource-Priority", "Resource-Priority: esnet.1")]),
            ("called back from an emergency centre (RFC 7090)", [("Priority", "Priority: psap-callback")]),
            ("to an emergency service (RFC 5031)", [("INVITE", "INVITE urn:service:sos SIP/2.0")]),
            ("folded (§7.3.1)", [("From", "From: <sip:a@b>\r\n ;tag=1")]),
            ("with a blank before a colon (§7.3.1)", [("From", "From : <sip:a@b>;tag=1")]),
            ("with two of a field (§7.3.1)", [("Max-Forwards", "Call-ID: 2")]),
            ("without From", [("From", nil)]), ("without To", [("To", nil)]), ("without Call-ID", [("Call-ID", nil)]),
            ("without CSeq", [("CSeq", nil)]), ("with half a CSeq", [("CSeq", "CSeq: 1")]),
            ("without Via", [("Via", nil)]),
            ("with a branch of RFC 2543", [("Via", "Via: SIP/2.0/UDP a;branch=1")]),
            ("with a Via that cannot be read", [("Via", "Via: SIP/2.0;branch=z9hG4bK1")]),
            ("that is no INVITE", [("INVITE", "INVITES sip:a@b SIP/2.0")]),
            ("of another version", [("INVITE", "INVITE sip:a@b SIP/2.1")]),
            ("with a tab in a line", [("From", "From: <sip:a@b>;tag=1\t;x")]),
            ("with a bare CR in a line (§25.1)", [("From", "From: <sip:a@b>\rTo: <sip:a@b>")]),
            ("with a line feed for a line end", [("From", "From: <sip:a@b>\nX: y")]),
        ] as [(String, [(name: String, line: String?)])])
    func `is not taken`(what: String, changes: [(name: String, line: String?)]) {
        let bytes = WireMessage.bytes(WireMessage.invite(changes))
        #expect(Self.glance(bytes) == nil)
    }

    @Test func `an INVITE cut short is not taken, and one above a limit is not`() throws {
        let bytes = WireMessage.bytes(WireMessage.invite)
        for count in bytes.indices { #expect(Self.glance(Array(bytes[..<count])) == nil) }
        let fields = WireMessage.invite.count - 1
        let fits = SIPLimits(messageBytes: bytes.count, headerFields: fields, headerBytes: 70)
        #expect(Self.glance(bytes, fits) != nil)
        for limits in [
            SIPLimits(messageBytes: bytes.count - 1), SIPLimits(headerFields: fields - 1), SIPLimits(headerBytes: 60),
        ] {
            #expect(Self.glance(bytes, limits) == nil)
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `whatever it takes the index takes for the same`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let samples = [WireMessage.bytes(WireMessage.invite), MutatedMessageTests.samples[1]]
        var taken = 0
        for round in 0..<2500 {
            var bytes = samples[round % samples.count]
            for _ in 0...(random.next() % 4) { MutatedMessageTests.mutate(&bytes, &random) }
            if Self.glance(bytes) != nil {
                taken += 1
                #expect(try Self.agrees(bytes), "\(text(bytes))")
            }
        }
        #expect(taken > 100)
    }

    private static func glance(_ bytes: [UInt8], _ limits: SIPLimits = SIPLimits()) -> InviteGlance? {
        InviteGlance(bytes.span, limits: limits)
    }

    /// Whether a glance at an INVITE leads to the branch and the answer that its index leads to.
    private static func agrees(_ bytes: [UInt8]) throws -> Bool {
        let glance = try #require(Self.glance(bytes))
        let message = try SIPMessage.index(bytes)
        let via = try #require(message.topVia)
        #expect(message.method == .invite && !message.isInDialog && RequestValidity.canBeAnswered(message))
        #expect(!message.has(.priority) && !message.has(.resourcePriority))
        #expect(message.fromTag == glance.fromTag && message.sequence?.number == glance.sequence)
        #expect(
            via.value == glance.topVia)
        let branch = Branch(of: glance, in: bytes.span, sender: 7, secret: secret)
        #expect(branch == Branch(of: message, via: via.value, sender: 7, secret: secret))
        let answer = LocalMessages.response(
            to: glance, in: bytes.span, status: 503, phrase: "Service Unavailable", toTag: 7, source: source)
        return answer
            == LocalMessages.response(
                to: message, status: 503, phrase: "Service Unavailable", toTag: 7, source: source)
    }
}
