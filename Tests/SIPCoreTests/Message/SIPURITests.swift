// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("sip, sips and tel URIs, RFC 3261 §19.1 and RFC 3966 §3")
struct SIPURITests {
    struct Row: Sendable, CustomTestStringConvertible {
        let uri: String
        var scheme = SIPURI.Scheme.sip
        var user = ""
        var host = ""
        var port: UInt16?
        var userParameters = ""
        var parameters = ""

        var testDescription: String { uri }
    }

    @Test(arguments: [
        Row(uri: "sip:b", host: "b"), Row(uri: "SIP:a@b", user: "a", host: "b"),
        Row(uri: "sip:a@b:5062;lr;x=y", user: "a", host: "b", port: 5062, parameters: ";lr;x=y"),
        Row(uri: "sips:+49301234@b.example", scheme: .sips, user: "+49301234", host: "b.example"),
        Row(uri: "sip:a:secret@b", user: "a", host: "b"),
        Row(
            uri: "sip:+49;phone-context=x;verstat=y@b;user=phone", user: "+49", host: "b",
            userParameters: ";phone-context=x;verstat=y", parameters: ";user=phone"),
        Row(
            uri: "sip:user;par=u%40example.net@example.com", user: "user", host: "example.com",
            userParameters: ";par=u%40example.net"),  // RFC 4475 §3.1.1.9
        Row(uri: "sip:null-%00-null@example.com", user: "null-%00-null", host: "example.com"),  // RFC 4475 §3.1.1.4
        Row(uri: "sip:[2001:db8::1]", host: "2001:db8::1"),
        Row(uri: "sip:a@[2001:db8::1]:5070;lr", user: "a", host: "2001:db8::1", port: 5070, parameters: ";lr"),
        Row(uri: "sip:a@b;x=1?Subject=hi", user: "a", host: "b", parameters: ";x=1"),
        Row(uri: "sip:a@b:65535", user: "a", host: "b", port: 65535),
        Row(uri: "tel:+1-201-555-0123", scheme: .tel, user: "+1-201-555-0123"),
        Row(
            uri: "tel:7042;phone-context=example.com", scheme: .tel, user: "7042",
            userParameters: ";phone-context=example.com"),
        Row(
            uri: "TEL:+49301234;verstat=TN-Validation-Failed", scheme: .tel, user: "+49301234",
            userParameters: ";verstat=TN-Validation-Failed"),
    ])
    func `a URI is taken apart as written`(row: Row) throws {
        let uri = try #require(SIPURI(Array(row.uri.utf8)))
        #expect(uri.scheme == row.scheme)
        #expect(text(uri.user) == row.user)
        #expect(text(uri.host) == row.host)
        #expect(uri.port == row.port)
        #expect(text(uri.userParameters) == row.userParameters)
        #expect(text(uri.parameters) == row.parameters)
    }

    @Test(arguments: [
        "", ":", "sip", "sip:", "sip:@", "sip:a@", "tel:", "tel:;phone-context=a", "urn:service:sos", "http://a",
        "sip:a@b:0", "sip:a@b:65536", "sip:a@b:99999999999", "sip:a@b:x", "sip:a\0b@c", "a:sip:b@c", "sip:[::1",
        "sip:+49301234@evil@b", "sip:+49301234@b?Subject=a@c", "sip:a@b;x\r\n ;lr", "sip:a b@c", "sip:a@b;x=\t1",
        "sip:a\u{7F}@b", "tel:+49 30",
    ])
    func `what is not certain is no URI`(uri: String) {
        #expect(SIPURI(Array(uri.utf8)) == nil)
    }

    @Test(arguments: [("a", 2044, true), ("a", 2045, false), (";", 64, true), (";", 65, false), ("&", 65, false)])
    func `hostile lengths never reach the grammar`(filler: String, count: Int, isRead: Bool) {
        let uri =
            filler == "a"
            ? "sip:" + String(repeating: "a", count: count - 1) + "b"
            : "sip:a@b;x" + String(repeating: filler, count: count - 1)
        #expect((SIPURI(Array(uri.utf8)) != nil) == isRead)
    }

    @Test func `parameters are found by name`() throws {
        let uri = try #require(SIPURI(Array("sip:+49;Verstat=No;phone-context=+49@b;LR;ttl=1".utf8)))
        #expect(uri.userParameter("verstat").map(text) == "No")
        #expect(uri.userParameter("phone-context").map(text) == "+49")
        #expect(uri.userParameter("ttl") == nil)
        #expect(uri.parameter("lr").map(text) == "")
        #expect(uri.parameter("ttl").map(text) == "1")
        #expect(uri.parameter("verstat") == nil)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1:5060"), ("[2001:DB8::1]", "[2001:db8::1]:5060"), ("2001:db8::1", "[2001:db8::1]:5060"),
        ("", nil), ("[", nil), ("]", nil), ("[]", nil), ("a.example", nil), ("192.0.2", nil), ("192.0.2.256", nil),
        ("::1\0", nil), ("192.0.2.1 ", nil),
    ])
    func `only address literals are addresses`(host: String, address: String?) {
        #expect(PeerAddress(host: Array(host.utf8)[...], port: 5060)?.description == address)
    }

    @Test func `one host may have two ports`() {
        let one = PeerAddress(ipv6High: 0x2001_0db8_0000_0000, low: 1, port: 5060)
        #expect(one.with(port: 5061).hasSameHost(as: one))
        #expect(one.with(port: 5061) != one)
        #expect(!PeerAddress(ipv4: 1, port: 5060).hasSameHost(as: PeerAddress(ipv6High: 0, low: 1, port: 5060)))
    }
}
