// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import ConfigurationFiles
import GatewayDoors
import TestFixtures
import Testing
import Trust
import TrustFixtures

/// The requests and responses that Oracle and TransUnion print.
///
/// Oracle's are those of "Example STI Server Heartbeat Requests", release 10.1. TransUnion's are the samples of
/// `3GPP_OpenAPISpec.yaml` of neustar/tcs-apis, "TS 24.229, Release 17.10.0". The keys of their tokens are unknown, so a token
/// with the claims of a sample and a key of the laboratory takes the place of one that passes.
@Suite("Verifications by a door: published requests", .timeLimit(.minutes(8)))
struct PublishedRequestTests {
    // MARK: Oracle

    @Test func `Oracle's heartbeat gets 200 and No-TN-Validation under its base path`() async throws {
        let body = #"{"verificationRequest":{"time":1683538513,"to":{"tn":["7777777777"]},"from":{"tn":"9999999999"}}}"#
        #expect(body.utf8.count == 97)
        let door = try VerificationDoor(now: 1_683_538_514) { $0.base = "/StirShakenWeb/resources" }
        try await door.run { port in
            let request = RawRequest(
                method: "POST", path: "/StirShakenWeb/resources/v1/verification",
                headers: [
                    ("Content-Type", "application/json"), ("X-RequestID", "67188cde-f7ea-434e-55dd-53b57af06333"),
                    ("Accept", "application/json"),
                ], body: Array(body.utf8))
            let response = try await LoopbackClient.ask(request, port: port)
            #expect(response.status == 200 && response.headers["content-type"] == "application/json")
            #expect(response.headers["x-requestid"] == "67188cde-f7ea-434e-55dd-53b57af06333")
            #expect(
                response.text
                    == #"{"verificationResponse":{"verstat":"No-TN-Validation","verstatValue":"No-TN-Validation"}}"#)
        }
        #expect(door.count("unsigned") == 1 && door.warnings.isEmpty)
    }

    /// Oracle takes a code in quotes as none, and writes 403 in its place.
    @Test(arguments: [
        (
            HeraldConfiguration.Doors.Verification.ReasonKeys.camel,
            #""reasonCode":403,"reasonText":"Stale Date","reasonDesc":"stale: the token is too old""#
        ),
        (.lower, #""reasoncode":403,"reasontext":"Stale Date","reasondesc":"stale: the token is too old""#),
    ])
    func `a code is a number, in the spelling of the key`(
        keys: HeraldConfiguration.Doors.Verification.ReasonKeys, reason: String
    ) throws {
        let identity = try TrustLab.shared.signed(TrustLab.claims(iat: 1_471_375_300))
        let door = try VerificationDoor { $0.reasonKeys = keys }
        let body = """
            {"verificationRequest":{"time":1471375428,"to":{"tn":["12025551001"]},"from":{"tn":"12025551000"},\
            "identity":\(quoted(identity))}}
            """
        #expect(
            String(decoding: door.respond(Array(body.utf8)).body, as: UTF8.self)
                == #"{"verificationResponse":{"verstat":"No-TN-Validation",\#(reason)}}"#)
    }

    // MARK: TransUnion

    private static let shaken = #"""
        {"attest":"A","dest":{"tn":["15715550000"]},"iat":1671562506,"orig":{"tn":"17035550001"},"origid":"2088448c-718e-4930-be5d-0ec9b25d2f00"}
        """#
    private static let forwarded = #"""
        {"attest":"A","dest":{"tn":["15715550000"]},"iat":1671643245,"orig":{"tn":"17035550001"},"origid":"2088448c-718e-4930-be5d-0ec9b25d2f00"}
        """#
    private static let diversion = #"""
        {"dest":{"tn":["121555551212"]},"div":{"tn":"15715550000"},"iat":1671643342,"orig":{"tn":"17035550001"}}
        """#

    private func snapshot() throws -> TrustSnapshot {
        try TrustLab.shared.snapshot(of: TrustLab.shared.signer("spc"))
    }

    private func response(_ text: String) throws -> [String: JSONValue] {
        try VerificationDoor.response(Array(text.utf8))
    }

    @Test func `sample SHAKEN: the printed response`() throws {
        let door = try VerificationDoor(now: 1_671_562_510, snapshot: snapshot())
        let identity = quoted(try TrustLab.shared.signed(Self.shaken))
        let sent = try door.verify(
            """
            {"verificationRequest": {"identityHeader": \(identity),
              "from": {"tn": "17035550001"}, "to": {"tn": "15715550000"}, "time": 1671468206}}
            """)
        #expect(
            try sent
                == response(
                    """
                    {"verificationResponse": {"verstatValue": "TN-Validation-Passed",
                      "verifyResults": [{"verifyResult": {"ppt": "shaken", "status": "pass", "validClaims": \(Self.shaken)}}]}}
                    """))
    }

    /// The sample has another number in `dest` than its diversion leads to. That is a broken chain here.
    @Test(arguments: [("121555551212", true), ("17325551212", false)])
    func `sample SHAKEN with one diversion: the printed response`(dest: String, passes: Bool) throws {
        let door = try VerificationDoor(now: 1_671_643_350, snapshot: snapshot())
        let lab = TrustLab.shared
        let (first, second) = (
            try lab.signed(Self.forwarded), try lab.signed(Self.diversion, ppt: "div")
        )
        let sent = try door.verify(
            """
            {"verificationRequest": {"identityHeader": \(quoted(first)), "identityHeaders": [\(quoted(second))],
              "from": {"tn": "17035550001"}, "to": {"tn": "15715550000"}, "dest": {"tn": "\(dest)"}, "time": 1664216863,
              "protectedHeaders": "[Diversion: sip:121555551212@10.10.100.12;reason=unknown;privacy=off]"}}
            """)
        guard passes else {
            #expect(sent["verstatValue"]?.text == "No-TN-Validation")
            return
        }
        #expect(
            try sent
                == response(
                    """
                    {"verificationResponse": {"verstatValue": "TN-Validation-Passed",
                      "verifyResults": [
                        {"verifyResult": {"ppt": "shaken", "status": "pass", "validClaims": \(Self.forwarded)}},
                        {"verifyResult": {"ppt": "div", "status": "pass", "validClaims": \(Self.diversion)}}],
                      "divResult": [{"div": {"tn": "15715550000"}, "verstatValue": "TN-Validation-Passed"}]}}
                    """))
    }

    /// The token of the sample SHAKEN, to the letter.
    private static let token =
        "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jYS1jbXMubmV1c3RhcmxhYi5iaXovY2NpZC9hdXRobi92Mi9jZXJ0cy8xMTAwMS4xMDAwNSJ9"
        + ".eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyIxNTcxNTU1MDAwMCJdfSwiaWF0IjoxNjcxNTYyNTA2LCJvcmlnIjp7InRuIjoiMTcwMzU1NTAwMDEifSwib3JpZ2lkIjoiMjA4ODQ0OGMtNzE4ZS00OTMwLWJlNWQtMGVjOWIyNWQyZjAwIn0"
        + ".JCjexv3fvANmT8ovwLwnnbYDMqwgIyoHgm2sCBUs8I8ZcDiRcGJSDXItMqayFwNuEOIyAax1r-RFlmioRiIxaQ"

    @Test func `the printed token has an unknown signer, which is asked for aside`() throws {
        let door = try VerificationDoor(now: 1_671_562_510, fetches: true)
        let info = "https://ca-cms.neustarlab.biz/ccid/authn/v2/certs/11001.10005"
        let identity = quoted(Self.token + ";info=<\(info)>;alg=ES256;ppt=\"shaken\"")
        let sent = try door.verify(
            """
            {"verificationRequest": {"identityHeader": \(identity), "from": {"tn": "17035550001"},
              "to": {"tn": "15715550000"}, "time": 1671468206, "profileId": "Profile-5678", "requestId": "45690",
              "displayName": "James Smith"}}
            """)
        #expect(
            try sent
                == response(
                    """
                    {"verificationResponse": {"requestId": "45690", "displayName": "James Smith",
                      "verstatValue": "No-TN-Validation",
                      "verifyResults": [{"verifyResult": {"ppt": "shaken", "status": "fail", "reasonCode": 436,
                        "reasonText": "Bad Identity Info",
                        "reasonDescription": "signer_not_yet_known: the certificate of the signer is not stored here yet",
                        "passport": "\(Self.token)"}}]}}
                    """))
        #expect(door.requests.takeAll().map(\.request) == [.fetch(address: info)])
        #expect(door.count("signer_not_yet_known") == 1)
    }

    /// Tokens of priority are not verified here. They say nothing about the caller.
    @Test func `samples with RPH: no result for the token of priority`() throws {
        let lab = TrustLab.shared
        let door = try VerificationDoor(now: 1_671_562_510, snapshot: snapshot())
        let claims =
            #"{"dest":{"tn":["15715550000"]},"iat":1671562506,"orig":{"tn":"17035550001"},"rph":{"auth":["ets.0"]}}"#
        let priority = quoted(try lab.signed(claims, ppt: "rph"))
        let rest = #""from":{"tn":"17035550001"},"to":{"tn":"15715550000"},"time":1671562506"#
        let alone = try door.verify(#"{"verificationRequest":{"identityHeaders":[\#(priority)],\#(rest)}}"#)
        #expect(alone.isEmpty)
        let identity = quoted(try lab.signed(Self.shaken))
        let both = try door.verify(
            #"{"verificationRequest":{"identityHeader":\#(identity),"identityHeaders":[\#(priority)],\#(rest)}}"#)
        #expect(both["verstatValue"]?.text == "TN-Validation-Passed" && both.count == 2)
    }
}
