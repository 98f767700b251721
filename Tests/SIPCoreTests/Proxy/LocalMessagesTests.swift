// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Messages of the gateway itself, RFC 3261 §8.2.6, §9.1 and §17.1.1.3, RFC 3326")
struct LocalMessagesTests {
    static let source = PeerAddress(ipv4: 0xc633_6407, port: 40_000)

    @Test func `a 100 carries what a response must, no tag, and the Timestamp`() throws {
        // §8.2.6.1: Timestamp is copied into a 100; §8.2.6.2: Via, From, To, Call-ID, CSeq.
        let request = try WireMessage.message(
            WireMessage.invite([
                ("Via", "v: SIP/2.0/UDP 10.0.0.1;branch=z9hG4bKa;rport, SIP/2.0/UDP b\r\nVia: SIP/2.0/UDP c;rport"),
                ("Timestamp", "Timestamp: 54"),
            ]))
        let response = LocalMessages.response(
            to: request, status: 100, phrase: "Trying", toTag: nil, source: Self.source)
        #expect(
            response
                == WireMessage.bytes([
                    "SIP/2.0 100 Trying",
                    "Via: SIP/2.0/UDP 10.0.0.1;branch=z9hG4bKa;rport=40000;received=198.51.100.7, SIP/2.0/UDP b",
                    "Via: SIP/2.0/UDP c;rport", "From: \"Trunk\" <sip:+49891234567@carrier.example>;tag=1928301774",
                    "To: <sip:+4930987654@192.0.2.10>", "Call-ID: a84b4c76e66710@198.51.100.7", "CSeq: 314159 INVITE",
                    "Timestamp: 54", "Content-Length: 0",
                ]))
    }

    @Test func `a refusal carries a tag of ours and its header`() throws {
        let request = try WireMessage.message(WireMessage.invite([("Timestamp", "Timestamp: 54")]))
        let response = LocalMessages.response(
            to: request, status: 403, phrase: "Forbidden", toTag: 0xabc, field: .retryAfter(seconds: 5),
            source: Self.source)
        let message = try SIPMessage.index(response)
        #expect(message.status == 403)
        #expect(message.toTag.map(message.text) == "hd0000000000000abc")
        #expect(text(response).contains("\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"))
        #expect(!message.has(.timestamp))
    }

    @Test func `a To that has a tag keeps it`() throws {
        let request = try WireMessage.message(WireMessage.invite([("To", "To: <sip:a@b>;tag=314")]))
        let response = try SIPMessage.index(
            LocalMessages.response(to: request, status: 481, phrase: "Gone", toTag: 1, source: Self.source))
        #expect(response.toTag.map(response.text) == "314")
    }

    @Test func `a request with nothing in it still gets a response`() throws {
        let request = try WireMessage.message(["INVITE sip:a@b SIP/2.0", "Via: nonsense"])
        let response = LocalMessages.response(to: request, status: 400, phrase: "Bad", toTag: 1, source: Self.source)
        #expect(response == WireMessage.bytes(["SIP/2.0 400 Bad", "Via: nonsense", "Content-Length: 0"]))
    }

    @Test func `a CANCEL is the forwarded INVITE's own, with the reasons of the caller`() throws {
        // §9.1: Request-URI, topmost Via, Route, From, To, Call-ID and the CSeq number are those of the INVITE.
        let invite = try WireMessage.message(
            WireMessage.invite([
                ("Via", "Via: SIP/2.0/UDP 192.0.2.10;branch=z9hG4bKhd1, SIP/2.0/UDP b\r\nVia: SIP/2.0/UDP c"),
                ("Route", "Route: <sip:c.example;lr>,\r\n <sip:d;lr>"), ("From", "f: \"Brand\" <sip:a@b>;tag=1"),
            ]))
        let received = try WireMessage.message([
            "CANCEL sip:a@b SIP/2.0", "Reason: SIP;cause=200;text=\"Call completed elsewhere\"",
            "Reason: Q.850;cause=16",
        ])
        #expect(
            LocalMessages.cancel(of: invite, reasonsFrom: received)
                == WireMessage.bytes([
                    "CANCEL sip:+4930987654@192.0.2.10 SIP/2.0", "Via: SIP/2.0/UDP 192.0.2.10;branch=z9hG4bKhd1",
                    "Route: <sip:c.example;lr>,\r\n <sip:d;lr>", "Max-Forwards: 70",
                    "From: \"Brand\" <sip:a@b>;tag=1", "To: <sip:+4930987654@192.0.2.10>",
                    "Call-ID: a84b4c76e66710@198.51.100.7", "CSeq: 314159 CANCEL",
                    "Reason: SIP;cause=200;text=\"Call completed elsewhere\"", "Reason: Q.850;cause=16",
                    "Content-Length: 0",
                ]))
        #expect(!text(LocalMessages.cancel(of: invite, reasonsFrom: nil)).contains("Reason"))
    }

    @Test func `an ACK has the To of the response, tag and all`() throws {
        let invite = try WireMessage.message(WireMessage.invite)
        let response = try WireMessage.message(["SIP/2.0 486 Busy", "t: <sip:+4930987654@192.0.2.10>;tag=314"])
        let ack = try SIPMessage.index(LocalMessages.acknowledgement(of: invite, for: response))
        #expect(ack.method == .ack)
        #expect(ack.toTag.map(ack.text) == "314")
        #expect(ack.fromTag.map(ack.text) == "1928301774")
        let sequence = try #require(ack.sequence)
        #expect(sequence.number == 314_159)
        #expect(ack.text(sequence.method) == "ACK")
        let via = try #require(ack.topVia).value
        #expect(via.branch.map(ack.text) == "z9hG4bK776asdhds")
        #expect(RequestValidity.refusal(of: ack) == nil)
    }
}
