// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallPath
import GatewayDoors
import NIOHTTP1
import SeededRandom
import Testing
import TrustFixtures

@Suite("Requests for verifications")
struct VerificationRequestTests {
    private static let rest = #""from":{"tn":"12025551000"},"to":{"tn":["12025551001"]},"time":1471375428"#

    // MARK: Two shapes

    @Test(arguments: [
        (#""identity":"a.b.c""#, VerificationRequest.Shape.atis, ["a.b.c"]),
        (#""identity":["a.b.c","d"]"#, .atis, ["a.b.c", "d"]), (#""identityHeader":"a.b.c""#, .annexV, ["a.b.c"]),
        (#""identityHeaders":["d","e"]"#, .annexV, ["d", "e"]),
        (#""identityHeader":"a","identityHeaders":["d"],"identity":"x""#, .annexV, ["a", "d"]),
        (#""identity":"""#, .none, []), (#""identity":null,"identityHeaders":[]"#, .none, []), (#""x":1"#, .none, []),
    ])
    func `members tell the shape`(members: String, shape: VerificationRequest.Shape, identities: [String]) throws {
        let request = try VerificationRequest(#"{"verificationRequest":{\#(Self.rest),\#(members)}}"#.utf8)
        #expect(request.shape == shape)
        #expect(request.call.identities.map { String(decoding: $0, as: UTF8.self) } == identities)
        #expect(request.call.date == 1_471_375_428 && request.call.called == nil)
    }

    @Test(arguments: [
        (#"{"tn":"12155551212"}"#, StatedSignedCall.Party.number(Array("12155551212".utf8))),
        (#"{"tn":["12155551212","1"]}"#, .number(Array("12155551212".utf8))),
        (#"{"uri":"sip:john@asterisk.com"}"#, .uri(Array("sip:john@asterisk.com".utf8))),
        (#"{"tn":[],"uri":["sip:john@asterisk.com"]}"#, .uri(Array("sip:john@asterisk.com".utf8))),
        (#"{"tn":null,"uri":"fred@example.com"}"#, .uri(Array("fred@example.com".utf8))),
        // A caller writes such a From. Errors for it would open the breaker of an SBC.
        (#"{"tn":"anonymous"}"#, .number(Array("anonymous".utf8))),
        (#"{"tn":"","uri":"sip:john@asterisk.com"}"#, .uri(Array("sip:john@asterisk.com".utf8))),
    ])
    func `a party is a number or a URI, as text or in a list`(json: String, party: StatedSignedCall.Party) throws {
        let body = #"{"verificationRequest":{"from":\#(json),"to":\#(json),"dest":\#(json),"time":1,"identity":"x"}}"#
        let call = try VerificationRequest(body.utf8).call
        #expect(call.caller == party && call.to == party && call.called == party)
    }

    /// A From without a user part, such as `sip:carrier.example`. Errors for it would open the breaker of an SBC.
    @Test(arguments: [
        #"{"tn":""}"#, #"{"tn":[""]}"#, #"{"uri":""}"#, #"{"uri":[""]}"#, #"{"tn":"","uri":""}"#,
        #"{"tn":[],"uri":""}"#,
        #"{"tn":null,"uri":[""]}"#,
    ])
    func `an empty text is a party without a certain number`(json: String) throws {
        let identity = quoted(try TrustLab.shared.signed(TrustLab.claims()))
        let (caller, called) = (#"{"tn":"12025551000"}"#, #"{"tn":["12025551001"]}"#)
        for (from, to) in [(json, called), (caller, json)] {
            let door = try VerificationDoor()
            let response = try door.verify(
                #"{"verificationRequest":{"from":\#(from),"to":\#(to),"time":1471375428,"identity":\#(identity)}}"#)
            #expect(response["verstat"] == .string("No-TN-Validation") && door.count("invalid") == 0)
        }
        // The called party of To counts.
        let door = try VerificationDoor()
        let response = try door.verify(
            """
            {"verificationRequest":{"from":\(caller),"to":\(called),"dest":\(json),"time":1471375428,\
            "identity":\(identity)}}
            """)
        #expect(response["verstat"] == .string("TN-Validation-Passed"))
        #expect(try VerificationRequest(#"{"verificationRequest":{\#(Self.rest),"dest":{}}}"#.utf8).call.called == nil)
    }

    /// The forms of one number; the trunk has the region US.
    @Test(arguments: [
        (#"{"tn":"12025551000"}"#, "passed"), (#"{"tn":"+12025551000"}"#, "passed"),
        (#"{"tn":"2025551000"}"#, "passed"),
        (#"{"tn":"+1 (202) 555-1000"}"#, "passed"), (#"{"uri":"sip:+12025551000@h;user=phone"}"#, "passed"),
        (#"{"uri":"tel:+12025551000"}"#, "passed"), (#"{"tn":"12025551999"}"#, "caller_mismatch"),
        (#"{"tn":"anonymous"}"#, "not_a_number"), (#"{"uri":"sip:alice@asterisk.com"}"#, "not_a_number"),
        (#"{"uri":"alice@asterisk.com"}"#, "not_a_number"), (#"{"tn":"\u0000"}"#, "not_a_number"),
        // A number in Utah, and one in Austria.
        (#"{"tn":"4355551234"}"#, "not_a_number"),
    ])
    func `a number is compared in its canonical form`(party: String, cause: String) throws {
        let door = try VerificationDoor()
        let identity = quoted(try TrustLab.shared.signed(TrustLab.claims()))
        let response = try door.verify(
            """
            {"verificationRequest":{"from":\(party),"to":{"tn":["12025551001"]},"time":1471375428,\
            "identity":\(identity)}}
            """)
        #expect(response["verstat"]?.text == (cause == "passed" ? "TN-Validation-Passed" : "No-TN-Validation"))
        #expect(door.count(cause) == 1)
    }

    // MARK: Errors

    private static let long = String(repeating: "[", count: 5_000)

    @Test(arguments: [
        ("", 400, "SVC4000", []), ("{", 400, "SVC4006", ["invalid JSON body"]),
        ("[]", 400, "SVC4006", ["invalid JSON body"]),
        ("\u{0}", 400, "SVC4006", ["invalid JSON body"]), (long, 400, "SVC4006", ["invalid JSON body"]),
        (#"{"verificationRequest":{"x":[[[[[[[[[]]]]]]]]]}}"#, 400, "SVC4006", ["invalid JSON body"]),
        ("{}", 400, "SVC4001", ["verificationRequest"]),
        (#"{"verificationRequest":null}"#, 400, "SVC4001", ["verificationRequest"]),
        (#"{"verificationRequest":[]}"#, 400, "SVC4005", ["verificationRequest", "must be an object"]),
        (#"{"verificationRequest":{}}"#, 400, "SVC4001", ["from"]),
        (#"{"verificationRequest":{"from":{"tn":"1"},"time":1}}"#, 400, "SVC4001", ["to"]),
        (#"{"verificationRequest":{"from":{"tn":"1"},"to":{"tn":["1"]}}}"#, 400, "SVC4001", ["time"]),
        (
            #"{"verificationRequest":{"from":{},"to":{"tn":["1"]},"time":1}}"#, 400, "SVC4005",
            ["from", "must have tn or uri"]
        ),
        (
            #"{"verificationRequest":{"from":{"tn":"1"},"to":{"tn":[]},"time":1}}"#, 400, "SVC4005",
            ["to", "must have tn or uri"]
        ),
        (
            #"{"verificationRequest":{"from":{"tn":1},"to":{"tn":["1"]},"time":1}}"#, 400, "SVC4005",
            ["from", "tn must be text or a list of texts"]
        ),
        (
            #"{"verificationRequest":{"from":{"tn":"1"},"to":{"tn":["1"]},"time":"1"}}"#, 400, "SVC4005",
            ["time", "must be a positive integer"]
        ),
        (
            #"{"verificationRequest":{"from":{"tn":"1"},"to":{"tn":["1"]},"time":0}}"#, 400, "SVC4005",
            ["time", "must be a positive integer"]
        ),
        (
            #"{"verificationRequest":{"from":{"tn":"1"},"to":{"tn":["1"]},"time":1e99}}"#, 400, "SVC4005",
            ["time", "must be a positive integer"]
        ),
        (
            #"{"verificationRequest":{"from":{"tn":"1"},"to":{"tn":["1"]},"time":1,"identity":{}}}"#, 400, "SVC4005",
            ["identity", "must be text or a list of texts"]
        ),
        (
            #"{"verificationRequest":{"from":{"tn":"1"},"to":{"tn":["1"]},"time":1,"identityHeaders":[7]}}"#, 400,
            "SVC4005", ["identityHeaders", "must be text or a list of texts"]
        ),
    ])
    func `a broken request has an error in both shapes`(
        body: String, status: UInt, id: String, variables: [String]
    ) throws {
        let door = try VerificationDoor()
        let response = door.respond(Array(body.utf8))
        #expect(response.status.code == status && response.contentType == "application/json")
        let root = try JSONValue.object(parsing: response.body)
        guard case .object(let error) = root["requestError"], case .object(let exception) = error["serviceException"]
        else { return #expect(Bool(false), "\(root)") }
        #expect(exception["messageId"]?.text == id && exception["text"]?.text != nil)
        #expect(exception["variables"] == .array(variables.map { .string($0) }))
        #expect(root["error"]?.text != nil && root.count == 2 && error.count == 1)
        #expect(door.count("invalid") == 1 && door.warnings.count == 1, "\(door.warnings)")
    }

    @Test func `while the trunk verifies nothing, each response is No-TN-Validation at once`() throws {
        let door = try VerificationDoor(verifies: false)
        let identity = quoted(try TrustLab.shared.signed(TrustLab.claims()))
        let first = try door.verify(#"{"verificationRequest":{\#(Self.rest),"identity":\#(identity)}}"#)
        #expect(first == ["verstat": .string("No-TN-Validation")])
        let second = try door.verify(
            #"{"verificationRequest":{\#(Self.rest),"identityHeader":\#(identity),"requestId":"7"}}"#)
        #expect(second == ["verstatValue": .string("No-TN-Validation"), "requestId": .string("7")])
        #expect(door.count("not_ready") == 2)
    }

    // MARK: Hostile bytes

    @Test func `reflected texts are escaped, and anything but text is left out`() throws {
        let door = try VerificationDoor()
        let name = #"a\"b\\c\u000d\u000aSet-Cookie: x\u0000\u001b[31m"#
        let sent = try door.verify(
            #"{"verificationRequest":{\#(Self.rest),"identityHeader":"x","requestId":{"a":1},"displayName":"\#(name)"}}"#
        )
        #expect(sent["displayName"]?.text == "a\"b\\c\r\nSet-Cookie: x\u{0}\u{1B}[31m" && sent["requestId"] == nil)
        let body = door.respond(
            Array(#"{"verificationRequest":{\#(Self.rest),"identityHeader":"x","displayName":"\#(name)"}}"#.utf8)
        ).body
        #expect(body.allSatisfy { $0 >= 0x20 })
    }

    /// Each byte of a good request is changed, cut or doubled.
    @Test func `any bytes get a response that is JSON`() throws {
        let lab = TrustLab.shared
        let door = try VerificationDoor()
        let identity = quoted(try lab.signed(TrustLab.claims()))
        let good = Array(
            #"{"verificationRequest":{\#(Self.rest),"identityHeader":\#(identity),"identityHeaders":[\#(identity)]}}"#
                .utf8)
        var random = RepeatableRandom(seed: 58)
        for _ in 0..<1_000 {
            var body = good
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: body[place] = UInt8.random(in: 0...255, using: &random)
                case 1: body.remove(at: place)
                case 2: body.insert(UInt8.random(in: 0...255, using: &random), at: place)
                default: body.removeSubrange(place..<min(body.count, place + 40))
                }
                if body.isEmpty { body = [0] }
            }
            let response = door.respond(body)
            #expect(response.status == .ok || response.status == .badRequest)
            #expect(throws: Never.self) { try JSONValue.object(parsing: response.body) }
        }
        #expect(door.count("passed") > 0 && door.count("invalid") > 0)
    }
}
