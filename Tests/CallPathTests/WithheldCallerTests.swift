// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("Callers who are not to be named, RFC 3323 §4.2, RFC 3325 §9.3, RFC 7044 §10.1")
struct WithheldCallerTests {
    private static let asserted = "P-Asserted-Identity: <sip:+61491570156@c>\n"

    private func invite(_ extra: String, from: String?) throws -> (
        sent: String, reason: PassThroughReason?, caller: UInt64
    ) {
        let gateway = try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))])
        var text = request("INVITE", extra: extra)
        if let from { text = text.replacing("\"Carrier\" <sip:+61491570156@carrier.example>", with: from) }
        let sent = gateway.receive(text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
        let update = try #require(gateway.updates().first)
        return (try #require(sent.first { $0.hasPrefix("INVITE ") }), update.reason, update.caller)
    }

    @Test(arguments: [
        ("id", true), ("user", true), ("header", true), ("ID", true), ("critical;id", true), ("id;none", true),
        ("session;user", true),
        // They ask for something else than that the caller be not named.
        ("none", false), ("NONE", false), ("critical", false), ("none;critical", false), ("session", false),
        ("history", false), (" none ;; critical ", false), ("session, history", false),
        // A value that nobody knows may be meant so.
        ("full", true), ("yes", true), ("uri", true), ("name", true), ("\"id\"", true), ("off", true), ("no", true),
        ("none;full", true), ("id-header", true), ("1", true),
        // So may an empty one.
        ("", true), (" ", true), (";", true), (",;,", true),
    ])
    func `a Privacy value withholds the caller unless it is known to ask for something else`(
        value: String, isWithheld: Bool
    ) throws {
        let (sent, reason, caller) = try invite("Privacy: \(value)\n" + Self.asserted, from: nil)
        #expect(reason == (isWithheld ? .privacy : nil))
        #expect((caller == 0) == isWithheld)
        #expect(sent.contains("Acme") != isWithheld)
    }

    // A Call-ID as several session border controllers write it: the caller's number and a time.
    @Test(arguments: [
        ("Privacy: id\n" + asserted, GatewayUnderTest.trunk), ("Privacy: user\n", GatewayUnderTest.pbx),
    ]) func `of a withheld caller's Call-ID nothing enters the ring but a keyed hash`(
        extra: String, source: PeerAddress
    ) throws {
        let callID = "61491570156-1732830000@sbc.carrier.example"
        func kept(_ extra: String, secret: Secret) throws -> String {
            var options = GatewayUnderTest.Options()
            options.secret = secret
            let gateway = try GatewayUnderTest(numbers: [], options: options)
            let invite = request("INVITE", extra: extra).replacing("story@carrier.example", with: callID)
                .replacing("sip:100@192.0.2.20 SIP", with: "sip:+61255502001@192.0.2.20 SIP")
            _ = gateway.receive(invite, from: source)
            var texts: [String] = []
            _ = gateway.ring.read(after: 0, limit: 10) { _, text in
                if let text { texts.append(String(decoding: text.sipCallID, as: UTF8.self)) }
            }
            return try #require(texts.first)
        }
        let secret = Secret(key0: 7, key1: 8)
        let name = try kept(extra, secret: secret)
        #expect(name.hasPrefix("withheld-") && name.utf8.count == 45 && !name.contains("570156"))
        #expect(WithheldCallID.names(of: callID, secret) == [name], "whoever has the Call-ID finds the call")
        let next = Secret(key0: 9, key1: 9)
        #expect(try kept(extra, secret: next) != name, "nobody finds the number by trying without the secret")
        #expect(WithheldCallID.names(of: callID, next.replacing(secret)).last == name, "an earlier secret finds it too")
        #expect(try kept("Privacy: none\n", secret: secret) == callID)
    }

    @Test func `without the header nobody is withheld, and one of several lines is enough`() throws {
        #expect(try invite(Self.asserted, from: nil).reason == nil)
        #expect(try invite("Privacy: none\nPrivacy: id\n", from: nil).reason == .privacy)
    }

    @Test(arguments: [
        "<sip:anonymous@anonymous.invalid>", "\"Anonymous\" <sip:anonymous@carrier.example>", "<sip:ANONYMOUS@c>",
        "<sip:anonymous%2Eanonymous@c>", "<sip:%61nonymous@c>", "<sip:unknown@c>", "<sip:Unknown@unknown.invalid>",
        "<sip:blocked@c>", "<sip:withheld@c>", "<sip:restricted@c>", "<sip:private@c>", "<sip:unavailable@c>",
        "<sip:0000000000@c>", "<sip:0@c>", "<sip:+000@c>", "<tel:+266696687>", "<sip:+7378742833@c;user=phone>",
        "<sip:+86282452253@c>", "<sip:+8656696;x=y@c>", "sip:anonymous@c",
        // The name alone says it, beside a number.
        "\"Anonymous\" <sip:+61491570156@c>", "anonymous <sip:+61491570156@c>", "\" Private \" <sip:+61491570156@c>",
        "\"Withheld Number\" <sip:+61491570156@c>", "\"RESTRICTED\" <sip:+61491570156@c>",
    ])
    func `a From of nobody withholds the caller that is asserted`(from: String) throws {
        let (sent, reason, caller) = try invite(Self.asserted, from: from)
        #expect(reason == .privacy)
        #expect(caller == 0)
        #expect(sent.contains("From: \(from);tag=a\r\n") && !sent.contains("Acme"))
    }

    @Test(arguments: [
        "<sip:account4711@c>", "<sip:private.hospital@c>", "<sip:unknown1@c>", "<sip:00491570156@c>",
        "<sip:asterisk@c>",
        "\"Anonymous Coffee\" <sip:+61491570156@c>", "\"Unknown\" <sip:+61491570156@c>",
        "\"Private Hospital\" <sip:1@c>",
        "<sip:+266696688@c>",
    ])
    func `other names leave the caller that is asserted`(from: String) throws {
        #expect(try invite(Self.asserted, from: from).reason == nil)
    }

    @Test(arguments: [
        "P-Asserted-Identity: \"Anonymous\" <sip:+61491570156@c>\n",
        "Remote-Party-ID: \"Anonymous\" <sip:+61491570156@c>;party=calling\n",
    ])
    func `so does the name that is asserted`(extra: String) throws {
        #expect(try invite(extra, from: nil).reason == .privacy)
    }

    @Test(arguments: ["+86282452253", "+266696687", "1300FLOWERS", "+1800FLOWERS"])
    func `what is no number names nobody where it is asserted`(user: String) throws {
        let (_, reason, caller) = try invite("P-Asserted-Identity: <sip:\(user)@c>\n", from: nil)
        #expect(reason == .numberUnclear)
        #expect(caller == 0)
    }

    // RFC 3323 §4.3: who wants a privacy service says so in Proxy-Require, beside Privacy or alone. 3CX's own documents
    // show an INVITE with it.
    @Test(arguments: [
        ("Proxy-Require: privacy\n", true), ("Proxy-Require: Privacy\nPrivacy: id\n", true),
        ("Proxy-Require: privacy\nPrivacy: none\n", false), ("Proxy-Require: privacy, privacy\n", true),
        ("Privacy: none\n", false),
    ])
    func `an INVITE that requires privacy of proxies goes on, without a brand unless it wants none`(
        lines: String, isWithheld: Bool
    ) throws {
        let (sent, reason, caller) = try invite(lines + Self.asserted, from: nil)
        #expect(reason == (isWithheld ? .privacy : nil))
        #expect((caller == 0) == isWithheld)
        #expect(sent.contains("Acme") != isWithheld)
        for line in lines.split(separator: "\n") { #expect(sent.contains("\r\n\(line)\r\n"), "as received") }
    }

    @Test func `an unknown option beside it is refused by its name, but not in an ACK or a CANCEL`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let lines = "Proxy-Require: privacy, foo\n"
        let refused = gateway.receive(request("INVITE", extra: lines), from: GatewayUnderTest.trunk)
        let text = try #require(refused.to(GatewayUnderTest.trunk).first)
        #expect(text.hasPrefix("SIP/2.0 420 Bad Extension\r\n") && text.contains("\r\nUnsupported: foo\r\n"))
        for method in ["ACK", "CANCEL"] {
            let text = request(method, extra: lines, toTag: method == "ACK" ? ";tag=p" : "", branch: "x\(method)")
            #expect(gateway.receive(text, from: GatewayUnderTest.trunk).requests(method).count == 1)
        }
    }

    /// Users with a blank: the URI is none (RFC 3261 §25.1), and the call goes on without a name.
    @Test(arguments: [
        ("<sip:Restricted Number@carrier.example>", PassThroughReason.privacy),
        ("<sip:Private Caller@c>", .privacy), ("\"A\" <sip:Anonymous Caller@c>", .privacy),
        ("<sip:+61 491 570 156@c>", .numberUnclear), ("<sip:Wireless Caller@c>", .numberUnclear),
    ])
    func `a From with a blank in its user loses no call`(from: String, reason: PassThroughReason) throws {
        let (sent, decision, caller) = try invite("", from: from)
        #expect(decision == reason && caller == 0)
        #expect(sent.contains("\r\nFrom: \(from);tag=a\r\n"))
    }

    @Test func `beside an asserted number such a From is the account's, and stays as it is`() throws {
        let (sent, reason, _) = try invite(Self.asserted, from: "<sip:Wireless Caller@c>")
        #expect(reason == nil)
        #expect(sent.contains("\r\nFrom: <sip:Wireless Caller@c>;tag=a\r\n"))
        #expect(sent.contains("P-Asserted-Identity: \"Acme"))
    }
}
