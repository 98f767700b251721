// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SIPCore

@Suite("Message index, RFC 3261 §7")
struct SIPMessageIndexTests {
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let datagram: String
        let error: SIPIndexError

        init(_ rule: String, _ datagram: String, _ error: SIPIndexError) {
            testDescription = rule
            self.datagram = datagram
            self.error = error
        }
    }

    static let refused: [Refused] = [
        .init("RFC 5626 §3.5.1: a keep-alive", "\r\n\r\n", .keepAlive),
        .init("an empty datagram", "", .keepAlive),
        .init("§7: no SIP at all", "GET / HTTP/1.1\r\n\r\n", .notSIP),
        .init("§7.1: no version", "INVITE sip:a@b\r\n\r\n", .notSIP),
        .init("§7.1: no Request-URI", "INVITE  SIP/2.0\r\n\r\n", .notSIP),
        .init("§7.1: a method is a token", "INV(ITE sip:a@b SIP/2.0\r\n\r\n", .notSIP),
        .init("§7.1: a line begins with its method", " INVITE sip:a@b SIP/2.0\r\n\r\n", .notSIP),
        .init("§7.1: nothing but a version", " SIP/2.0\r\n\r\n", .notSIP),
        .init("§7.2: three digits of status", "SIP/2.0 20 OK\r\n\r\n", .notSIP),
        .init("RFC 4475 §3.1.2.19: a status of ten digits", "SIP/2.0 4294967301 No\r\n\r\n", .notSIP),
        .init("§7.2: no status below 100", "SIP/2.0 099 No\r\n\r\n", .notSIP),
        .init("§21: no status above 699", "SIP/2.0 700 No\r\n\r\n", .notSIP),
        .init("§7.2: another version", "SIP/7.0 200 OK\r\n\r\n", .notSIP),
        .init("§7.2: a status line cut short", "SIP/2.0 20\r\n\r\n", .notSIP),
        .init("§7: no empty line", "INVITE sip:a@b SIP/2.0\r\nTo: a\r\n", .headersUnfinished),
        .init("§7: a line without end", "INVITE sip:a@b SIP/2.0\r\nTo: a", .headersUnfinished),
        .init("§7: a CR as the last byte", "INVITE sip:a@b SIP/2.0\r\n\r", .headersUnfinished),
        .init("§7.3.1: no colon", "INVITE sip:a@b SIP/2.0\r\nTo a\r\n\r\n", .badHeaderLine),
        .init("§7.3.1: no name", "INVITE sip:a@b SIP/2.0\r\n: a\r\n\r\n", .badHeaderLine),
        .init("§7.3.1: nothing to continue", "INVITE sip:a@b SIP/2.0\r\n To: a\r\n\r\n", .badHeaderLine),
        .init("§7.3.1: two words before the colon", "INVITE sip:a@b SIP/2.0\r\nTo do: a\r\n\r\n", .badHeaderLine),
        .init("§25.1: a name is not folded", "INVITE sip:a@b SIP/2.0\r\nTo\r\n : a\r\n\r\n", .badHeaderLine),
        .init(
            "§25.1: a CR alone, where some end a line",
            "INVITE sip:a@b SIP/2.0\r\nX: a\rP-Asserted-Identity: <sip:+4930@b>\r\n\r\n", .badHeaderLine),
        .init("§25.1: a CR in a name is no hyphen", "INVITE sip:a@b SIP/2.0\r\nCall\rID: a\r\n\r\n", .badHeaderLine),
        .init("§25.1: a CR in the version", "SIP/\r.0 503 Gone\r\n\r\n", .badHeaderLine),
        .init("§25.1: a CR alone before the end", "INVITE sip:a@b SIP/2.0\r\nX: a\r\r\n\r\n", .badHeaderLine),
        .init("§25.1: NUL in the start line", "INVITE sip:a\0@b SIP/2.0\r\n\r\n", .nulByte),
        .init("§25.1: NUL in a field", "INVITE sip:a@b SIP/2.0\r\nTo: \0\r\n\r\n", .nulByte),
        .init("§25.1: NUL in a fold", "INVITE sip:a@b SIP/2.0\r\nTo: a\r\n \0\r\n\r\n", .nulByte),
    ]

    @Test(arguments: refused)
    func `what is no message says why`(row: Refused) {
        #expect(throws: row.error) { try SIPMessage.index(Array(row.datagram.utf8)) }
    }

    /// RFC 8224 §4: an Identity field with a certificate chain or rich call data is longer than all others together.
    @Test(arguments: [
        ("Identity", 16_375), ("Identity", 60_000), ("X-Unknown", 60_000), ("Subject", 60_000), ("Via", 40_000),
        ("P-Asserted-Identity", 60_000), ("Call-Info", 60_000), ("From", 60_000),
    ])
    func `a field of any size passes in a message within its limit`(name: String, bytes: Int) throws {
        for fold in ["", "\r\n "] {
            let value = String(repeating: "a", count: bytes / 2) + fold + String(repeating: "b", count: bytes / 2)
            let message = try WireMessage.message(["INVITE sip:a@b SIP/2.0", "\(name): \(value)"])
            #expect(message.headers.count == 1 && message.headers[0].value.count == value.utf8.count)
            let response = try WireMessage.message(["SIP/2.0 200 OK", "\(name): \(value)"])
            #expect(response.headers[0].value.count == value.utf8.count)
        }
    }

    @Test func `a response is never refused for the number of its fields`() throws {
        let fields = (1...500).map { "X-\($0): a" }
        #expect(try WireMessage.message(["SIP/2.0 200 OK"] + fields).headers.count == 500)
        #expect(throws: SIPIndexError.tooManyFields) { try WireMessage.message(["ACK a:b SIP/2.0"] + fields) }
    }

    @Test func `a NUL behind a backslash is part of a quoted string`() throws {
        // RFC 3261 §25.1 quoted-pair, RFC 4475 §3.1.1.2; a Request-URI has no quoted strings.
        let message = try WireMessage.message(["ACK a:b SIP/2.0", "To: \"\\\0\" <a:b>"])
        #expect(message[message.headers[0].value].contains(0))
        #expect(throws: SIPIndexError.nulByte) { try WireMessage.message(["ACK a:\\\0b SIP/2.0"]) }
    }

    @Test func `every refusal has a row`() {
        let shown = Set(Self.refused.map(\.error)).union([.overLimit, .tooManyFields])
        #expect(shown == Set(SIPIndexError.allCases))
    }

    @Test(arguments: [
        ("v: a", HeaderName.via, "a"), ("VIA: a", .via, "a"), ("Via\t : a", .via, "a"), ("f:a", .from, "a"),
        ("T: a", .to, "a"), ("i: a", .callID, "a"), ("m: a", .contact, "a"), ("y: a", .identity, "a"),
        ("CSEQ: 1 A", .cseq, "1 A"), ("max-forwards:70", .maxForwards, "70"), ("ROUTE: <sip:a>", .route, "<sip:a>"),
        ("Record-Route: a", .recordRoute, "a"), ("Proxy-Require: a", .proxyRequire, "a"), ("Reason: a", .reason, "a"),
        ("P-Asserted-Identity: a", .pAssertedIdentity, "a"), ("Remote-Party-ID: a", .remotePartyID, "a"),
        ("P-Preferred-Identity: a", .pPreferredIdentity, "a"), ("PRIVACY: id", .privacy, "id"),
        ("Call-Info: a", .callInfo, "a"), ("Identity: a", .identity, "a"), ("Replaces: a", .replaces, "a"),
        ("Priority: a", .priority, "a"), ("Resource-Priority: a", .resourcePriority, "a"),
        ("X-AUTH-IP: a", .proxyVouched, "a"), ("x-auth-port: 1", .proxyVouched, "1"),
        ("Timestamp: 54", .timestamp, "54"), ("x: 90", .sessionExpires, "90"),
        ("Session-Expires: 90", .sessionExpires, "90"), ("Retry-After: 5", .retryAfter, "5"),
        ("User-Agent: a", .userAgent, "a"), ("DIVERSION: a", .diversion, "a"), ("History-Info: a", .historyInfo, "a"),
        ("P-Attestation-Indicator: A", .attestation, "A"), ("Attestation-Info: A", .attestation, "A"),
        ("P-Origination-Id: A", .attestation, "A"), ("Origination-Id: A", .attestation, "A"),
        ("X-Fro: a", .other, "a"), ("Call_ID: a", .other, "a"), ("Subject:", .other, ""), ("s:  a b\t ", .other, "a b"),
        ("Subject: a\r\n\tb\r\n  c", .other, "a\r\n\tb\r\n  c"), ("Subject:\r\n a", .other, "a"), ("To:\r\n ", .to, ""),
    ])
    func `a field is known by its name, its value is cut out as it is`(
        line: String, name: HeaderName, value: String
    ) throws {
        // §7.3.1: names without case, white space before the colon, folds; §7.3.3: compact forms.
        let message = try WireMessage.message(["OPTIONS sip:a@b SIP/2.0", line, "Subject: last"])
        let field = try #require(message.headers.first)
        #expect(field.name == name)
        #expect(message.text(field.value) == value)
        #expect(message.text(field.start..<field.end) == line + "\r\n")
        #expect(message.headers.count == 2)
    }

    @Test(arguments: [
        "to", "via", "from", "cseq", "route", "reason", "call-id", "contact", "privacy", "identity", "replaces",
        "priority",
        "call-info", "x-auth-ip", "timestamp", "x-auth-port", "max-forwards", "record-route", "proxy-require",
        "content-length", "origination-id", "remote-party-id", "attestation-info", "p-origination-id",
        "resource-priority", "session-expires", "retry-after", "user-agent", "diversion", "history-info",
        "p-asserted-identity", "p-preferred-identity", "p-attestation-indicator",
    ])
    func `a name is known in either case of every letter, and by no other character in any place`(name: String) throws {
        let letters = Array(name.utf8)
        let known = HeaderName.recognise(letters.span.bytes, letters.indices)
        #expect(known != .other)
        for place in 0..<name.utf8.count {
            var bytes = letters
            let letter = letters[place]
            for byte in UInt8.min...UInt8.max {
                bytes[place] = byte
                let isSame = byte == letter || (97...122).contains(letter) && byte == letter - 32
                #expect((HeaderName.recognise(bytes.span.bytes, bytes.indices) == known) == isSame)
            }
        }
    }

    @Test func `a content length in either form is read`() throws {
        for line in ["Content-Length: 3", "l: 3", "CONTENT-LENGTH : 003"] {
            let message = try WireMessage.message(["OPTIONS sip:a@b SIP/2.0", line], body: "abc")
            #expect(message.contentLength == 3)
        }
    }

    @Test func `the parts of a request line`() throws {
        let message = try WireMessage.message(["INVITE sip:a@b SIP/2.0"])
        #expect(message.method == .invite)
        #expect(message.status == nil)
        #expect(message.text(message.requestURI) == "sip:a@b")
        #expect(message.bodyStart == message.bytes.count)
        #expect(try WireMessage.message(["invite sip:a@b sip/2.0"]).method == .other)  // §7.1: methods have case
    }

    @Test(arguments: [
        ("SIP/2.0 200 OK", 200), ("SIP/2.0 100 ", 100), ("SIP/2.0 180", 180), ("sip/2.0 699 Ende", 699),
        ("SIP/2.0 200 = 2**3 * 5**2 \u{43d}\u{43e}", 200),
    ])
    func `a status line may have any phrase or none`(line: String, status: Int) throws {
        let message = try WireMessage.message([line])
        #expect(message.status == status)
        #expect(message.method == nil)
        #expect(message.requestURI.isEmpty)
    }

    @Test func `line ends before the start line are dropped, and positions count from the start line`() throws {
        let plain = WireMessage.bytes(WireMessage.invite)
        let message = try SIPMessage.index(Array("\r\n\n\r\n".utf8) + plain)
        #expect(message.bytes == plain)
        #expect(message.text(message.requestURI) == "sip:+4930987654@192.0.2.10")
    }

    @Test func `a bare line feed ends a line`() throws {
        let message = try SIPMessage.index(Array("OPTIONS sip:a@b SIP/2.0\nTo: a\n b\nFrom: c\r\n\nbody".utf8))
        #expect(message.headers.map { message.text($0.value) } == ["a\n b", "c"])
        #expect(message.text(message.bodyStart..<message.bytes.count) == "body")
    }

    @Test(arguments: [(3, "abc"), (0, ""), (6, "abcdef"), (7, "abcdef")])
    func `what follows the announced body is cut`(length: Int, body: String) throws {
        // §18.3; a body shorter than announced stays for validation.
        let message = try WireMessage.message(["OPTIONS sip:a@b SIP/2.0", "l: \(length)"], body: "abcdef")
        #expect(message.text(message.bodyStart..<message.bytes.count) == body)
    }

    @Test(arguments: ["4294967296", "-1", "9999999999999999999999", "1x", "", "2147483648"])
    func `a content length that is no number cuts nothing`(value: String) throws {
        let message = try WireMessage.message(["OPTIONS sip:a@b SIP/2.0", "l: \(value)"], body: "abcdef")
        #expect(message.contentLength == nil)
        #expect(message.bytes.count - message.bodyStart == 6)
    }

    @Test func `a body may hold anything`() throws {
        let message = try SIPMessage.index(Array("OPTIONS sip:a@b SIP/2.0\r\n\r\n\0\r\r\0: \u{0}".utf8))
        #expect(message.headers.isEmpty)
    }

    @Test(arguments: [
        (SIPLimits(messageBytes: 59), SIPIndexError.overLimit), (SIPLimits(messageBytes: 60), nil),
        (SIPLimits(headerFields: 1), .tooManyFields), (SIPLimits(headerFields: 2), nil),
    ])
    func `limits are kept to the byte`(limits: SIPLimits, error: SIPIndexError?) throws {
        // 60 bytes: a start line of 25 with its end, a field of 9, a folded one of 24, the empty line.
        let datagram = Array("OPTIONS sip:a@b SIP/2.0\r\nTo: abc\r\nSubject: a\r\n b c d e f\r\n\r\n".utf8)
        #expect(datagram.count == 60)
        if let error {
            #expect(throws: error) { try SIPMessage.index(datagram, limits: limits) }
        } else {
            #expect(try SIPMessage.index(datagram, limits: limits).headers.count == 2)
        }
    }

    @Test func `the tag of From and To isPresent behind the URI`() throws {
        let message = try WireMessage.message([
            "OPTIONS sip:a@b SIP/2.0", "f: \"x;tag=no\" <sip:a;tag=no@b;tag=no>;x;TAG = yes ;tag=no",
            "t: sip:a@b;tag=t",
        ])
        #expect(message.fromTag.map(message.text) == "yes")  // §19.3, §7.3.1: parameter names have no case
        #expect(message.toTag.map(message.text) == "t")  // §20: without brackets they belong to the header
        #expect(message.isInDialog)
    }

    @Test func `§18.3: a request with filler behind its body holds the memory of its own bytes alone`() throws {
        let text = "OPTIONS sip:a@b SIP/2.0\r\nl: 0\r\n\r\n"
        let datagram = Array((text + String(repeating: "x", count: 60_000)).utf8)
        let message = try SIPMessage.index(datagram.span, limits: SIPLimits())
        #expect(message.bytes == Array(text.utf8))
        #expect(message.bytes.capacity < 256)
    }
}
