// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing
import TrustFixtures

@testable import Trust

/// RFC 9795 §5 and §6: names, reasons, pictures and their digests.
@Suite("Rich call data")
struct RichCallDataTests {
    private static let lab = TrustLab.shared

    private static func data(_ claims: String, _ rules: RichCallRules = RichCallRules()) throws -> RichCallData? {
        RichCallData(try #require(StrictJSON(Array("{\(claims)}".utf8))), rules: rules)
    }

    private static func sha256(_ text: String) -> String {
        "sha256-" + Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
    }

    // MARK: Construction

    @Test(
        arguments: [
            (#""rcd":{"nam":"Q"}"#, "Q", "§5.1.1: a name"),
            (#""rcd":{"nam":"Q","apn":"12025551212"}"#, "Q", "§5.1.2: another number"),
            (#""rcd":{"nam":"Q","x":1}"#, "Q", "an unknown member"),
            (#""rcd":{"nam":"Q","icn":"data:image/png;base64,AA"}"#, "Q", "§5.1.3: a picture inside"),
            (#""rcd":{"nam":"Q","jcd":["vcard",[["version",{},"text","4.0"]]]}"#, "Q", "§5.1.4: a card"),
            (#""rcd":{"nam":"Q","jcd":["vcard",[["photo",{},"uri","data:,x"]]]}"#, "Q", "a picture inside a card"),
            (#""rcd":{"nam":""}"#, nil, "an empty name"),
            (#""rcd":{}"#, nil, "§5.1.1: no name"),
            (#""rcd":{"nam":7}"#, nil, "a name of no text"),
            (#""rcd":["Q"]"#, nil, "no object"),
            (#""rcd":{"nam":"Q","apn":12025551212}"#, nil, "a number of no text"),
            (#""rcd":{"nam":"Q","apn":"call me"}"#, nil, "no number"),
            (#""rcd":{"nam":"Q","icn":7}"#, nil, "a picture of no text"),
            (#""rcd":{"nam":"Q","icn":"http://a.example/q.png"}"#, nil, "a picture without TLS"),
            (#""rcd":{"nam":"Q","icn":"https://a.example/q.png"}"#, nil, "§6.1: a picture elsewhere without digest"),
            (#""rcd":{"nam":"Q","jcl":"https://a.example/c.json"}"#, nil, "a card elsewhere without digest"),
            (#""rcd":{"nam":"Q","jcl":"http://a.example/c.json"}"#, nil, "a card without TLS"),
            (#""rcd":{"nam":"Q","jcl":7}"#, nil, "a card of no text"),
            (#""rcd":{"nam":"Q","jcd":{"vcard":[]}}"#, nil, "§6.1.3: a card is a list"),
            (#""rcd":{"nam":"Q","jcd":["card",[]]}"#, nil, "RFC 7095 §3.2: another first element"),
            (#""rcd":{"nam":"Q","jcd":["vcard",[],1]}"#, nil, "a third element"),
            (#""rcd":{"nam":"Q","jcd":["vcard",[["fn",{},"text"]]]}"#, nil, "a property without value"),
            (
                #""rcd":{"nam":"Q","jcd":["vcard",[["photo",{},"uri","https://a.example/q.png"]]]}"#, nil,
                "a picture of a card without digest"
            ),
            (#""rcd":{"nam":"Q","jcd":["vcard",[["photo",{},"uri",7]]]}"#, nil, "a picture of no text"),
            (#""rcd":{"nam":"Q","jcd":["vcard",[]],"jcl":"https://a.example/c.json"}"#, nil, "§5.1.5: two cards"),
            (#""rcd":{"nam":"Q"},"rcdi":7"#, nil, "§6: a digest of no text"),
            (#""rcd":{"nam":"Q"},"rcdi":{"/nam":7}"#, nil, "a digest of no text"),
            (#""rcd":{"nam":"Q"},"rcdi":{"/nam":"md5-AAAA"}"#, nil, "another hash function"),
            (#""rcd":{"nam":"Q"},"rcdi":{"/nam":"sha256-AAAA"}"#, nil, "another length"),
            (#""rcd":{"nam":"Q"},"rcdi":{"/nam":"sha256"}"#, nil, "no digest"),
            (#""rcdi":{}"#, nil, "digests of nothing"),
        ] as [(String, String?, String)])
    func `claims follow the rules of construction`(_ claims: String, _ name: String?, _ rule: String) throws {
        let data = try #require(try Self.data(claims))
        if let name {
            #expect(data.name == .verified(name) && data.marks.isEmpty, "\(rule)")
        } else {
            #expect(!data.hasVerifiedName && data.reason == .absent && data.icon == .absent, "\(rule)")
            #expect(data.marks.all == (rule == "an empty name" ? [] : [.rcdMalformed]), "\(rule)")
        }
    }

    @Test func `a reason needs no name, and no claim is no data`() throws {
        #expect(try Self.data(#""crn":"Your order""#)?.reason == .verified("Your order"))
        #expect(try Self.data(#""crn":7,"rcd":{"nam":"Q"}"#)?.marks.all == [.rcdMalformed])
        #expect(try Self.data(#""iat":1"#) == nil)
    }

    @Test func `a card that comes with the message is refused or dropped`() throws {
        let claims = #""rcd":{"nam":"Q","jcl":"cid:1"}"#
        #expect(try Self.data(claims)?.marks.all == [.rcdMalformed])
        var rules = RichCallRules()
        rules.cardByContent = .drop
        let data = try #require(try Self.data(claims, rules))
        #expect(data.name == .verified("Q") && data.marks.all == [.rcdJCL])
    }

    // MARK: Digests

    @Test(
        arguments: [
            ("sha256-sM275lTgzCte+LHOKHtU4SxG8shlOo6OS4ot8IJQImY=", [], "§6.1.1: the published digest"),
            ("sha256-sM275lTgzCte+LHOKHtU4SxG8shlOo6OS4ot8IJQImY", [], "without padding"),
            ("sha256-tbh37rWCJ/BF9cuhFJFpJTWb8sVRb0L2F6iGDVZSBLo=", [.rcdDigestBare], "of the bare text"),
            ("sha256-8os8rHVAb1ySxKgRU0iYWrsiHRYzJVr9nnAhvxzHhj4=", [.rcdName], "of another name"),
        ] as [(String, [TrustCause], String)])
    func `the digest of a name`(_ digest: String, _ marks: [TrustCause], _ rule: String) throws {
        let data = try #require(try Self.data(#""rcd":{"nam":"Q Branch Spy Gadgets"},"rcdi":{"/nam":"\#(digest)"}"#))
        #expect(data.marks.all == marks, "\(rule)")
        #expect(
            data.name == (marks == [.rcdName] ? .unverified(.rcdName) : .verified("Q Branch Spy Gadgets")), "\(rule)")
    }

    @Test func `each hash function of the RFC is known`() throws {
        let text = Data(#""Q""#.utf8)
        for digest in [
            Self.sha256(#""Q""#), "sha384-" + Data(SHA384.hash(data: text)).base64EncodedString(),
            "sha512-" + Data(SHA512.hash(data: text)).base64EncodedString(),
        ] {
            #expect(try Self.data(#""rcd":{"nam":"Q"},"rcdi":{"/nam":"\#(digest)"}"#)?.name == .verified("Q"))
        }
    }

    @Test func `the published digests of a card and of a link`() throws {
        // RFC 9795 §6.1.3 and §6.1.2.
        let card = try #require(Self.lab.vectors.first { $0.name.hasPrefix("rcd with jcd, all digests") })
        let text = Array(card.token.split(separator: ".")[1].utf8)
        let decoded = Base64.decode(text.span)
        let payload = try #require(decoded)
        let json = try #require(StrictJSON(payload))
        let data = try #require(RichCallData(json, rules: RichCallRules()))
        #expect(data.name == .verified("Q Branch Spy Gadgets") && data.marks.isEmpty)
        let changed = String(decoding: payload, as: UTF8.self).replacing("7kdCBZqH", with: "8kdCBZqH")
        // The card has no value that is shown, so its digest takes nothing.
        let other = try #require(StrictJSON(Array(changed.utf8)))
        #expect(RichCallData(other, rules: RichCallRules())?.marks.isEmpty == true)
        let link =
            #""rcd":{"nam":"Q","jcl":"https://a.example/c.json"},"rcdi":{"/jcl":"sha256-qCn4pEH6BJu7zXndLFuAP6DwlTv5fRmJ1AFkqftwnCs"}"#
        #expect(try Self.data(link)?.name == .verified("Q"))
    }

    @Test func `a picture elsewhere is named with its digest`() throws {
        let digest = "sha256-RojgWwU6xUtI4q82+kHPyHm1JKbm7+663bMvzymhkl4"
        let data = try #require(
            try Self.data(#""rcd":{"nam":"Q","icn":"https://a.example/q.png"},"rcdi":{"/icn":"\#(digest)"}"#))
        #expect(data.icon == .named(address: "https://a.example/q.png", digest: digest) && data.marks.all == [.rcdIcon])
        let inside = #""rcd":{"nam":"Q","icn":"data:,x"},"rcdi":{"/icn":"\#(digest)"}"#
        #expect(try Self.data(inside)?.icon == .unverified(.rcdIcon))
        let good = #""rcd":{"nam":"Q","icn":"data:,x"},"rcdi":{"/icn":"\#(Self.sha256(#""data:,x""#))"}"#
        #expect(try Self.data(good)?.icon == .inline("data:,x"))
    }

    @Test func `one digest may cover the whole claim`() throws {
        let whole = Self.sha256(#"{"apn":"1","nam":"Q"}"#)
        let data = try #require(try Self.data(#""rcd":{"nam":"Q", "apn":"1"},"rcdi":"\#(whole)""#))
        #expect(data.name == .verified("Q") && data.marks.all == [.rcdDigestWhole])
        let other = try #require(try Self.data(#""rcd":{"nam":"R","apn":"1"},"rcdi":"\#(whole)""#))
        #expect(other.name == .unverified(.rcdName))
        let pointer = try #require(try Self.data(#""rcd":{"nam":"R","apn":"1"},"rcdi":{"":"\#(whole)"}"#))
        #expect(pointer.name == .unverified(.rcdName))
    }

    @Test(arguments: [
        ("/a~1b", #""x""#, true), ("/m~0n", #""y""#, true), ("/l/0", "1", true), ("/l/1/k", "true", true),
        ("/l", #"[1,{"k":true}]"#, true),
        ("", "", false), ("a", "", false), ("/l/01", "", false), ("/l/2", "", false), ("/l/-", "", false),
        ("/l/ 0", "", false),
        ("/a~2b", "", false), ("/a~", "", false), ("/nam/0", "", false), ("/none", "", false),
        ("/l/99999999999999999999", "", false),
    ])
    func `pointers are those of RFC 6901`(_ pointer: String, _ value: String, _ isValid: Bool) throws {
        let rcd = #""rcd":{"nam":"Q","a/b":"x","m~n":"y","l":[1,{"k":true}]}"#
        guard pointer != "" else { return }
        let data = try #require(try Self.data(#"\#(rcd),"rcdi":{"\#(pointer)":"\#(Self.sha256(value))"}"#))
        #expect(data.hasVerifiedName == isValid)
    }

    // MARK: Parties

    private static func rich(_ further: String = "", by name: String = "spc", orig: String = "12025551000") throws
        -> String
    {
        try lab.signed(
            #"{"dest":{"tn":["12025551001"]},"iat":1471375418\#(further),"orig":{"tn":"\#(orig)"},"rcd":{"nam":"Q"}}"#,
            by: name,
            ppt: "rcd")
    }

    @Test func `a third party counts beside the first one, where the regime lists it`() throws {
        // RFC 9795 §10.
        var policy = TrustLab.policy("us")
        let snapshot = try Self.lab.snapshot()
        let first = try Self.lab.signed(TrustLab.claims())
        let third = try Self.rich(#","iss":"Zorin Industries""#, by: "div-b")
        #expect(snapshot.verify([first, third], under: policy).causes == [.passed, .rcdAlone])
        policy.regimes[0].rcd.thirdParty = ["567B"]
        let verdict = snapshot.verify([third, first], under: policy)
        #expect(verdict.causes == [.passed, .passed] && verdict.name == .verified("Q"))
        #expect(snapshot.verify([third], under: policy).causes == [.rcdAlone])
        let broken = first.replacing(";info", with: "A;info")
        #expect(snapshot.verify([broken, third], under: policy).number == .failed)
    }

    @Test(
        arguments: [(.a, "A", true), (.a, "B", false), (.b, "B", true), (.c, "C", true), (.b, "C", false)]
            as [(Attestation, String, Bool)])
    func `a name needs an attestation`(_ needs: Attestation, _ attestation: String, _ isVerified: Bool) throws {
        var policy = TrustLab.policy("us")
        policy.regimes[0].rcd.needs = needs
        let claims = TrustLab.claims(#","crn":"Order","rcd":{"nam":"Q"}"#)
            .replacing(#""attest":"A""#, with: "\"attest\":\"\(attestation)\"")
        let verdict = try Self.lab.snapshot(["spc"]).verify([try Self.lab.signed(claims)], under: policy)
        #expect(verdict.name == (isVerified ? .verified("Q") : .unverified(.rcdAttestation)))
        #expect(verdict.reason == (isVerified ? .verified("Order") : .unverified(.rcdAttestation)))
        #expect(verdict.marks.contains(.rcdAttestation) != isVerified)
    }

    @Test func `names of a token that failed are never shown`() throws {
        let claims = TrustLab.claims(#","rcd":{"nam":"Q"}"#)
        let snapshot = try Self.lab.snapshot()
        let wrong = try Self.lab.signed(claims, by: "swapped")
        let other = Self.lab.snapshot(of: try Self.lab.signer("spc"), at: "swapped").verify([wrong])
        #expect(other.causes == [.badSignature] && other.name == .absent)
        #expect(snapshot.verify([try Self.lab.signed(claims)], at: 1_471_379_000).name == .absent)
        let call = SignedCall(caller: "12025557777", called: "12025551001")
        #expect(snapshot.verify([try Self.lab.signed(claims)], of: call).name == .absent)
    }

    @Test func `a token of the type must have a name or a reason`() throws {
        let value = try Self.lab.signed(
            #"{"dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"12025551000"}}"#, ppt: "rcd")
        #expect(try Self.lab.snapshot().verify([value]).marks.all == [.rcdMalformed])
        // RFC 9795 §9: claims of another type than shaken and rcd do not count.
        let base = try Self.lab.signed(
            #"{"dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"12025551000"},"rcd":{"nam":"Q"}}"#, ppt: nil
        )
        #expect(try Self.lab.snapshot().verify([base]).name == .absent)
    }
}
