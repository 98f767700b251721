// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import SeededRandom
import Testing

/// A name goes only into values the grammar accepts, so that nothing malformed becomes something else.
@Suite("Names and values that are no addresses, RFC 3261 §20.10 and §25.1")
struct MalformedIdentityTests {
    private static let brand = #""Acme \"Bank\"""#

    private func gateway() throws -> GatewayUnderTest {
        try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))])
    }

    private func forwarded(_ extra: String, from: String? = nil) throws -> (sent: String, reason: PassThroughReason?) {
        let gateway = try gateway()
        var invite = request("INVITE", extra: extra)
        if let from { invite = invite.replacing("\"Carrier\" <sip:+61491570156@carrier.example>", with: from) }
        let sent = gateway.receive(invite, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
        return (try #require(sent.first { $0.hasPrefix("INVITE ") }), gateway.updates().first?.reason)
    }

    private func line(_ name: String, in text: String) -> String? {
        text.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    static let refused = [
        // An unquoted comma makes two values, of which the first is none.
        "Smith, John <sip:+61491570156@c>", "Smith , <sip:+61491570156@c>", "John, Jr., Smith <sip:+61491570156@c>",
        "<sip:+61491570156@c>, Smith", "Smith John", "Smith", "<Smith>", "<>", "\"Smith\"", "\"Smith\" <>",
        "<sip:+61491570156@c", "sip:+61491570156@c>", "<<sip:+61491570156@c>>", "\"Smith <sip:+61491570156@c>",
        "<sip:>", "<tel:>", "<:+61491570156@c>", "<sip+61491570156@c>", "sip:+61491570156@c d",
        "Smith sip:+61491570156@c",
        "<sip:+61491570156@c >;x, y", "< sip:+61491570156@c@d >", "<mailto:a@c>", "<http://c/>", "<urn:service:sos>",
        "*", ";", "=", "?", "<sip:+61491570156@[2001:db8::1>", "<sip:+61491570156@c:99999999>",
        "%", "Bob \"The\"<sip:+61491570156@c>", "Bob \"The <sip:+61491570156@c>",
        "Smith\"@<tel:+61491570156>, <sip:+61491570156@c>",
        "<sip:+61491570156@c> x", "<sip:+61491570156@c>x=y", "<sip:+61491570156@c<d>", "\\", "\"\\\"",
        "<sip:a@b>, <sip:c@d>, garbage", "sip:+6149\"1@c;,user=phone", "<sip:+614\"91570156@c>",
    ]

    @Test(arguments: refused, ["P-Asserted-Identity", "Remote-Party-ID"])
    func `a field with a value the grammar refuses stays byte for byte`(value: String, name: String) throws {
        let (sent, _) = try forwarded("\(name): \(value)\n")
        #expect(line(name, in: sent) == value)
    }

    @Test(arguments: [
        ("<sip:+61491570156@c>", "\(brand) <sip:+61491570156@c>"),
        ("sip:+61491570156@c", "\(brand) <sip:+61491570156@c>"),
        ("tel:+61491570156", "\(brand) <tel:+61491570156>"),
        ("\"Smith, John\" <sip:+61491570156@c>", "\(brand) <sip:+61491570156@c>"),
        ("Smith John<sip:+61491570156@c>", "\(brand) <sip:+61491570156@c>"),
        ("Müller <sip:+61491570156@c>", "\(brand) <sip:+61491570156@c>"),
        ("<sip:+61491570156@c>, <tel:+61491570156>", "\(brand) <sip:+61491570156@c>, \(brand) <tel:+61491570156>"),
        (", <sip:+61491570156@c>,", ", \(brand) <sip:+61491570156@c>,"),
    ])
    func `what the grammar accepts gets the name`(value: String, expected: String) throws {
        let (sent, reason) = try forwarded("P-Asserted-Identity: \(value)\n")
        #expect(reason == nil)
        #expect(line("P-Asserted-Identity", in: sent) == expected)
    }

    @Test func `a caller who is known in spite of it is branded where that is possible`() throws {
        let (sent, reason) = try forwarded("P-Asserted-Identity: Smith, John <sip:+61491570156@c>\n")
        #expect(reason == nil)
        #expect(line("From", in: sent)?.hasPrefix(Self.brand) == true)
    }

    @Test func `a comma in a bare name of From goes on, quoted by the brand, RFC 4475 §3.1.2.15`() throws {
        let branded = try forwarded("", from: "Bell, Alexander <sip:+61491570156@c>")
        #expect(line("From", in: branded.sent) == "\(Self.brand) <sip:+61491570156@c>;tag=a")
        let other = try forwarded("", from: "Bell, Alexander <sip:+61491570199@c>")
        #expect(line("From", in: other.sent) == "Bell, Alexander <sip:+61491570199@c>;tag=a")
    }

    @Test func `a call with no place for a name is not reported as named`() throws {
        let asserted = "P-Asserted-Identity: Smith, John <sip:+61491570156@c>\n"
        let (sent, reason) = try forwarded(asserted, from: "<mailto:office@carrier.example>")
        #expect(!sent.contains(Self.brand))
        #expect(sent.contains("\r\nCall-Info: ") == (reason == nil), "logo and reason may be shown all the same")
    }

    @Test func `mutated fields either keep their bytes or hold the name and all that followed it`() throws {
        let gateway = try gateway()
        var random = RepeatableRandom(seed: 4475)
        let seeds = [
            "\"Smith, John\" <sip:+61491570156@c;user=phone>;x=y", "Smith <tel:+61491570156>, <sip:+61491570156@c>",
            "sip:+61491570156@c;user=phone", "\"A \\\" B\" <sip:+61491570156@[2001:db8::1]:5060>",
        ]
        let letters = Array("<>\"\\,;:@= ?%aé1".utf8)
        for number in 0..<1_500 {
            var bytes = Array(seeds[Int.random(in: 0..<seeds.count, using: &random)].utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let letter = letters[Int.random(in: 0..<letters.count, using: &random)]
                if Bool.random(using: &random) { bytes[place] = letter } else { bytes.insert(letter, at: place) }
            }
            let value = String(decoding: bytes, as: UTF8.self).trimmingWhitespace
            guard !value.isEmpty else { continue }
            let invite = request("INVITE", extra: "P-Asserted-Identity: \(value)\n", branch: "m\(number)")
                .replacing("story@", with: "m\(number)@")
            let sent = gateway.receive(invite, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
            let first = try #require(sent.first)
            let after = try #require(line("P-Asserted-Identity", in: first))
            if after == value { continue }
            // Every value of the new field is one that the grammar accepts, and has the name.
            let parsed = Array(after.utf8)
            for part in HeaderValues(parsed, parsed.indices) {
                let address = try #require(NameAddress(parsed, part), "\(value) → \(after)")
                let name = String(decoding: parsed[address.extent.displayName], as: UTF8.self)
                #expect(name == Self.brand, "\(value) → \(after)")
            }
        }
    }
}

extension String {
    fileprivate var trimmingWhitespace: String {
        var text = self[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
