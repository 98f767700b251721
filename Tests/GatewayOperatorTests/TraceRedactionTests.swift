// SPDX-License-Identifier: Apache-2.0

import CallPath
import SIPCore
import Testing

@testable import GatewayOperator

@Suite("What a reader of a trace may see of a message")
struct TraceRedactionTests {
    private static let number = "+61491570156"

    private func shown(
        _ text: String, _ exposure: TraceRedaction.Exposure, secrets: [String] = [number]
    ) -> String {
        let bytes = Array(text.replacing("\n", with: "\r\n").utf8)
        let out = TraceRedaction(exposure, secrets: secrets.map { Array($0.utf8) }).message(bytes)
        return String(decoding: out, as: UTF8.self).replacing("\r\n", with: "\n")
    }

    private static let invite = """
        INVITE sip:+61255502000@192.0.2.20 SIP/2.0
        Via: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK1234567890;hf=%22Jane%22%20%3csip%3a+61491570156%40c.example%3e
        From: "Jane 0491570156" <sip:+61491570156@carrier.example;user=phone>;tag=1234567890
        To: <sip:1001@192.0.2.20>
        Call-ID: 1234567890@carrier.example
        CSeq: 1 INVITE
        Record-Route: <sip:192.0.2.10:5060;lr;hd=39142f4c5a1>
        P-Asserted-Identity: <tel:+61-491-570-156>
        Identity: eyJhbGciOiJFUzI1NiJ9.e30.x;info=<https://c.example/1234567>
        Authorization: Digest username="0491570156", response="c0ffee"
        X-Anything: 61491570156
        Content-Type: application/sdp
        Content-Length: 92

        v=0
        o=61491570156 4102444800 4102444800 IN IP4 203.0.113.5
        s=call of 61491570156
        a=ssrc:4102444800
        """

    @Test func `full shows everything but credentials`() {
        let text = shown(Self.invite, .full)
        #expect(text == Self.invite.replacing("Digest username=\"0491570156\", response=\"c0ffee\"", with: "***"))
    }

    @Test func `masked hides the middle of numbers and leaves tags, addresses, branches and lengths`() {
        #expect(
            shown(Self.invite, .masked) == """
                INVITE sip:+61******000@192.0.2.20 SIP/2.0
                Via: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK1234567890;hf=***
                From: "Jane 04*****156" <sip:+61******156@carrier.example;user=phone>;tag=1234567890
                To: <sip:1001@192.0.2.20>
                Call-ID: 1234567890@carrier.example
                CSeq: 1 INVITE
                Record-Route: <sip:192.0.2.10:5060;lr;hd=***>
                P-Asserted-Identity: <tel:+61-***-***-156>
                Identity: ***
                Authorization: ***
                X-Anything: 61******156
                Content-Type: application/sdp
                Content-Length: 92

                v=0
                o=61******156 4102444800 4102444800 IN IP4 203.0.113.5
                s=call of 61******156
                a=ssrc:4102444800
                """)
    }

    @Test func `a withheld call keeps only fields that name nobody`() {
        let text = shown(Self.invite, .withheld)
        #expect(
            text == """
                INVITE sip:***@anonymous.invalid SIP/2.0
                Via: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK1234567890;hf=***
                From: <sip:***@anonymous.invalid>;tag=1234567890
                To: <sip:***@anonymous.invalid>
                Call-ID: 1234567890@carrier.example
                CSeq: 1 INVITE
                Record-Route: <sip:192.0.2.10:5060;lr;hd=***>
                P-Asserted-Identity: ***
                Identity: ***
                Authorization: ***
                X-Anything: ***
                Content-Type: application/sdp
                Content-Length: 92

                v=0
                o=*********** 4102444800 4102444800 IN IP4 203.0.113.5
                s=*******************
                a=ssrc:**********
                """)
    }

    @Test(arguments: [
        "Call-ID: x-61491570156@c", "i:x-61491570156@c", "Call-ID :\n x-61491570156@c", "CALL-ID: x-61491570156@c \t",
    ])
    func `the Call-ID of a withheld caller has its name in records, in any form of the field`(field: String) throws {
        let secret = Secret(key0: 1, key1: 2)
        let text = "BYE sip:x SIP/2.0\n\(field)\nContent-Length: 0\n\n".replacing("\n", with: "\r\n")
        let name = try #require(WithheldCallID.names(of: "x-61491570156@c", secret).first)
        func shown(_ exposure: TraceRedaction.Exposure) -> String {
            let redaction = TraceRedaction(exposure, callIDs: .named(secret))
            return String(decoding: redaction.message(Array(text.utf8)), as: UTF8.self)
        }
        #expect(shown(.withheld).contains(name) && !shown(.withheld).contains("570156"))
        #expect(shown(.full) == text && shown(.masked).contains("x-61491570156@c"))
    }

    /// Fields and places that could carry a withheld number out.
    @Test(arguments: [
        "Contact: <sip:61491570156@c>", "m: <sip:61491570156@c>", "Diversion: <sip:61491570156@c>",
        "History-Info: <sip:61491570156@c>;index=1", "Referred-By: <sip:61491570156@c>", "Subject: 61491570156",
        "Call-Info: <https://c.example/61491570156.png>", "Refer-To: <sip:61491570156@c>", "f: sip:61491570156@c",
        "P-Preferred-Identity: <sip:61491570156@c>", "X-Private: 0491570156", "Remote-Party-ID: <sip:61491570156@c>",
        "Reply-To: <sip:61491570156@c>", "Geolocation: <cid:61491570156@c>", "Unknown-Field: 61491570156",
        "From : <sip:61491570156@c>;tag=61491570156", "From:\n <sip:61491570156@c>\n ;tag=a", "no colon 61491570156",
        "Via: SIP/2.0/UDP 61491570156.carrier.example;branch=z9hG4bK61491570156", "Call-ID: 61491570156@c",
        "Record-Route: <sip:61491570156@c;lr>", "Route: <sip:0491570156@c;lr>", "User-Agent: phone of 61491570156",
        "Reason: SIP;text=\"61491570156\"", "Warning: 399 c \"0491570156\"", "FROM\t: sip:61491570156@c",
    ])
    func `a withheld number leaves by no field`(field: String) {
        let text = shown("INVITE sip:61491570156@c SIP/2.0\n\(field)\nContent-Length: 0\n\n", .withheld)
        #expect(!text.contains("491570156"))
    }

    @Test(arguments: [
        "application/sdp", "application/pidf+xml", "text/plain", "", "application/sdp;charset=utf-8", "APPLICATION/SDP",
    ])
    func `a withheld number leaves by no body, and the length of the body stays`(type: String) {
        let body = "v=0\no=61491570156 1 1 IN IP4 1.2.3.4\ni=0491570156\na=x:61491570156\n61491570156\n"
        let head = "MESSAGE sip:x SIP/2.0\nContent-Type: \(type)\n\n"
        let text = shown(head + body, .withheld)
        #expect(!text.contains("491570156"))
        #expect(
            text.utf8.count - (text.firstRange(of: "\n\n").map { text[..<$0.upperBound].utf8.count } ?? 0)
                == body.utf8.count)
    }

    @Test(arguments: [
        "", "\r\n", "\r\r\n\n", "INVITE", "INVITE sip:61491570156@c", "61491570156", "61491570156 61491570156 SIP/2.0",
        "SIP/2.0 200 61491570156", "a\rFrom: <sip:61491570156@c>\r\r", "INVITE a b\n\n61491570156",
        "INVITE sip:x SIP/2.0\n From: 61491570156\n", "INVITE sip:x SIP/2.0\nFrom: 61491570156",
    ])
    func `a malformed message shows no withheld number`(text: String) {
        let out = TraceRedaction(.withheld, secrets: [Array(Self.number.utf8)]).message(Array(text.utf8))
        #expect(!String(decoding: out, as: UTF8.self).contains("491570156"))
    }
}
