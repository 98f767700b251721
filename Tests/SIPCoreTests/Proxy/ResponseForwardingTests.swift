// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Response forwarding, RFC 3261 §16.7 and §18.2.2, RFC 3581 §4")
struct ResponseForwardingTests {
    static func response(_ lines: [String]) throws -> SIPMessage {
        try WireMessage.message(["SIP/2.0 503 Gone"] + lines + ["CSeq: 1 INVITE"], body: "body")
    }

    @Test(arguments: [
        (["Via: SIP/2.0/UDP a", "Via: SIP/2.0/UDP b"], ["Via: SIP/2.0/UDP b"]),
        (["Via: SIP/2.0/UDP a ,\r\n SIP/2.0/UDP b,SIP/2.0/UDP c"], ["Via: SIP/2.0/UDP b,SIP/2.0/UDP c"]),
        (["v: SIP/2.0/UDP a, SIP/2.0/UDP b", "Via: SIP/2.0/UDP c"], ["v: SIP/2.0/UDP b", "Via: SIP/2.0/UDP c"]),
        (["To: x", "Via: SIP/2.0/UDP a,", "v: SIP/2.0/UDP b"], ["To: x", "v: SIP/2.0/UDP b"]),
        (["Via: SIP/2.0/UDP a;x=\"1,2\",SIP/2.0/UDP b"], ["Via: SIP/2.0/UDP b"]),
        (["Via: SIP/2.0/UDP a"], []),
    ])
    func `the topmost Via is taken off`(lines: [String], left: [String]) throws {
        let message = try Self.response(lines)
        var splices = Splices()
        ResponseForwarding.removeTopVia(of: message, into: &splices)
        #expect(splices.applied(to: message.bytes) == (try Self.response(left)).bytes)
    }

    @Test(arguments: [
        ("SIP/2.0/UDP 192.0.2.1", "192.0.2.1:5060"), ("SIP/2.0/UDP 192.0.2.1:5062", "192.0.2.1:5062"),
        ("SIP/2.0/UDP 10.0.0.1:5062;received=192.0.2.1", "192.0.2.1:5062"),
        ("SIP/2.0/UDP 10.0.0.1:5062;received=192.0.2.1;rport=40000", "192.0.2.1:40000"),
        ("SIP/2.0/UDP a.example;received=192.0.2.1", "192.0.2.1:5060"),
        ("SIP/2.0/UDP [2001:db8::1]:5062", "[2001:db8::1]:5062"),
        ("SIP/2.0/UDP a;received=2001:db8::1;rport=1", "[2001:db8::1]:1"),
        // RFC 3261 §18.2.2: the connection is gone, whose port the rport is.
        ("SIP/2.0/TCP 10.0.0.1:5062;received=192.0.2.1;rport=40000", "192.0.2.1:5062"),
        ("SIP/2.0/TLS 192.0.2.1;rport=40000", "192.0.2.1:5061"),
        ("SIP/2.0/UDP 192.0.2.1;rport", "192.0.2.1:5060"), ("SIP/2.0/UDP 192.0.2.1;rport=0", "192.0.2.1:5060"),
        ("SIP/2.0/UDP 192.0.2.1;rport=70000", "192.0.2.1:5060"), ("SIP/2.0/UDP a.example", nil),
        ("SIP/2.0/UDP 192.0.2.1;received=b.example", nil), ("SIP/2.0/UDP 192.0.2.1;received", nil),
    ])
    func `a Via says where a response goes`(via: String, destination: String?) throws {
        let message = try Self.response(["Via: \(via)"])
        let top = try #require(message.topVia).value
        #expect(ResponseForwarding.destination(of: top, in: message)?.description == destination)
    }

    @Test(arguments: [
        ("SIP/2.0/UDP 10.0.0.1:5062;rport", "198.51.100.7:40000"),
        ("SIP/2.0/UDP 10.0.0.1;rport=", "198.51.100.7:40000"),
        ("SIP/2.0/UDP 198.51.100.7:5062", "198.51.100.7:5062"), ("SIP/2.0/UDP a.example", "198.51.100.7:5060"),
    ])
    func `own responses go where the sender listens`(via: String, destination: String) throws {
        // RFC 3261 §18.2.2: the source address, with the port of sent-by; RFC 3581 §4: the source port when asked for.
        let message = try Self.response(["Via: \(via)"])
        let top = try #require(message.topVia).value
        let source = PeerAddress(ipv4: 0xc633_6407, port: 40_000)
        #expect(ResponseForwarding.destination(ofResponsesTo: top, from: source).description == destination)
    }

    @Test(arguments: [
        ("\"Trunk\" <sip:a@b>;tag=1", "\"Brand\" <sip:a@b>;tag=1", true),
        ("<sip:a@b>;tag=1", "<sip:a@b>;x;tag=1", true),
        ("\"Trunk\" <sip:a@b>;tag=1", "\"Brand\" <sip:a@b>;tag=2", false),
        ("\"Trunk\" <sip:a@b>;tag=1", "\"Brand\" <sip:a@b>", false), ("<sip:a@b>", "\"Brand\" <sip:a@b>", true),
        ("<sip:a@b>;tag=1", "<sip:a@b>;tag=1", false),
    ])
    func `From goes back as the trunk wrote it`(original: String, forwarded: String, isRestored: Bool) throws {
        let message = try Self.response(["From: \(forwarded)", "To: \(forwarded)"])
        var splices = Splices()
        ResponseForwarding.restoreFrom(Array(original.utf8), in: message, into: &splices)
        let expected = try Self.response(["From: \(isRestored ? original : forwarded)", "To: \(forwarded)"])
        #expect(splices.applied(to: message.bytes) == expected.bytes)
        #expect(splices.isEmpty == !isRestored)
    }

    @Test(arguments: ["", "Retry-After: 600\r\n", "retry-after : 5 (soon);duration=60\r\nRetry-After: 7\r\n"])
    func `a 503 becomes a 500 without Retry-After, RFC 3261 §16.7 step 6`(field: String) throws {
        let lines = field.split(separator: "\r\n").map(String.init)
        let message = try Self.response(["Via: SIP/2.0/UDP a"] + lines + ["Warning: 399 a \"b\""])
        var splices = Splices()
        ResponseForwarding.hideUnavailability(in: message, into: &splices)
        let expected = text(message.bytes).replacing("503 Gone", with: "500 Server Internal Error")
            .replacing(field, with: "")
        #expect(message.text(with: splices) == expected)
    }

    @Test(arguments: [
        WireMessage.invite, ["SIP/2.0 500 No", "Retry-After: 5"], ["SIP/2.0 486 Busy", "Retry-After: 5"],
    ])
    func `every other message stays as it is`(lines: [String]) throws {
        let message = try WireMessage.message(lines)
        var splices = Splices()
        ResponseForwarding.hideUnavailability(in: message, into: &splices)
        #expect(splices.isEmpty)
    }
}
