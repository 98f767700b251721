// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Testing

@Suite("The numbers of trunks that write an account's name")
struct CalledNumberTests {
    private func update(_ invite: String, outbound: Bool = false) throws -> (update: CallUpdate, texts: CallTexts?) {
        let gateway = try GatewayUnderTest(numbers: [])
        _ = gateway.receive(invite, from: outbound ? GatewayUnderTest.pbx : GatewayUnderTest.trunk)
        var found: (CallUpdate, CallTexts?)?
        _ = gateway.ring.read(after: 0, limit: 1) { found = ($0, $1) }
        return try #require(found)
    }

    private func digits(_ text: String?) -> UInt64 { text.flatMap { E164Number($0)?.digits } ?? 0 }

    @Test(arguments: [
        ("sip:account4711@192.0.2.20", "<sip:+61255502000@c>", "", "+61255502000"),
        ("sip:account4711@192.0.2.20", "\"Office\" <sip:0255502000@c;user=phone>", "", "+61255502000"),
        ("sip:account4711@192.0.2.20", "<tel:+61255502000>", "", "+61255502000"),
        ("sip:192.0.2.20", "<sip:+61255502000@c>", "", "+61255502000"),
        ("sip:+61255502001@192.0.2.20", "<sip:+61255502000@c>", "", "+61255502001"),
        ("sip:account4711@192.0.2.20", "<sip:account4711@c>", "", nil),
        // A call that was forwarded was to somebody else's number first (RFC 5806, RFC 7044).
        (
            "sip:account4711@192.0.2.20", "<sip:+61255502000@c>", "Diversion: <sip:+61255502000@c>;reason=no-answer\n",
            nil
        ),
        (
            "sip:account4711@192.0.2.20", "<sip:+61255502000@c>",
            "History-Info: <sip:+61255502000@c>;index=1, <sip:x@c;cause=302>;index=1.1\n", nil
        ),
    ])
    func `the called number is that of the Request-URI, else that of To`(
        uri: String, to: String, extra: String, expected: String?
    ) throws {
        let invite = request("INVITE", extra: extra).replacing("sip:100@192.0.2.20 SIP", with: "\(uri) SIP")
            .replacing("To: <sip:100@192.0.2.20>", with: "To: \(to)")
        #expect(try update(invite).update.destination == digits(expected))
    }

    @Test(arguments: [
        ("<sip:account4711@c>", "P-Asserted-Identity: <sip:+61255502000@c>\n", "+61255502000"),
        ("<sip:account4711@c>", "P-Preferred-Identity: <tel:+61255502000>\n", "+61255502000"),
        ("<sip:+61255502001@c>", "P-Asserted-Identity: <sip:+61255502000@c>\n", "+61255502001"),
        ("<sip:account4711@c>", "", nil),
        ("<sip:account4711@c>", "P-Asserted-Identity: <sip:+61255502000@c>\nPrivacy: id\n", nil),
        ("<sip:anonymous@anonymous.invalid>", "P-Asserted-Identity: <sip:+61255502000@c>\n", nil),
    ])
    func `the number a PBX calls with is that of From, else the one it asserts`(
        from: String, extra: String, expected: String?
    ) throws {
        let invite = request("INVITE", extra: extra)
            .replacing("sip:100@192.0.2.20 SIP", with: "sip:+61491570156@203.0.113.5 SIP")
            .replacing("\"Carrier\" <sip:+61491570156@carrier.example>", with: from)
        let (update, texts) = try update(invite, outbound: true)
        #expect(update.caller == digits(expected))
        #expect(update.destination == digits("+61491570156"))
        if expected == nil, from != "<sip:account4711@c>" { #expect(texts?.subscriber.isEmpty == true) }
    }
}
