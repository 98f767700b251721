// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// RFC 3261 §21.4.1: a request with malformed syntax gets 400, if the response can reach its sender at all.
@Suite("Requests with a malformed header line, RFC 3261 §21.4.1, §8.2.6.2 and §25.1")
struct MalformedRequestTests {
    private static func rejectable(_ lines: [String]) -> SIPMessage? { rejectable(WireMessage.bytes(lines)) }

    private static func rejectable(_ bytes: [UInt8]) -> SIPMessage? { MalformedRequest.rejectable(bytes.span) }

    @Test(arguments: [
        ("no colon, §7.3.1", "Subject a"), ("no name, §7.3.1", ": a"), ("a blank in the name, §25.1", "Sub ject: a"),
        ("a bare CR, §25.1", "Subject: a\rFrom: b"), ("a NUL, §25.1", "Subject: a\0b"),
        ("a control character in the name, §25.1", "Sub\u{1}ject: a"), ("a bracket in the name, §25.1", "<Subject>: a"),
    ])
    func `the response repeats what the other lines carry`(rule: String, line: String) throws {
        for place in [1, 4, 8] {
            var lines = WireMessage.invite
            lines.insert(line, at: place)
            let request = try #require(Self.rejectable(lines), "\(rule)")
            let response = text(
                LocalMessages.response(
                    to: request, status: 400, phrase: "Bad Header Line", toTag: 1,
                    source: PeerAddress(ipv4: 0xc633_6407, port: 5060)))
            for field in ["From", "Call-ID", "CSeq"] {
                let repeated = try #require(WireMessage.invite.first { $0.hasPrefix(field) })
                #expect(response.contains("\r\n\(repeated)\r\n"))
            }
            #expect(response.contains("\r\nVia: SIP/2.0/UDP 198.51.100.7:5060;branch=z9hG4bK776asdhds"))
            #expect(!response.contains("ubject"))
        }
    }

    @Test(arguments: [
        // §8.2.6.2: these fields are copied, so a fault in one of them leaves nothing to respond with.
        ("Via", "Via: SIP/2.0/UDP a\rb"), ("From", "From: <sip:a@b>\0;tag=1"), ("To", "To: <sip:a@b>\r;x"),
        ("Call-ID", "Call-ID: a\0"), ("CSeq", "CSeq: 1\rINVITE"),
    ])
    func `a fault in a repeated field leaves no response`(name: String, line: String) {
        #expect(Self.rejectable(WireMessage.invite([(name, line)])) == nil)
    }

    @Test(arguments: ["Via", "From", "To", "Call-ID", "CSeq"])
    func `so does a missing one`(name: String) {
        #expect(Self.rejectable(WireMessage.invite([(name, nil), ("Subject", "Subject a")])) == nil)
    }

    @Test func `neither an ACK, §17.1.1.3, nor a response gets one`() {
        let ack = WireMessage.invite([("INVITE", "ACK sip:a@b SIP/2.0"), ("CSeq", "CSeq: 1 ACK")]) + ["Subject a"]
        #expect(Self.rejectable(ack) == nil)
        let response = WireMessage.invite([("INVITE", "SIP/2.0 200 OK")]) + ["Subject a"]
        #expect(Self.rejectable(response) == nil)
        #expect(Self.rejectable(["INVITE"] + WireMessage.invite.dropFirst() + ["Subject a"]) == nil)
    }

    @Test func `a message cut short gets one as soon as all five fields have their line ends`() throws {
        let lines = WireMessage.invite + ["Subject: a", "X-Last: b"]
        let bytes = WireMessage.bytes(lines)
        let names = ["Via", "From", "To", "Call-ID", "CSeq"]
        let last = try #require(lines.lastIndex { line in names.contains { line.hasPrefix($0) } })
        let enough = lines[...last].reduce(0) { $0 + $1.utf8.count + 2 }
        for count in bytes.indices {
            #expect((Self.rejectable(Array(bytes[..<count])) != nil) == (count >= enough), "\(count)")
        }
    }

    @Test func `a message above the limits gets one, of which only the five fields are read`() throws {
        let fields = (1...2_000).map { "X-\($0): \(String(repeating: "a", count: 20))" }
        let request = try #require(Self.rejectable(WireMessage.invite + fields))
        #expect(request.bytes.count < 1_000)
    }

    @Test func `its outline names the method, the status and the longest field`() {
        func outline(_ lines: [String]) -> (method: String, name: String, outline: MessageOutline) {
            let bytes = WireMessage.bytes(lines)
            let outline = MessageOutline(bytes.span)
            return (
                String(decoding: bytes[outline.method], as: UTF8.self),
                String(decoding: bytes[outline.longestName], as: UTF8.self), outline
            )
        }
        let long = "Identity: " + String(repeating: "a", count: 900)
        let invite = outline(WireMessage.invite + [long])
        #expect(invite.method == "INVITE" && invite.name == "Identity" && invite.outline.status == 0)
        #expect(invite.outline.longestField == 912 && invite.outline.fields == WireMessage.invite.count)
        let response = outline(["SIP/2.0 183 Progress", "CSeq: 9 PRACK", "Subject without a colon"])
        #expect(response.method == "PRACK" && response.outline.status == 183 && response.name == "")
        let noise = outline(["GET / HTTP/1.1", "Host: a"])
        #expect(noise.method == "" && noise.outline.status == 0 && noise.outline.fields == 1)
        #expect(MessageOutline([UInt8]().span).fields == 0)
    }

    @Test func `folded lines go with their field, §7.3.1, and CRLF before the start line with nothing, §7.5`() throws {
        var lines = WireMessage.invite([("To", "To: <sip:a@b>\r\n ;x=1\r\n\t;y=2")])
        lines.insert("Subject\r\n of two lines", at: 2)
        let bytes = Array("\r\n\r\n".utf8) + WireMessage.bytes(lines)
        let request = try #require(Self.rejectable(bytes))
        #expect(request.first(.to).map { request.text($0.value) } == "<sip:a@b>\r\n ;x=1\r\n\t;y=2")
        #expect(request.method == .invite)
        #expect(request.headers.count == 6, "the five that are repeated, and a Content-Length")
    }
}
