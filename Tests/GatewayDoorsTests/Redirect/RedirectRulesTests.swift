// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import SIPCore
import SeededRandom
import Testing

@Suite("The redirect door: a stateless server, RFC 3261 §8.2.7 and §8.3")
struct RedirectRulesTests {
    private static let client = PeerAddress(ipv4: 0xC000_0214, port: 40_000)  // 192.0.2.20
    private static let invite = RedirectMessages.request()

    private func handle(
        _ text: String, as sender: RedirectDoor.Sender = .client(.assertedIdentity), _ names: NamesDoor? = nil
    ) throws -> (event: RedirectEvent, reply: RedirectDoor.Reply?) {
        try handle(Array(text.utf8), as: sender, names)
    }

    private func handle(
        _ bytes: [UInt8], as sender: RedirectDoor.Sender = .client(.assertedIdentity), _ names: NamesDoor? = nil
    ) throws -> (event: RedirectEvent, reply: RedirectDoor.Reply?) {
        try (names ?? NamesDoor()).redirectDoor().response(
            to: bytes, from: Self.client, as: sender, at: 1_800_000_000)
    }

    private func lines(_ text: String, as sender: RedirectDoor.Sender = .client(.assertedIdentity)) throws -> [String] {
        RedirectMessages.lines(try #require(try handle(text, as: sender).reply).bytes)
    }

    // MARK: Methods and forms

    struct Row: Sendable, CustomTestStringConvertible {
        /// The section of RFC 3261 that asks for it.
        let section: String
        let request: String
        let event: RedirectEvent
        /// Nil for no response.
        let status: String?
        var field: String?

        var testDescription: String { "\(section): \(request.prefix(40))" }
    }

    private typealias Messages = RedirectMessages
    private static let allow = "Allow: INVITE, ACK, CANCEL, OPTIONS"

    static let rows: [Row] = [
        Row(section: "21.3.3", request: Messages.request(), event: .matched, status: "302 Moved Temporarily"),
        Row(
            section: "21.4.5", request: Messages.request(caller: "+61255501999"), event: .unmatched(.noMatch),
            status: "404 Not Found"),
        // "ACK requests are ignored" by a stateless server.
        Row(
            section: "8.2.7", request: Messages.request("ACK", to: "<sip:100@192.0.2.20>;tag=hd1"),
            event: .acknowledged, status: nil),
        // "For well-formed CANCEL requests, it SHOULD return a 2xx response."
        Row(section: "8.3", request: Messages.request("CANCEL"), event: .cancelled, status: "200 OK"),
        // "Any unknown option tags in Require" are ignored by a redirect server.
        Row(
            section: "8.3", request: Messages.request(lines: "Require: 100rel, nothing-known\nUnknown: x\n"),
            event: .matched, status: "302 Moved Temporarily"),
        Row(section: "11.2", request: Messages.request("OPTIONS"), event: .options, status: "200 OK", field: allow),
        Row(
            section: "8.2.1", request: Messages.request("REGISTER"), event: .refused,
            status: "405 Method Not Allowed", field: allow),
        Row(
            section: "8.2.1", request: Messages.request("BYE", to: "<sip:100@192.0.2.20>;tag=b"), event: .refused,
            status: "405 Method Not Allowed", field: allow),
        Row(
            section: "8.2.1", request: Messages.request("PUBLISH"), event: .refused, status: "405 Method Not Allowed",
            field: allow),
        Row(
            section: "12.2.2", request: Messages.request(to: "<sip:100@192.0.2.20>;tag=b"), event: .refused,
            status: "481 Call/Transaction Does Not Exist"),
        Row(
            section: "12.2.2", request: Messages.request("OPTIONS", to: "<sip:100@192.0.2.20>;tag=b"), event: .refused,
            status: "481 Call/Transaction Does Not Exist"),
        // A server of requests, no proxy: Max-Forwards is none of its business.
        Row(
            section: "8.2.2", request: Messages.request().replacing("Max-Forwards: 70", with: "Max-Forwards: 0"),
            event: .matched, status: "302 Moved Temporarily"),
        Row(
            section: "8.1.1.5", request: Messages.request(sequence: "1 OPTIONS"), event: .malformed,
            status: "400 CSeq Method Mismatch"),
        Row(
            section: "21.5.6", request: Messages.request().replacing("SIP/2.0\r\nVia: ", with: "SIP/7.0\r\nVia: "),
            event: .malformed, status: "505 Version Not Supported"),
        Row(
            section: "18.3",
            request: Messages.request().replacing("Content-Length: 0", with: "Content-Length: 9"), event: .malformed,
            status: "400 Body Shorter Than Content-Length"),
        Row(
            section: "7.3.1", request: Messages.request(lines: "no colon\n"), event: .malformed,
            status: "400 Bad Header Line"),
        Row(
            section: "18.1.2", request: "SIP/2.0 302 Moved Temporarily\r\nVia: SIP/2.0/UDP a\r\n\r\n", event: .ignored,
            status: nil),
        Row(section: "7.5", request: "\r\n\r\n", event: .ignored, status: nil),
        Row(section: "7.1", request: "GET / HTTP/1.1\r\n\r\n", event: .ignored, status: nil),
        // A Request-URI that no Contact can have goes on.
        Row(
            section: "19.1.1", request: Messages.request(uri: "sip:100@192.0.2.20?Subject=x"), event: .unusable,
            status: "404 Not Found"),
        Row(
            section: "19.1.1", request: Messages.request(uri: "urn:service:sos"), event: .unusable,
            status: "404 Not Found"),
        Row(
            section: "19.1.1", request: Messages.request(uri: "sip:1 00@192.0.2.20"), event: .unusable,
            status: "404 Not Found"),
        Row(
            section: "19.1.1", request: Messages.request(uri: "sip:100@192.0.2.20>;q=1,<sip:x@y"), event: .unusable,
            status: "404 Not Found"),
    ]

    @Test(arguments: rows) func `each request has its response`(_ row: Row) throws {
        let (event, reply) = try handle(row.request)
        #expect(event == row.event)
        let lines = reply.map { RedirectMessages.lines($0.bytes) }
        #expect(lines?.first == row.status.map { "SIP/2.0 \($0)" })
        if let field = row.field { #expect(lines?.contains(field) == true) }
        if let lines { #expect(lines.suffix(3) == ["Content-Length: 0", "", ""]) }
    }

    @Test func `the fields of the request come back as they were`() throws {
        // RFC 3261 §8.2.6.2: Via, From, Call-ID and CSeq in order, To with a tag.
        let lines = try lines(Self.invite)
        #expect(lines[1] == "Via: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bK1;rport=40000;received=192.0.2.20")
        #expect(lines[2] == "From: \"WIRELESS CALLER\" <sip:+61255501301@carrier.example>;tag=a")
        #expect(lines[3].wholeMatch(of: /To: <sip:100@192\.0\.2\.20>;tag=hd[0-9a-f]{16}/) != nil)
        #expect(lines[4...5] == ["Call-ID: redirect@192.0.2.20", "CSeq: 1 INVITE"])
        #expect(lines[6] == "Contact: <sip:100@192.0.2.20;herald-redirect>;q=0.99")
        #expect(lines[7] == "P-Asserted-Identity: \"Harbour Dental\" <sip:+61255501301@carrier.example>")
        #expect(lines[8] == "Reason: SIP;cause=302;text=\"matched\"")
    }

    /// RFC 3261 §18.2.2 and RFC 3581 §4: the topmost Via, what becomes of it, and the port of the response.
    @Test(arguments: [
        ("SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bK1", "SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bK1", 5060),
        ("SIP/2.0/UDP 192.0.2.20;branch=z9hG4bK1", "SIP/2.0/UDP 192.0.2.20;branch=z9hG4bK1", 5060),
        (
            "SIP/2.0/UDP 192.0.2.20:5070;rport;branch=z9hG4bK1",
            "SIP/2.0/UDP 192.0.2.20:5070;rport=40000;branch=z9hG4bK1;received=192.0.2.20", 40_000
        ),
        (
            "SIP/2.0/UDP pbx.example:5062;branch=z9hG4bK1",
            "SIP/2.0/UDP pbx.example:5062;branch=z9hG4bK1;received=192.0.2.20", 5062
        ),
        // A sender cannot name another destination than its own address.
        (
            "SIP/2.0/UDP 203.0.113.9:53;branch=z9hG4bK1",
            "SIP/2.0/UDP 203.0.113.9:53;branch=z9hG4bK1;received=192.0.2.20", 53
        ),
        (
            "SIP/2.0/UDP 192.0.2.20;received=203.0.113.9;branch=z9hG4bK1",
            "SIP/2.0/UDP 192.0.2.20;received=192.0.2.20;branch=z9hG4bK1", 5060
        ),
    ]) func `a response goes back by its Via`(via: String, written: String, port: UInt16) throws {
        let reply = try #require(try handle(RedirectMessages.request(via: via)).reply)
        #expect(RedirectMessages.lines(reply.bytes)[1] == "Via: \(written)")
        #expect(reply.destination == Self.client.with(port: port))
    }

    @Test func `a retransmission gets the same bytes, and another call another tag`() throws {
        let names = try NamesDoor()
        let first = try handle(Self.invite, names).reply
        #expect(try handle(Self.invite, names).reply == first)
        // RFC 3261 §8.2.7: the tag is the same also after a restart, which keeps the secret.
        #expect(try handle(Self.invite).reply == first)
        let cancel = try lines(RedirectMessages.request("CANCEL"))
        #expect(cancel[3] == RedirectMessages.lines(first?.bytes ?? [])[3])
        #expect(try lines(RedirectMessages.request(callID: "other@192.0.2.20"))[3] != cancel[3])
    }

    // MARK: Places of the name

    @Test(arguments: [
        (
            Redirection.NamePlace.assertedIdentity, "sip:100@192.0.2.20",
            [
                "Contact: <sip:100@192.0.2.20;herald-redirect>;q=0.99",
                #"P-Asserted-Identity: "Fish & \"Chips\" 100 percent {x}" <sip:+61255501302@carrier.example>"#,
            ]
        ),
        (
            .contact, "sip:100@192.0.2.20;user=phone",
            [
                "Contact: <sip:100@192.0.2.20;user=phone;herald-redirect?P-Asserted-Identity="
                    + "%22Fish%20%26%20%5C%22Chips%5C%22%20100%20percent%20%7Bx%7D%22%20"
                    + "%3Csip%3A%2B61255501302%40carrier.example%3E>;q=0.99"
            ]
        ),
        // RFC 3966 §3: a tel URI has no headers.
        (
            .contact, "tel:+61255502001",
            [
                "Contact: <tel:+61255502001;herald-redirect>;q=0.99",
                #"P-Asserted-Identity: "Fish & \"Chips\" 100 percent {x}" <sip:+61255501302@carrier.example>"#,
            ]
        ),
        (
            .header("X-Caller-Name"), "sip:100@192.0.2.20",
            [
                "Contact: <sip:100@192.0.2.20;herald-redirect>;q=0.99",
                #"X-Caller-Name: Fish & "Chips" 100 percent {x}"#,
            ]
        ),
    ]) func `a client takes the name in its place`(
        place: Redirection.NamePlace, uri: String, expected: [String]
    ) throws {
        let request = RedirectMessages.request(uri: uri, caller: "+61255501302")
        let lines = try lines(request, as: .client(place))
        #expect(Array(lines[6..<(6 + expected.count)]) == expected)
        #expect(lines[6 + expected.count] == "Reason: SIP;cause=302;text=\"matched\"")
    }

    /// Names of random characters, as a directory may send them: nothing of them becomes a header field or ends a quote.
    @Test func `no name breaks a header field`() throws {
        var random = RepeatableRandom(seed: 113)
        let signs: [Character] = Array("aZ0 \"\\<>;,:%&?=@#${}|'/\r\n\t\u{0}\u{7F}\u{85}\u{2028}\u{202E}äß北🙂\u{301}")
        let profile = RenderingProfile()
        for _ in 0..<2_000 {
            let raw = String(
                (0..<Int.random(in: 1...40, using: &random)).map { _ in signs.randomElement(using: &random)! })
            guard let name = DisplayName(raw, profile: profile) else { continue }
            let invite = try SIPMessage.index(Array(Self.invite.utf8))
            let caller = Array("sip:+61255501301@carrier.example".utf8)
            for place in [Redirection.NamePlace.assertedIdentity, .contact, .header("X-Caller-Name")] {
                let field = Redirection(naming: name.text, caller, in: place).fields(for: invite)
                let bytes = LocalMessages.response(
                    to: invite, status: 302, phrase: "Moved Temporarily", toTag: 1, field: field, source: Self.client)
                let response = try SIPMessage.index(bytes)
                let lines = RedirectMessages.lines(bytes)
                #expect(lines.count == (place == .contact ? 11 : 12), "\(name.text.debugDescription)")
                let contact = try #require(response.first(.contact))
                let address = try #require(NameAddress(bytes, contact.value), "\(name.text.debugDescription)")
                #expect(address.extent.parameters.count == ";q=0.99".utf8.count)
                if place == .assertedIdentity {
                    let asserted = try #require(response.first(.pAssertedIdentity))
                    let identity = try #require(NameAddress(bytes, asserted.value), "\(name.text.debugDescription)")
                    #expect(Array(bytes[identity.extent.displayName]) == Array(name.quoted.utf8))
                }
            }
        }
    }

    // MARK: No amplifier

    @Test func `a limited and an unknown sender get no longer response than the request`() throws {
        let usual = RedirectMessages.request(
            lines: "Contact: <sip:carrier@192.0.2.20:5060>\nAllow: INVITE, ACK, CANCEL, BYE, OPTIONS\n")
        let limited = try handle(usual, as: .limited)
        #expect(limited.event == .limited)
        #expect(limited.reply.map { RedirectMessages.lines($0.bytes)[0] } == "SIP/2.0 404 Not Found")
        let unknown = try handle(usual, as: .unknown)
        #expect(unknown.event == .notAllowed)
        #expect(unknown.reply.map { RedirectMessages.lines($0.bytes)[0] } == "SIP/2.0 403 Forbidden")
        for sender in [RedirectDoor.Sender.limited, .unknown] {
            // The response would be longer: it has a tag, and the parameters of the source.
            let short =
                "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP c;rport\r\nf: <sip:a@b>\r\nt: <sip:a@b>\r\ni: 1\r\n"
                + "CSeq: 1 INVITE\r\n\r\n"
            #expect(try handle(short, as: sender).reply == nil)
            for text in ["ACK", "SIP/2.0 200 OK"].map({ usual.replacing("INVITE", with: $0) }) {
                #expect(try handle(text, as: sender).reply == nil)
            }
        }
        #expect(try handle(RedirectMessages.request("OPTIONS"), as: .limited).reply == nil)
    }

    /// Bytes of any kind: a response is one, and is short where the source may be forged.
    @Test func `mutated requests are handled`() throws {
        let names = try NamesDoor()
        let original = Array(
            RedirectMessages.request(lines: "P-Asserted-Identity: <tel:+61255501301>\n", body: "v=0").utf8)
        var random = RepeatableRandom(seed: 58)
        for _ in 0..<5_000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(contentsOf: bytes[place...].prefix(9), at: place)
                }
            }
            for sender in [RedirectDoor.Sender.client(.contact), .limited, .unknown] {
                guard let reply = try handle(bytes, as: sender, names).reply else { continue }
                let response = try SIPMessage.index(reply.bytes)
                #expect((200..<600).contains(response.status ?? 0) && reply.bytes.count < 2 * bytes.count + 1_000)
                if case .client = sender { continue }
                #expect(reply.bytes.count <= bytes.count)
            }
        }
    }

    // MARK: State of the gateway

    @Test func `before the first sync, and with a closed gate, a call goes on at once`() throws {
        let empty = try handle(Self.invite, NamesDoor(isEmpty: true))
        #expect(empty.event == .unmatched(.noMatch) && empty.reply != nil)
        let closed = try handle(Self.invite, NamesDoor(gates: BrandingGates(capReached: true)))
        #expect(closed.event == .unmatched(.gatedCapReached))
        #expect(closed.reply.map { RedirectMessages.lines($0.bytes)[0] } == "SIP/2.0 404 Not Found")
    }

    @Test func `503 in place of 404 has no Retry-After`() throws {
        let names = try NamesDoor(isEmpty: true)
        let reply = names.redirectDoor(.serviceUnavailable).response(
            to: Array(Self.invite.utf8), from: Self.client, as: .client(.assertedIdentity), at: 1_800_000_000
        ).reply
        let lines = RedirectMessages.lines(reply?.bytes ?? [])
        #expect(lines.first == "SIP/2.0 503 Service Unavailable" && !lines.contains { $0.hasPrefix("Retry-After") })
    }

    @Test(arguments: ["Privacy: id\n", "Privacy: user;id\n"])
    func `a caller who asks for privacy has no name`(lines: String) throws {
        let (event, reply) = try handle(RedirectMessages.request(lines: lines))
        #expect(event == .unmatched(.privacy))
        #expect(reply.map { !String(decoding: $0.bytes, as: UTF8.self).contains("Harbour") } == true)
    }
}
