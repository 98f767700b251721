// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("Names the carrier sends itself: replaced, kept, or only filled in")
struct CarrierNameTests {
    private static let brand = #"From: "Acme \"Bank\"" <sip:+61491570156@carrier.example>"#
    private static let carrier = #"From: "Carrier" <sip:+61491570156@carrier.example>"#
    private static let bare = "From: <sip:+61491570156@carrier.example>"

    private func gateway(_ policy: CarrierNamePolicy) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.carrierName = policy
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    static let rows: [(policy: CarrierNamePolicy, name: String, extra: String, from: String)] = [
        (.replace, #""Carrier" "#, "", brand),
        (.replace, "", "", brand),
        (.keep, #""Carrier" "#, "", carrier),
        (.keep, "", "", bare),
        (.fill, #""Carrier" "#, "", carrier),
        (.fill, "", "", brand),
        (.fill, #""" "#, "", brand),
        // A name in any header the phone may show is the carrier's word.
        (.fill, "", "P-Asserted-Identity: \"Carrier\" <sip:+61491570156@c.example>\n", bare),
        (.fill, "", "P-Asserted-Identity: <sip:+61491570156@c.example>\n", brand),
        (.fill, "", "Remote-Party-ID: \"Carrier\" <sip:+61491570156@c.example>\n", bare),
        (.fill, "", "Remote-Party-ID: \"Reception\" <sip:+61491570157@c.example>;party=called\n", brand),
        // A number is no name, in whatever form it is written.
        (.fill, #""+61491570156" "#, "", brand), (.fill, "61491570156 ", "", brand), (.fill, "0491570156 ", "", brand),
        (.fill, #""0491 570 156" "#, "", brand), (.fill, #""(04) 9157-0156" "#, "", brand),
        (.fill, #""0061 491 570 156" "#, "", brand), (.fill, #""0011 61 491570156" "#, "", brand),
        (.fill, #"" 491570156 " "#, "", brand),
        (.fill, "", "P-Asserted-Identity: \"0491570156\" <sip:+61491570156@c.example>\n", brand),
        // What networks write where they know no name.
        (.fill, #""Unknown" "#, "", brand), (.fill, "UNAVAILABLE ", "", brand), (.fill, #""Out of Area" "#, "", brand),
        (.fill, #""WIRELESS CALLER" "#, "", brand), (.fill, #""unknown caller" "#, "", brand),
        (.fill, #""Name Unavailable" "#, "", brand),
    ]

    static let names = [
        #""Unknown Territory" "#, #""1300 555 123" "#, #""Unit 491570156" "#, #""570156x" "#, #""24" "#,
        #""Wireless" "#,
        #""+61491570199" "#,
    ]

    @Test(arguments: names)
    func `what only looks like one of these is a name`(name: String) throws {
        let out = try gateway(.fill).receive(request("INVITE", from: name), from: GatewayUnderTest.trunk)
        let invite = try #require(out.to(GatewayUnderTest.pbx).first)
        #expect(invite.contains("From: \(name)<sip:+61491570156@carrier.example>"))
    }

    @Test(arguments: [
        // RFC 3261 §7.3.1: a fold is white space; §25.1: a backslash takes the next character with it.
        ("\"Harbour\n  Dental\"", "Harbour Dental"), (#""Harbour \"Bay\" Dental\\""#, #"Harbour "Bay" Dental\"#),
        ("Harbour\n\tDental", "Harbour Dental"), ("\"Harbour\tDental\"", "Harbour Dental"),
        ("\"Har\u{1}bour\u{7F} \u{202E}latneD\u{202C}\"", "Harbour latneD"), ("\"  Harbour  \"", "Harbour"),
        ("\"\u{1B}[31mHarbour\"", "[31mHarbour"), ("Zahnärzte am Hafen", "Zahnärzte am Hafen"),
        // 43 bytes are kept, and no half of a character.
        ("\"\(String(repeating: "ä", count: 30))\"", String(repeating: "ä", count: 21)),
        ("\"\(String(repeating: "a", count: 44))\"", String(repeating: "a", count: 43)),
        ("\"\(String(repeating: "a", count: 42))👩‍👩‍👧\"", String(repeating: "a", count: 42)),
        ("\"\u{200B}\u{202E}\"", ""), (#""=cmd|' /C calc'!A0""#, "=cmd|' /C calc'!A0"),
    ])
    func `the recorded name is what a reader would see`(written: String, recorded: String) throws {
        let gateway = try gateway(.replace)
        _ = gateway.receive(request("INVITE", from: written + " "), from: GatewayUnderTest.trunk)
        var texts: CallTexts?
        _ = gateway.ring.read(after: 0, limit: 1) { texts = $1 }
        #expect(texts.map { String(decoding: $0.carrierName, as: UTF8.self) } == recorded)
    }

    @Test func `bytes that are no UTF-8 are recorded as such`() throws {
        let gateway = try gateway(.replace)
        var bytes = Array(
            request("INVITE", from: "\"M#ller\" ").replacing("\n", with: "\r\n").utf8)
        bytes[try #require(bytes.firstIndex(of: UInt8(ascii: "#")))] = 0xFC
        _ = gateway.receive(bytes, from: GatewayUnderTest.trunk)
        var texts: CallTexts?
        _ = gateway.ring.read(after: 0, limit: 1) { texts = $1 }
        #expect(texts.map { String(decoding: $0.carrierName, as: UTF8.self) } == "M\u{FFFD}ller")
    }

    @Test(arguments: rows)
    func `the phone sees`(
        row: (policy: CarrierNamePolicy, name: String, extra: String, from: String)
    ) throws {
        let gateway = try gateway(row.policy)
        let out = gateway.receive(request("INVITE", from: row.name, extra: row.extra), from: GatewayUnderTest.trunk)
        let invite = try #require(out.to(GatewayUnderTest.pbx).first)
        #expect(invite.contains(row.from + ";tag=a\r\n"))
        #expect(invite.contains("\r\nCall-Info: "), "logo and reason come in any case")
    }

    @Test func `the name that was replaced is recorded, and only then`() throws {
        for (policy, recorded) in [(CarrierNamePolicy.replace, "Carrier"), (.keep, ""), (.fill, "")] {
            let gateway = try gateway(policy)
            _ = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
            var texts: CallTexts?
            _ = gateway.ring.read(after: 0, limit: 1) { texts = $1 }
            #expect(texts.map { String(decoding: $0.carrierName, as: UTF8.self) } == recorded)
        }
    }

    @Test func `a report has no text of the call before`() throws {
        let gateway = try gateway(.replace)
        _ = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        let withheld = request("INVITE", extra: "Privacy: id\n", branch: "2")
            .replacing("story@", with: "other@").replacing("sip:100@", with: "sip:1@")
        _ = gateway.receive(withheld, from: GatewayUnderTest.trunk)
        var texts: [CallTexts] = []
        _ = gateway.ring.read(after: 0, limit: 10) { texts.append($1 ?? CallTexts()) }
        #expect(texts.map { String(decoding: $0.carrierName, as: UTF8.self) } == ["Carrier", ""])
        #expect(texts.map(\.brandName.isEmpty) == [false, true])
        #expect(texts.map(\.brandID.isEmpty) == [false, true])
        #expect(texts.map { String(decoding: $0.subscriber, as: UTF8.self) } == ["100", "1"])
        #expect(texts.map { $0.sipCallID.starts(with: "withheld-".utf8) } == [false, true])
    }

    @Test(arguments: [
        (#""CARRIER" <sip:+61491570156@c>"#, true), (#""CARRIER" <sip:+61491570157@c>"#, false),
    ]) func `what the caller's side asserts in a response has the brand's name, unless it is another caller`(
        asserted: String, isRenamed: Bool
    ) throws {
        let gateway = try gateway(.replace)
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let route = try #require(
            invite.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") }.map { $0.dropFirst(7) })
        let hold = fromCalledSide(
            request("INVITE", extra: route + "\n", toTag: ";tag=p", branch: "hold", sequence: 2)
        )
        .replacing("192.0.2.20 SIP/2.0", with: "203.0.113.5 SIP/2.0")
        let asked = try #require(
            gateway.receive(hold, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).first {
                $0.hasPrefix("INVITE ")
            })
        let success = response("200 OK", to: asked, extra: "P-Asserted-Identity: \(asserted)\n")
        let sent = try #require(
            gateway.receive(success, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first {
                $0.hasPrefix("SIP/2.0 200")
            })
        let line = try #require(sent.split(separator: "\r\n").first { $0.hasPrefix("P-Asserted-Identity: ") })
        #expect(line.contains("CARRIER") == !isRenamed)
        // From is what the PBX wrote itself.
        #expect(sent.contains(try #require(asked.split(separator: "\r\n").first { $0.hasPrefix("From: ") })))
    }

    @Test func `a dialog keeps the names it began with when the policy changes meanwhile`() throws {
        let gateway = try gateway(.replace)
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let route = try #require(
            invite.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") }.map { $0.dropFirst(7) })
        var options = GatewayUnderTest.Options()
        options.carrierName = .keep
        gateway.reload(options)
        let hold = request("INVITE", extra: route + "\n", toTag: ";tag=p", branch: "b", sequence: 2)
        let sent = try #require(gateway.receive(hold, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(sent.contains(Self.brand))
        let next = request("INVITE", branch: "n").replacing("story@", with: "next@")
        let later = try #require(gateway.receive(next, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(later.contains(Self.carrier))
    }
}
