// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import SIPCore

@Suite("Plain URIs, read without libosip2")
struct PlainURITests {
    /// What plain URIs are made of, and what makes one another kind; every piece may follow every other.
    private static let plain = ["a", "+4930", "b.example", "@", ":5060", ";lr", ";x=y", ";hd=3ib01", "_", "-", "."]
    private static let odd = [
        "sip:", "192.0.2.1", "[::1]", ":", ":0", ":65536", ";", ";x=", "=", "?h=v", "%41", "%", "/", ",", "&", "<", ">",
        " ", "\"", "é", "~", "*", "@",
    ]

    private static func text(_ random: inout RepeatableRandom) -> [UInt8] {
        let text = (0..<Int.random(in: 1...7, using: &random)).map { _ in
            (Int.random(in: 0..<8, using: &random) == 0 ? odd : plain).randomElement(using: &random) ?? ""
        }
        return Array(((Bool.random(using: &random) ? "sip:" : "tel:") + text.joined()).utf8)
    }

    @Test func `what is read as plain, libosip2 reads the same`() throws {
        var random = RepeatableRandom(seed: 4475)
        var plain = 0
        for _ in 0..<30_000 {
            let text = Self.text(&random)
            guard PlainURI.read(text, text.indices) != nil else { continue }
            plain += 1
            let ours = try #require(SIPURI(text))
            let theirs = SIPURI(grammar: text[...])
            #expect(ours == theirs, "\(String(decoding: text, as: UTF8.self))")
            if ours != theirs { return }
        }
        #expect(plain > 2000)
    }

    @Test func `what is taken as a plain address, libosip2 accepts`() {
        var random = RepeatableRandom(seed: 3261)
        var plain = 0
        for _ in 0..<30_000 {
            let text =
                Array("<".utf8) + Self.text(&random) + Array(">".utf8)
                + (Bool.random(using: &random) ? Array(";tag=1-x_.+y".utf8) : [])
            guard PlainURI.address(text, text.indices) != nil else { continue }
            plain += 1
            let isAccepted = NameAddress.grammarAccepts(text[...])
            #expect(isAccepted, "\(String(decoding: text, as: UTF8.self))")
            if !isAccepted { return }
        }
        #expect(plain > 2000)
    }

    @Test(arguments: [
        "sip:+49301234@192.0.2.1:5060", "sips:gw.example", "sip:a@b;user=phone;lr",
        "sip:+4930;phone-context=x@b.example", "tel:+49-30-1234", "TEL:110;phone-context=+49;verstat=No-TN-Validation",
        "SIP:192.0.2.10;lr;hd=3ib0123456789abcdef",
    ])
    func `the URIs of the road are plain`(uri: String) {
        #expect(PlainURI.read(Array(uri.utf8), 0..<uri.utf8.count) != nil)
    }

    @Test(arguments: [
        "tel:", "tel:;x=y", "tel:+49;", "tel:+49;x=", "tel:(030)12", "tel:+49@b", "sip:a:b@c", "sip:a%41@c",
        "sip:[::1]", "sip:a@b:0", "sip:a@b:65536", "sip:a@b:", "sip:@b", "sip:",
        "sip:a@b;", "sip:a@b;;lr", "sip:a@b;x=", "sip:a@b?x=y", "sip:a@b@c", "sip:a_b", "sip:a@b_c", "http://a",
        "sip:a;x=y", "sip:a@b c",
    ])
    func `what leaves a doubt is left to libosip2`(uri: String) {
        let isHostWithParameters = uri == "sip:a;x=y"
        #expect((PlainURI.read(Array(uri.utf8), 0..<uri.utf8.count) != nil) == isHostWithParameters)
    }
}
