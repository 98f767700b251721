// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Header field names, RFC 3261 §7.3.1, §7.3.3 and §20")
struct HeaderNameTests {
    /// The field that a line is recognised as.
    private static func name(_ line: String) throws -> HeaderName {
        try #require(try WireMessage.message(["OPTIONS sip:a@b SIP/2.0", "\(line): a"]).headers.first).name
    }

    static let names: [(String, HeaderName)] = [
        // RFC 3261 §20.
        ("Via", .via), ("From", .from), ("To", .to), ("Call-ID", .callID), ("CSeq", .cseq), ("Contact", .contact),
        ("Max-Forwards", .maxForwards), ("Route", .route), ("Record-Route", .recordRoute),
        ("Content-Length", .contentLength), ("Proxy-Require", .proxyRequire), ("Call-Info", .callInfo),
        ("Priority", .priority), ("Timestamp", .timestamp), ("Retry-After", .retryAfter), ("User-Agent", .userAgent),
        ("Alert-Info", .answering),
        // RFC 3325 §9, draft-ietf-sip-privacy, RFC 3323 §4.2, RFC 8224 §4, RFC 3326, RFC 3891, RFC 4412, RFC 4028.
        ("P-Asserted-Identity", .pAssertedIdentity), ("P-Preferred-Identity", .pPreferredIdentity),
        ("Remote-Party-ID", .remotePartyID), ("Privacy", .privacy), ("Identity", .identity), ("Reason", .reason),
        ("Replaces", .replaces), ("Resource-Priority", .resourcePriority), ("Session-Expires", .sessionExpires),
        // RFC 5806, RFC 7044, RFC 5373, ATIS-1000082, and two of a PBX.
        ("Diversion", .diversion), ("History-Info", .historyInfo), ("Answer-Mode", .answering),
        ("Priv-Answer-Mode", .answering), ("P-Attestation-Indicator", .attestation),
        ("Attestation-Info", .attestation), ("P-Origination-Id", .attestation), ("Origination-Id", .attestation),
        ("X-AUTH-IP", .proxyVouched), ("X-AUTH-PORT", .proxyVouched), ("X-Herald-Trust", .proxyVouched),
    ]

    @Test(arguments: names)
    func `a name is recognised in any case, §7.3.1`(text: String, name: HeaderName) throws {
        for written in [text, text.lowercased(), text.uppercased()] { #expect(try Self.name(written) == name) }
    }

    @Test(arguments: [
        // RFC 3261 §20 and §7.3.3; RFC 8224 §4 for y, RFC 4028 §4 for x.
        ("v", HeaderName.via), ("f", .from), ("t", .to), ("i", .callID), ("m", .contact), ("l", .contentLength),
        ("y", .identity), ("x", .sessionExpires),
        // Content-Type, Content-Encoding, Supported, Subject, Refer-To, Event, Allow-Events, Referred-By: not read.
        ("c", .other), ("e", .other), ("k", .other), ("s", .other), ("r", .other), ("o", .other), ("u", .other),
        ("b", .other),
    ])
    func `a compact form is its long one, in either case, §7.3.3`(letter: String, name: HeaderName) throws {
        #expect(try Self.name(letter) == name)
        #expect(try Self.name(letter.uppercased()) == name)
    }

    @Test(arguments: [
        "Vi", "Vias", "X-From", "From-", "Fro", "To_", "CallID", "Call_ID", "C-Seq", "CSeqs", "Contacts",
        "Content-Lengths", "Max_Forwards", "P-Asserted-Identities", "P_Asserted_Identity", "Route-Record", "Record",
        "Identity-Info", "Via2", "0", "-", "!", "x-auth-i", "RemotePartyID", "Session-Expire",
    ])
    func `every other name is another field's`(text: String) throws {
        #expect(try Self.name(text) == .other)
    }

    @Test(arguments: names)
    func `no letter of a name may differ`(text: String, name: HeaderName) throws {
        for place in text.utf8.indices {
            var changed = Array(text.utf8)
            let offset = text.utf8.distance(from: text.utf8.startIndex, to: place)
            changed[offset] = changed[offset] == UInt8(ascii: "q") ? UInt8(ascii: "z") : UInt8(ascii: "q")
            #expect(try Self.name(String(decoding: changed, as: UTF8.self)) == .other, "\(text) at \(offset)")
        }
    }

    @Test(arguments: [
        ("From", HeaderName.from as HeaderName?), ("i", .callID), ("retry-after", .retryAfter), ("Subject", nil),
        // Fields of one kind with several names have no name of their own.
        ("Alert-Info", nil), ("X-AUTH-IP", nil), ("Attestation-Info", nil),
    ])
    func `an operator's name is found by its long or compact form`(text: String, name: HeaderName?) {
        #expect(HeaderName(named: Array(text.utf8)) == name)
    }

    @Test func `the first field of a name counts, whatever its form, §7.3.1`() throws {
        let message = try WireMessage.message([
            "OPTIONS sip:a@b SIP/2.0", "Subject: x", "i: 1", "Call-ID: 2", "To : a", "t: b",
        ])
        #expect(message.first(.callID).map { message.text($0.value) } == "1")
        #expect(message.first(.to).map { message.text($0.value) } == "a")
        #expect(message.has(.to) && !message.has(.via))
    }
}
