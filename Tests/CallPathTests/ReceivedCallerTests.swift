// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Testing

@Suite("The caller as the carrier wrote it, where that is no certain number")
struct ReceivedCallerTests {
    private static let from = #""Carrier" <sip:+61491570156@carrier.example>"#

    /// What the INVITE's signal keeps of the caller beside a number.
    private func kept(from: String, extra: String = "") throws -> String {
        let gateway = try GatewayUnderTest(numbers: [], options: GatewayUnderTest.Options())
        let invite = request("INVITE", extra: extra).replacing(Self.from, with: from)
        _ = gateway.receive(invite, from: GatewayUnderTest.trunk)
        var kept: [UInt8] = []
        _ = gateway.ring.read(after: 0, limit: 10) { _, texts in kept = texts?.callerReceived ?? kept }
        return String(decoding: kept, as: UTF8.self)
    }

    @Test(arguments: [
        ("<sip:570157@carrier.example>", "", "570157"),
        (#""Front Desk" <sip:front-desk@carrier.example;user=ip>"#, "", "front-desk"),
        ("<tel:1234;phone-context=example.com>", "", "1234;phone-context=example.com"),
        ("sip:7@carrier.example", "", "7"),
        ("<sip:carrier.example>", "", "carrier.example"),
        // The header that names the caller, and no other.
        (from, "P-Asserted-Identity: <sip:12@carrier.example>\n", "12"),
        ("<sip:99@carrier.example>", "P-Asserted-Identity: <sip:12@carrier.example>\n", "12"),
    ])
    func `the user part of the header that names the caller is kept`(
        from: String, extra: String, text: String
    ) throws {
        #expect(try kept(from: from, extra: extra) == text)
    }

    @Test func `it is bounded, and has no control characters`() throws {
        let long = String(repeating: "x", count: 200)
        #expect(try kept(from: "<sip:\(long)@carrier.example>") == String(repeating: "x", count: 64))
        #expect(try kept(from: "<sip:a\tb@carrier.example>").unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test(arguments: [
        // A number that could be read needs nothing else.
        (from, ""),
        // RFC 3323 §4.2: of a caller who asks for privacy nothing is kept.
        ("<sip:570157@carrier.example>", "Privacy: id\n"),
        ("\"Anonymous\" <sip:anonymous@anonymous.invalid>", ""),
        ("<sip:anonymous@anonymous.invalid>", "P-Asserted-Identity: <sip:570157@carrier.example>\nPrivacy: id\n"),
    ])
    func `nothing is kept where the number is known or withheld`(from: String, extra: String) throws {
        #expect(try kept(from: from, extra: extra).isEmpty)
    }
}
