// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Trust

/// RFC 8259 with the choices taken away, and the deterministic form of RFC 8225 §9.
@Suite("Strict JSON of tokens")
struct StrictJSONTests {
    private static func read(_ text: String) -> StrictJSON? { StrictJSON(Array(text.utf8)) }

    private static func nested(_ levels: Int) -> String {
        #"{"a":"# + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + "}"
    }

    private static func members(_ count: Int) -> String {
        "{" + (0..<count).map { #""m\#($0)":0"# }.joined(separator: ",") + "}"
    }

    @Test(arguments: [
        ("{}", "RFC 8259 §4: an empty object"),
        (" \t\r\n{ } \n", "§2: white space around"),
        (#"{"a":1,"b":-2,"c":0,"d":-0}"#, "§6: integers"),
        (#"{"a":9007199254740992,"b":-9007199254740992}"#, "§6: the bounds of integers"),
        (#"{"a":1.5,"b":1e3,"c":-0.1E-2,"d":1E+2}"#, "§6: fractions and exponents"),
        (#"{"a":true,"b":false,"c":null}"#, "§3: literal names"),
        (#"{"a":"\"\\\/\b\f\n\r\tA\u00e9\ud83d\ude00"}"#, "§7: escapes"),
        (#"{"a":"Zürich ☎ 😀"}"#, "§8.1: UTF-8"),
        (#"{"":0}"#, "§4: a name may be empty"),
        (#"{"a":[1,[2,{"b":[]}]]}"#, "§5: arrays"),
        (nested(8), "eight levels"),
        (members(64), "64 members"),
    ])
    func `an object is read`(_ text: String, _ rule: String) {
        #expect(Self.read(text) != nil, "\(rule)")
    }

    @Test(arguments: [
        ("", "no bytes"),
        ("[]", "§2: no object at the top"),
        (#""a""#, "text at the top"),
        ("{", "an open object"),
        (#"{"a""#, "no value"),
        (#"{"a":1"#, "no end"),
        (#"{"a":1,}"#, "§4: a comma before the end"),
        (#"{,"a":1}"#, "a comma at the beginning"),
        (#"{"a" 1}"#, "no colon"),
        (#"{a:1}"#, "a name without quotes"),
        (#"{'a':1}"#, "single quotes"),
        (#"{"a":[1,]}"#, "§5: a comma before the end"),
        (#"{"a":[1 2]}"#, "no comma"),
        (#"{"a":01}"#, "§6: a leading zero"),
        (#"{"a":+1}"#, "a plus sign"),
        (#"{"a":1.}"#, "no digit behind the point"),
        (#"{"a":.5}"#, "no digit before the point"),
        (#"{"a":1e}"#, "no exponent"),
        (#"{"a":-}"#, "a sign alone"),
        (#"{"a":NaN}"#, "no number"),
        (#"{"a":9007199254740993}"#, "an integer beyond 2^53"),
        (#"{"a":99999999999999999999999999}"#, "an integer beyond 64 bits"),
        (#"{"a":True}"#, "§3: a literal name in upper case"),
        (#"{"a":nul}"#, "half a literal name"),
        (#"{"a":"b}"#, "§7: open text"),
        ("{\"a\":\"\u{1}\"}", "a control character"),
        ("{\"a\":\"\n\"}", "a line end in text"),
        (#"{"a":"\x41"}"#, "an unknown escape"),
        (#"{"a":"\u12g4"}"#, "no hexadecimal digit"),
        (#"{"a":"\u12"}"#, "half an escape"),
        (#"{"a":"\ud83d"}"#, "half a pair of surrogates"),
        (#"{"a":"\ud83dA"}"#, "a pair with another character"),
        (#"{"a":"\ude00"}"#, "the second half alone"),
        (#"{"a":1}{"b":2}"#, "a second object"),
        (#"{"a":1} x"#, "bytes behind the object"),
        ("\u{FEFF}{}", "§8.1: a byte order mark"),
        (#"{"a":1,"a":2}"#, "RFC 8725 §2.4: a name twice"),
        (#"{"a":1,"\u0061":2}"#, "a name twice, once with an escape"),
        (#"{"b":{"a":1,"a":1}}"#, "a name twice inside"),
        (#"{"b":[{"x":0,"a":1,"a":1}]}"#, "a name twice inside an array"),
        (nested(9), "nine levels"),
        (nested(20), "twenty levels"),
        (members(65), "65 members"),
    ])
    func `anything else is refused`(_ text: String, _ rule: String) {
        #expect(Self.read(text) == nil, "\(rule)")
    }

    @Test(
        arguments: [[0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0x80]] as [[UInt8]])
    func `bytes that are no UTF-8 are refused`(_ bytes: [UInt8]) {
        #expect(StrictJSON(Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)) == nil)
    }

    @Test(arguments: [
        (#"{"b":1,"a":2}"#, #"{"a":2,"b":1}"#, "members in order"),
        (#"{ "a" : [ 1 , 2 ] }"#, #"{"a":[1,2]}"#, "no white space"),
        (#"{"B":1,"a":2,"é":3,"A":4}"#, #"{"A":4,"B":1,"a":2,"é":3}"#, "the order of characters, not of a language"),
        (#"{"a":"\/\u0041\u00e9"}"#, #"{"a":"/Aé"}"#, "no escape without need"),
        (#"{"a":"\"\\\n\u0001"}"#, #"{"a":"\"\\\n\u0001"}"#, "needed escapes"),
        (
            #"{"dest":{"uri":["sip:alice@example.com"]},"iat":1471375418,"orig":{"tn":"12155551212"}}"#,
            #"{"dest":{"uri":["sip:alice@example.com"]},"iat":1471375418,"orig":{"tn":"12155551212"}}"#, "RFC 8225 §9.1"
        ),
    ])
    func `the deterministic form is that of RFC 8225`(_ text: String, _ expected: String, _ rule: String) throws {
        let json = try #require(Self.read(text))
        #expect(json.canonical(0) == expected, "\(rule)")
    }

    @Test func `values are found by name and kind`() throws {
        let json = try #require(
            Self.read(
                #"{"t":"a\u0062","n":-12,"f":1.5,"o":{"x":"1"},"l":["1","*2#"],"\u0061ttest":"A","big":"1234567890123456"}"#
            ))
        #expect(json.text("t") == "ab")
        #expect(json.text("n") == nil)
        #expect(json.member("n").flatMap { json.integer(at: $0) } == -12)
        #expect(json.member("f").flatMap { json.integer(at: $0) } == nil)
        #expect(json.member("x") == nil)
        #expect(json.text("attest") == "A")
        let object = try #require(json.member("o"))
        #expect(json.text("x", of: object) == "1")
        let list = try #require(json.member("l"))
        #expect(json.elements(of: list).map { json.number(at: $0)?.text } == ["1", "*2#"])
        #expect(json.member("big").flatMap { json.number(at: $0) } == nil)
        #expect(json.elements(of: object).isEmpty && json.members(of: list).isEmpty)
    }

    @Test func `damaged objects neither crash nor lose their bounds`() {
        var random = RepeatableRandom(seed: 8259)
        let seeds = [
            #"{"attest":"A","dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"12025551000"}}"#,
            #"{"a":[1,{"b":"\ud83d\ude00"}],"c":-1.5e+7,"d":null}"#,
        ].map { Array($0.utf8) }
        for round in 0..<20_000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
                case 1: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
                default:
                    bytes.insert(
                        .random(in: 32...126, using: &random), at: Int.random(in: bytes.indices, using: &random))
                }
                if bytes.isEmpty { bytes = [0x7B] }
            }
            guard let json = StrictJSON(bytes) else { continue }
            for index in json.nodes.indices {
                let node = json.nodes[index]
                #expect(node.next > index && node.next <= json.nodes.count)
                #expect(node.range.lowerBound >= 0 && node.range.upperBound <= bytes.count)
            }
            // The deterministic form is itself such an object, and its own form.
            let again = StrictJSON(Array(json.canonical(0).utf8))
            #expect(again?.canonical(0) == json.canonical(0))
        }
    }
}
