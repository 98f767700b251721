// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallPath
import Foundation
import GatewayDoors
import Testing
import Trust
import TrustFixtures

/// The same cases pass the call path in `SignedCallTests`, and both together in `DoorVerificationTests`.
@Suite("Verifications by a door: the cases of the laboratory")
struct VerificationVectorTests {
    private static let cases = TrustLab.shared.cases
    private static let single = cases.filter { $0.sequence == nil }
    /// Cases with one called number. The other shape alone has To beside the Request-URI.
    private static let direct = single.filter { $0.called == $0.to && !$0.identity.isEmpty }

    @Test func `nearly all cases can be written in both shapes`() {
        #expect(Self.cases.count == 122 && Self.single.count == 113 && Self.direct.count == 96)
    }

    // MARK: 3GPP TS 24.229 Annex V

    @Test(arguments: single) func `a case has its verdict in the shape of 3GPP`(_ item: TrustLab.Case) throws {
        let regimes = [(item.regime, item.expect.us), ("fr", item.expect.fr), ("private", item.expect.in_private)]
        for case (let regime, let expected?) in regimes {
            let door = try VerificationDoor(
                regime, known: item.known, crl: item.crl, now: item.now, fetches: item.fetch == "on")
            let title = "\(item) under \(regime)"
            let response = try door.verify(Self.annexV(item))
            let verstat = Self.verstat(of: item, expected, under: regime)
            #expect(response["verstatValue"] == .string(verstat), "\(title)")
            let causes = (expected.causes ?? []).prefix(8)
            guard !item.identity.isEmpty else {
                #expect(response["verstat"] == .string(verstat) && response.count == 2, "\(title)")
                continue
            }
            let results = try Self.results(response)
            #expect(results.count == causes.count { $0 != "unsupported_ppt" }, "\(title)")
            for (result, cause) in zip(results, causes.filter { $0 != "unsupported_ppt" }) {
                Self.check(result, cause, title)
            }
        }
    }

    @Test func `cases of a sequence have their verdicts by one door`() throws {
        let door = try VerificationDoor()
        for item in Self.cases where item.sequence != nil {
            let call = StatedSignedCall(
                caller: .number(Array(item.caller.utf8)), called: .number(Array(item.called.utf8)),
                to: .number(Array(item.to.utf8)), date: item.now, identities: item.identity.map { Array($0.utf8) })
            let verified = try #require(door.verification.verify(call, at: item.now))
            #expect(verified.tokens.map(\.cause.name) == item.expect.us.causes, "\(item)")
            #expect(verified.verstat.rawValue == item.expect.verstat, "\(item)")
        }
    }

    @Test(arguments: [("d01", ["12025551001"]), ("d02", ["12025551001", "12025552002"])])
    func `each diversion has its result`(id: String, numbers: [String]) throws {
        let item = try #require(Self.cases.first { $0.id == id })
        let response = try VerificationDoor(now: item.now).verify(Self.annexV(item))
        let diversions = numbers.map { number in
            JSONValue.object(["div": .object(["tn": .string(number)]), "verstatValue": .string("TN-Validation-Passed")])
        }
        #expect(response["divResult"] == .array(diversions))
    }

    /// A token without attestation proves no right to the number.
    @Test(arguments: ["b01", "r15"]) func `a good token without attestation has a count of its own`(id: String) throws {
        let item = try #require(Self.cases.first { $0.id == id })
        let door = try VerificationDoor(item.regime, known: item.known, crl: item.crl, now: item.now)
        #expect(try door.verify(Self.annexV(item))["verstatValue"] == .string("No-TN-Validation"))
        #expect(door.count("unattested") == 1 && door.count("passed") == 0)
    }

    /// A passed token has its claims, any other one its reason and itself.
    private static func check(_ result: [String: JSONValue], _ cause: String, _ title: String) {
        guard cause != "passed" else {
            #expect(result["status"]?.text == "pass" && result["validClaims"] != nil && result.count == 3, "\(title)")
            return
        }
        #expect(
            result["status"]?.text == "fail" && result["passport"] != nil && result["validClaims"] == nil, "\(title)")
        #expect(result["reasonDescription"]?.text?.hasPrefix("\(cause): ") == true, "\(title): \(result)")
        guard case .int(let code) = result["reasonCode"] else { return #expect(Bool(false), "\(title)") }
        #expect((400...499).contains(code), "\(title)")
    }

    // MARK: ATIS-1000082

    /// Several header fields are one with commas (RFC 8224 §4).
    @Test(arguments: direct) func `a case has its verdict in the shape of ATIS`(_ item: TrustLab.Case) throws {
        let regimes = [(item.regime, item.expect.us), ("fr", item.expect.fr), ("private", item.expect.in_private)]
        for case (let regime, let expected?) in regimes {
            let door = try VerificationDoor(
                regime, known: item.known, crl: item.crl, now: item.now, fetches: item.fetch == "on")
            let title = "\(item) under \(regime)"
            let response = try door.verify(Self.atis(item))
            let verstat = Self.verstat(of: item, expected, under: regime)
            #expect(response["verstat"] == .string(verstat), "\(title)")
            guard verstat != "TN-Validation-Passed" else {
                #expect(response.count == 1, "\(title)")
                continue
            }
            #expect(Set(response.keys) == ["verstat", "reasonCode", "reasonText", "reasonDesc"], "\(title)")
            guard case .int(let code) = response["reasonCode"] else { return #expect(Bool(false), "\(title)") }
            let cause = response["reasonDesc"]?.text?.prefix { $0 != ":" }
            #expect((expected.causes ?? []).contains { $0[...] == cause }, "\(title): \(response)")
            if let reported = expected.code { #expect(code == Int(reported), "\(title)") }
        }
    }

    // MARK: Bodies

    /// The file has the verstat of the regime us. That of the others follows from the result for the number: `verstat_failed` is
    /// `none` in fr, whose operators pass no verstat to customers, and `all` in private.
    private static func verstat(
        of item: TrustLab.Case, _ expected: TrustLab.Expectation, under regime: String
    ) -> String {
        switch (regime, expected.number) {
        case ("us", _): item.expect.verstat
        case (_, "passed(A)"), (_, "passed(B)"), (_, "passed(C)"): "TN-Validation-Passed"
        case ("private", "failed"): "TN-Validation-Failed"
        default: "No-TN-Validation"
        }
    }

    /// The time of the request is Date, or the present for a case without it.
    private static func seconds(_ item: TrustLab.Case) -> Int64 {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return item.date.flatMap { format.date(from: $0) }.map { Int64($0.timeIntervalSince1970) } ?? item.now
    }

    private static func annexV(_ item: TrustLab.Case) -> String {
        let identities = item.identity.map(quoted)
        let first = identities.first.map { #""identityHeader":\#($0),"# } ?? ""
        let others = identities.dropFirst().joined(separator: ",")
        return """
            {"verificationRequest":{\(first)"identityHeaders":[\(others)],"from":{"tn":\(quoted(item.caller))},\
            "to":{"tn":\(quoted(item.to))},"dest":{"tn":[\(quoted(item.called))]},"time":\(seconds(item))}}
            """
    }

    private static func atis(_ item: TrustLab.Case) -> String {
        """
        {"verificationRequest":{"time":\(seconds(item)),"to":{"tn":[\(quoted(item.called))]},\
        "from":{"tn":\(quoted(item.caller))},"identity":\(quoted(item.identity.joined(separator: ", ")))}}
        """
    }

    private static func results(_ response: [String: JSONValue]) throws -> [[String: JSONValue]] {
        try list(response["verifyResults"]).map { entry in
            guard case .object(let entry) = entry, case .object(let result) = entry["verifyResult"] else {
                throw JSONValue.ParsingError.malformed
            }
            return result
        }
    }

    private static func list(_ value: JSONValue?) throws -> [JSONValue] {
        switch value {
        case nil: return []
        case .array(let list): return list
        default: throw JSONValue.ParsingError.malformed
        }
    }
}

extension JSONValue {
    /// The text of a string; nil for another value.
    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }
}
