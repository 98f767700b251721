// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Request validity, RFC 3261 §16.3 and §8.1.1")
struct RequestValidityTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let changes: [(name: String, line: String?)]
        let refusal: FailureResponse?

        init(_ rule: String, _ name: String, _ line: String?, _ status: Int, _ phrase: StaticString) {
            self.init(rule, [(name, line)], FailureResponse(status, phrase))
        }

        init(_ rule: String, _ changes: [(name: String, line: String?)], _ refusal: FailureResponse?) {
            testDescription = rule
            self.changes = changes
            self.refusal = refusal
        }
    }

    static let refused: [Row] = [
        .init("§21.5.6: another version", "INVITE", "INVITE sip:a@b SIP/7.0", 505, "Version Not Supported"),
        .init("§21.5.6: a longer version", "INVITE", "INVITE sip:a@b SIP/2.01", 505, "Version Not Supported"),
        .init("RFC 4475 §3.1.2.10: blanks at the end", "INVITE", "INVITE sip:a@b SIP/2.0  ", 400, "Bad Request-Line"),
        .init("RFC 4475 §3.1.2.9: two blanks", "INVITE", "INVITE  sip:a@b  SIP/2.0", 400, "Bad Request-URI"),
        .init("RFC 4475 §3.1.2.8: a blank in the URI", "INVITE", "INVITE sip:a; lr SIP/2.0", 400, "Bad Request-URI"),
        .init("RFC 4475 §3.1.2.7: brackets", "INVITE", "INVITE <sip:a@b> SIP/2.0", 400, "Bad Request-URI"),
        .init(
            "RFC 5118 §4.2: a bare IPv6 address", "INVITE", "INVITE sip:2001:db8::10 SIP/2.0", 400, "Bad Request-URI"),
        .init("RFC 5118 §4.2: behind a user", "INVITE", "INVITE sip:a@2001:db8::10 SIP/2.0", 400, "Bad Request-URI"),
        .init("§25.1: no host", "INVITE", "INVITE sip:a@ SIP/2.0", 400, "Bad Request-URI"),
        .init("§25.1: no host, but parameters", "INVITE", "INVITE sip:;lr SIP/2.0", 400, "Bad Request-URI"),
        .init("§25.1: a port without digits", "INVITE", "INVITE sip:a@b: SIP/2.0", 400, "Bad Request-URI"),
        .init("§25.1: a port of letters", "INVITE", "INVITE sips:a@b:sip SIP/2.0", 400, "Bad Request-URI"),
        .init("§25.1: IPv4 in brackets", "INVITE", "INVITE sip:a@[192.0.2.1] SIP/2.0", 400, "Bad Request-URI"),
        .init("§25.1: a bracket never closes", "INVITE", "INVITE sip:a@[2001:db8::1 SIP/2.0", 400, "Bad Request-URI"),
        .init("§25.1: text behind the bracket", "INVITE", "INVITE sip:[2001:db8::1]x SIP/2.0", 400, "Bad Request-URI"),
        .init("§25.1: brackets in a name", "Subject", "X-[Foo]: a", 400, "Bad Header Name"),
        .init("§25.1: parentheses in a name", "Subject", "X(Foo): a", 400, "Bad Header Name"),
        .init("§25.1: an at sign in a name", "Subject", "X@Foo: a", 400, "Bad Header Name"),
        .init("§25.1: a slash in a name", "Subject", "X/Foo : a", 400, "Bad Header Name"),
        .init("§25.1: a name beyond ASCII", "Subject", "X-Büro: a", 400, "Bad Header Name"),
        .init("§25.1: a long name, bad at its end", "Subject", "X-AAAAAAAAAAAAAAAAAAAA,: a", 400, "Bad Header Name"),
        .init("RFC 4475 §3.1.2.11: headers", "INVITE", "INVITE sip:a@b?Route=c SIP/2.0", 400, "Bad Request-URI"),
        .init("§16.3 step 2: no scheme", "INVITE", "INVITE a SIP/2.0", 400, "Bad Request-URI"),
        .init("§16.3 step 2: an empty scheme", "INVITE", "INVITE :a SIP/2.0", 400, "Bad Request-URI"),
        .init("§16.3 step 2: another scheme", "INVITE", "INVITE http://a SIP/2.0", 416, "Unsupported URI Scheme"),
        .init("§16.3 step 3: no hop left", "Max-Forwards", "Max-Forwards: 0", 483, "Too Many Hops"),
        .init("§20.22: more than a byte", "Max-Forwards", "Max-Forwards: 256", 400, "Bad Max-Forwards"),
        .init("§20.22: no number", "Max-Forwards", "Max-Forwards: many", 400, "Bad Max-Forwards"),
        .init("§8.1.1: no From", "From", nil, 400, "Missing From"),
        .init("§8.1.1: an empty From", "From", "From:", 400, "Missing From"),
        .init("§8.1.1: no To", "To", nil, 400, "Missing To"),
        .init("§8.1.1: no Call-ID", "Call-ID", nil, 400, "Missing Call-ID"),
        .init("§8.1.1: an empty Call-ID", "Call-ID", "Call-ID: \t", 400, "Missing Call-ID"),
        .init("§8.1.1: no CSeq", "CSeq", nil, 400, "Missing CSeq"),
        .init("§8.1.1: no Via", "Via", nil, 400, "Bad Via"),
        .init("§20.42: an empty Via above another", "Via", "Via:\r\nVia: SIP/2.0/UDP a", 400, "Bad Via"),
        .init("§20.42: an empty Via below another", "Via", "Via: SIP/2.0/UDP a\r\nVia: ,", 400, "Bad Via"),
        .init("§20.42: a Via without host", "Via", "Via: SIP/2.0/UDP", 400, "Bad Via"),
        .init("RFC 4475 §3.3.8: From twice", "Subject", "f: <sip:a@b>", 400, "Repeated From"),
        .init("RFC 4475 §3.3.8: To twice", "Subject", "t: <sip:a@b>", 400, "Repeated To"),
        .init("RFC 4475 §3.3.8: Call-ID twice", "Subject", "i: a", 400, "Repeated Call-ID"),
        .init("RFC 4475 §3.3.8: CSeq twice", "Subject", "CSeq: 1 INVITE", 400, "Repeated CSeq"),
        .init("RFC 4475 §3.3.8: Max-Forwards twice", "Subject", "Max-Forwards: 5", 400, "Repeated Max-Forwards"),
        .init("RFC 4475 §3.3.9: Content-Length twice", "Subject", "l: 0", 400, "Repeated Content-Length"),
        .init("§20.20: no scheme in From", "From", "From: <a>;tag=1", 400, "Bad From"),
        .init("§20.20: a bracket never closes", "From", "From: <sip:a@b;tag=1", 400, "Bad From"),
        .init("RFC 4475 §3.1.2.6: a quote never closes", "To", "To: \"Mr. J. <sip:a@b>", 400, "Bad To"),
        .init("RFC 4475 §3.1.2.14: blanks in the URI", "To", "To: < sip:a@b >", 400, "Bad To"),
        .init("§25.1: a blank in front of the user", "From", "From: <sip: a@b>;tag=1", 400, "Bad From"),
        .init("§25.1: a blank behind the user", "From", "From: <sip:a @b>;tag=1", 400, "Bad From"),
        .init("§25.1: a blank in the host", "From", "From: <sip:a@b c>;tag=1", 400, "Bad From"),
        .init("§25.1: a blank without a user", "From", "From: <sip:b c>;tag=1", 400, "Bad From"),
        .init("§25.1: a blank in a URI without brackets", "To", "To: sip:a b@c", 400, "Bad To"),
        .init(
            "§16.3 step 5: of several options the unknown ones are named",
            [("Proxy-Require", "Proxy-Require: privacy, foo\r\nProxy-Require: PRIVACY,bar")],
            FailureResponse(420, "Bad Extension", .unsupported(options: Array("foo, bar".utf8)))),
        .init("RFC 4475 §3.1.2.1: a Via below that is none", "Via", "Via: SIP/2.0/UDP a;;,;,,", 400, "Bad Via"),
        .init("§20.39: an empty To", "To", "To: <>", 400, "Bad To"),
        .init("§8.1.1.5: CSeq out of range", "CSeq", "CSeq: 2147483648 INVITE", 400, "Bad CSeq"),
        .init("§20.16: no method in CSeq", "CSeq", "CSeq: 1", 400, "Bad CSeq"),
        .init("§20.16: no number in CSeq", "CSeq", "CSeq: INVITE", 400, "Bad CSeq"),
        .init("RFC 4475 §3.1.2.17: another method", "CSeq", "CSeq: 1 OPTIONS", 400, "CSeq Method Mismatch"),
        .init("§7.1: methods have case", "CSeq", "CSeq: 1 invite", 400, "CSeq Method Mismatch"),
        .init("RFC 4475 §3.1.2.3: below zero", "Content-Length", "l: -999", 400, "Bad Content-Length"),
        .init("§18.3: a body cut short", "Content-Length", "l: 7", 400, "Body Shorter Than Content-Length"),
        .init(
            "§16.3 step 5: options named in Unsupported",
            [("Proxy-Require", "Proxy-Require: noProxiesSupportThis,\r\n norDoAnyProxiesSupportThis")],
            FailureResponse(
                420, "Bad Extension",
                .unsupported(options: Array("noProxiesSupportThis, norDoAnyProxiesSupportThis".utf8)))),
        .init(
            "§16.3 step 5: an option that is no token is not echoed",
            [("Proxy-Require", "Proxy-Require: \"a\"")], FailureResponse(420, "Bad Extension")),
    ]

    @Test(arguments: refused)
    func `a request that breaks a rule gets its response`(row: Row) throws {
        let message = try WireMessage.message(WireMessage.invite(row.changes), body: "abcdef")
        let refusal = RequestValidity.refusal(of: message)
        #expect(refusal?.status == row.refusal?.status)
        #expect(refusal?.phrase.description == row.refusal?.phrase.description)
        #expect(refusal?.field == row.refusal?.field)
    }

    @Test(arguments: [
        Row("as it is", [], nil), Row("§16.6 step 3: no Max-Forwards", [("Max-Forwards", nil)], nil),
        Row("§20.14: no Content-Length over UDP", [("Content-Length", nil)], nil),
        Row("§7.1: the version has no case", [("INVITE", "INVITE sip:a@b sip/2.0")], nil),
        Row("RFC 3966: tel", [("INVITE", "INVITE tel:+4930123 SIP/2.0")], nil),
        Row("RFC 5031: urn", [("INVITE", "INVITE urn:service:sos SIP/2.0")], nil),
        Row("§25.1: a question mark in the user", [("INVITE", "INVITE sip:a?b@c SIP/2.0")], nil),
        Row("§20.16: white space in CSeq", [("CSeq", "CSeq: 0009\r\n  INVITE")], nil),
        Row("RFC 5118 §4.1: IPv6 in brackets", [("INVITE", "INVITE sip:[2001:db8::10]:5070;lr SIP/2.0")], nil),
        Row("§25.1: a colon in the user part", [("INVITE", "INVITE sip:a:b;c=[d]@e.f-g.h:1;x=y:z SIP/2.0")], nil),
        Row("a host with an underscore", [("INVITE", "INVITE sip:100@pbx_1 SIP/2.0")], nil),
        Row("§25.1: every sign of a token", [("Subject", "X-.!%*_+`'~9: a")], nil),
        Row("§20.22: the largest", [("Max-Forwards", "Max-Forwards: 255")], nil),
        Row("§20.8: an empty Proxy-Require asks for nothing", [("Proxy-Require", "Proxy-Require: ,")], nil),
        Row("RFC 3323 §4.3: a privacy service", [("Proxy-Require", "Proxy-Require: privacy")], nil),
        Row("§7.3.1: option tags have no case", [("Proxy-Require", "Proxy-Require: Privacy, PRIVACY")], nil),
        Row("a blank in the user of From", [("From", "From: <sip:Restricted Number@b>;tag=1")], nil),
        Row("a blank in the user of To", [("To", "To: \"A\" <sip:+1 202 555@b;user=phone>")], nil),
        Row("RFC 4475 §3.4.1: RFC 2543 has no tag", [("From", "From: sip:a@b")], nil),
        Row("RFC 4475 §3.1.2.15: a comma in a bare name", [("From", "From: Bell, A <sip:a@b>;tag=1")], nil),
        Row("RFC 4475 §3.1.2.15: a comma in the name of To", [("To", "To: Watson, T <sip:t@b>")], nil),
    ])
    func `a request that breaks none goes on`(row: Row) throws {
        let message = try WireMessage.message(WireMessage.invite(row.changes), body: "abcdef")
        #expect(RequestValidity.refusal(of: message) == nil)
    }

    @Test(arguments: ["ACK", "CANCEL"])
    func `the extensions of a request that cannot be refused do not matter`(method: String) throws {
        // §20.29: Proxy-Require is not checked in ACK (no response) and CANCEL (hop by hop).
        let lines = WireMessage.invite([
            ("INVITE", "\(method) sip:a@b SIP/2.0"), ("CSeq", "CSeq: 1 \(method)"),
            ("Proxy-Require", "Proxy-Require: x"),
        ])
        #expect(RequestValidity.refusal(of: try WireMessage.message(lines)) == nil)
    }

    @Test(
        arguments: [
            ("Max-Forwards", "Max-Forwards: 0"), ("Max-Forwards", "Max-Forwards: many"),
            ("Proxy-Require", "Proxy-Require: x"),
            ("INVITE", "INVITE http://a SIP/2.0"), ("INVITE", "INVITE sip:a@ SIP/2.0"),
        ])
    func `rules for forwarding are none for requests that end here, §16.3`(name: String, line: String) throws {
        let message = try WireMessage.message(WireMessage.invite([(name, line)]))
        #expect(RequestValidity.formRefusal(of: message) == nil)
        #expect(RequestValidity.forwardingRefusal(of: message) != nil)
    }

    @Test func `a response is not judged`() throws {
        #expect(RequestValidity.refusal(of: try WireMessage.message(["SIP/2.0 200 OK"])) == nil)
    }

    @Test func `the number and method of CSeq`() throws {
        let message = try WireMessage.message(["SIP/2.0 200 OK", "CSeq: 0009\t INVITE"])
        let sequence = try #require(message.sequence)
        #expect(sequence.number == 9)
        #expect(message.text(sequence.method) == "INVITE")
        #expect(try WireMessage.message(["SIP/2.0 200 OK", "CSeq:"]).sequence == nil)
        #expect(try WireMessage.message(["SIP/2.0 200 OK"]).sequence == nil)
    }
}
