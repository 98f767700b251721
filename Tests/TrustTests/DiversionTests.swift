// SPDX-License-Identifier: Apache-2.0

import Testing
import TrustFixtures

@testable import Trust

/// RFC 8946: chains of diverted calls beyond the cases of the laboratory.
@Suite("Chains of diversions")
struct DiversionTests {
    private static let lab = TrustLab.shared
    private static let a = "12025551001", b = "12025552002", c = "12025553003"

    /// A `div` from one number to another, with an inner token for `div-o`.
    private static func div(
        _ from: String, _ to: String, iat: Int64 = 1_471_375_423, by name: String = "div-b",
        orig: String = "12025551000",
        inner: String? = nil
    ) throws -> String {
        let opt = inner.map { ",\"opt\":\"\($0)\"" } ?? ""
        let payload =
            #"{"dest":{"tn":["\#(to)"]},"div":{"tn":"\#(from)"},"iat":\#(iat)\#(opt),"orig":{"tn":"\#(orig)"}}"#
        return try lab.signed(payload, by: name, ppt: inner == nil ? "div" : "div-o")
    }

    private static func token(_ value: String) -> String { String(value.prefix { $0 != ";" }) }

    private func verify(_ values: [String], to called: String, _ regime: String = "us") throws -> TrustVerdict {
        try Self.lab.snapshot().verify(
            values, of: SignedCall(caller: "12025551000", called: called), under: TrustLab.policy(regime))
    }

    @Test func `the order of header fields has no meaning`() throws {
        // RFC 8946 §4.2.
        let values = [
            try Self.lab.signed(TrustLab.claims()), try Self.div(Self.a, Self.b),
            try Self.div(Self.b, Self.c, by: "div-c"),
        ]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let verdict = try verify(order.map { values[$0] }, to: Self.c)
            #expect(
                verdict.causes == [.passed, .passed, .passed] && verdict.binding == .chain(diversions: 2), "\(order)")
            #expect(verdict.number == .passed(.a) && verdict.signer?.authority.codes == ["123A"])
            #expect(verdict.diversions.map(\.from.text) == [Self.a, Self.b], "the operator sees the way")
            #expect(verdict.diversions.map(\.signer.authority.codes) == [["567B"], ["567C"]])
        }
    }

    @Test func `five diversions are the most`() throws {
        let numbers = (0...6).map { "1202555900\($0)" }
        var values = [try Self.lab.signed(TrustLab.claims(dest: numbers[0]))]
        for index in 0..<5 { values.append(try Self.div(numbers[index], numbers[index + 1])) }
        let verdict = try verify(values, to: numbers[5])
        #expect(verdict.causes == [TrustCause](repeating: .passed, count: 6))
        #expect(verdict.binding == .chain(diversions: 5))
        values.append(try Self.div(numbers[5], numbers[6]))
        #expect(try verify(values, to: numbers[6]).causes == [TrustCause](repeating: .tooMany, count: 7))
    }

    @Test func `a regime may allow fewer diversions`() throws {
        var policy = TrustLab.policy("us")
        policy.regimes[0].diversions = 1
        let values = [
            try Self.lab.signed(TrustLab.claims()), try Self.div(Self.a, Self.b), try Self.div(Self.b, Self.c),
        ]
        let call = SignedCall(caller: "12025551000", called: Self.c)
        let verdict = try Self.lab.snapshot().verify(values, of: call, under: policy)
        #expect(verdict.causes == [.tooMany, .tooMany, .tooMany] && verdict.number == .none)
    }

    @Test func `diversions in a circle lead nowhere`() throws {
        let values = [
            try Self.lab.signed(TrustLab.claims(dest: "12025559999")), try Self.div(Self.a, Self.b),
            try Self.div(Self.b, Self.a),
        ]
        let verdict = try verify(values, to: Self.b)
        #expect(verdict.causes == [TrustCause](repeating: .chainIncomplete, count: 3) && verdict.number == .none)
        #expect(try verify([try Self.div(Self.a, Self.a)], to: Self.a).causes == [.chainIncomplete])
    }

    @Test func `a token for the called number needs no chain`() throws {
        let good = try Self.lab.signed(TrustLab.claims(dest: Self.b))
        let verdict = try verify([good, try Self.div(Self.a, Self.b)], to: Self.b)
        #expect(verdict.causes == [.passed, .chainIncomplete] && verdict.binding == .calledNumber)
    }

    @Test func `a second first token is judged for itself`() throws {
        let values = [
            try Self.lab.signed(TrustLab.claims()), try Self.div(Self.a, Self.b),
            try Self.lab.signed(TrustLab.claims(dest: Self.c)),
        ]
        let verdict = try verify(values, to: Self.b)
        #expect(verdict.causes == [.passed, .passed, .calledMismatch] && verdict.number == .passed(.a))
    }

    @Test func `a chain whose diverting party is unknown is no evidence`() throws {
        let values = [try Self.lab.signed(TrustLab.claims()), try Self.div(Self.a, Self.b)]
        let call = SignedCall(caller: "12025551000", called: Self.b)
        let partial = try Self.lab.snapshot(["spc"]).verify(values, of: call)
        #expect(partial.causes == [.signerNotYetKnown, .signerNotYetKnown] && partial.number == .none)
        #expect(partial.requests == [.fetch(address: "https://cert.example.net/div-b.pem")])
        let other = try Self.lab.snapshot(["div-b"]).verify(values, of: call)
        #expect(other.causes == [.signerNotYetKnown, .signerNotYetKnown])
    }

    @Test(
        arguments: [
            (-3600, 0, .passed, "RFC 8946 §4.2: inner tokens may be old"), (-10_800, 0, .passed, "three hours"),
            (-10_801, 0, .stale, "older"), (0, -61, .stale, "an old outermost token"),
            (61, 0, .future, "an inner token ahead"),
            (0, 61, .future, "the outermost token ahead"),
        ] as [(Int64, Int64, TrustCause, String)])
    func `ages of a chain`(_ inner: Int64, _ outer: Int64, _ expected: TrustCause, _ rule: String) throws {
        let now: Int64 = 1_471_375_428
        let values = [
            try Self.lab.signed(TrustLab.claims(iat: now + inner)), try Self.div(Self.a, Self.b, iat: now + outer),
        ]
        #expect(try verify(values, to: Self.b).causes == [expected, expected], "\(rule)")
    }

    @Test func `a failing member breaks the chain`() throws {
        let first = try Self.lab.signed(TrustLab.claims())
        let rows: [([String], String)] = [
            ([first, try Self.div(Self.a, Self.b, by: "expired")], "an ended certificate"),
            ([first, try Self.div(Self.a, Self.b, by: "alien")], "a signer without an anchor"),
            (
                [try Self.lab.signed(TrustLab.claims(), by: "none"), try Self.div(Self.a, Self.b)],
                "a first signer without authority"
            ),
        ]
        for (values, rule) in rows {
            let verdict = try verify(values, to: Self.b)
            #expect(verdict.causes == [.chainBroken, .chainBroken] && verdict.number == .failed, "\(rule)")
        }
    }

    @Test func `a div-o has its first token inside`() throws {
        // RFC 8946 §5.
        let first = Self.token(try Self.lab.signed(TrustLab.claims()))
        let one = try Self.div(Self.a, Self.b, inner: first)
        let two = try Self.div(Self.b, Self.c, by: "div-c", inner: Self.token(one))
        let verdict = try verify([two], to: Self.c)
        #expect(
            verdict.causes == [.passed] && verdict.binding == .chain(diversions: 2) && verdict.number == .passed(.a))
        #expect(
            try verify([one, try Self.div(Self.b, Self.c)], to: Self.c).causes == [.passed, .passed], "div-o and div")
        #expect(try verify([one], to: Self.c).causes == [.calledMismatch])
    }

    @Test func `damage inside a div-o breaks the chain`() throws {
        let good = Self.token(try Self.lab.signed(TrustLab.claims()))
        let other = Self.token(try Self.lab.signed(TrustLab.claims(orig: "12025557777")))
        let foreign = Self.token(
            try Self.lab.signed(#"{"x":1}"#, header: #"{"alg":"EdDSA","ppt":"vvp","typ":"passport"}"#))
        let rows: [(String, TrustCause, String)] = [
            (String(good.dropLast(4)), .chainBroken, "a short signature"), ("x", .chainBroken, "no token"),
            ("", .chainBroken, "no bytes"), (other, .chainBroken, "RFC 8946 §4.1: another orig"),
            (foreign, .chainIncomplete, "RFC 8946 §4.2: an unknown first token"),
            (
                Self.token(try Self.lab.signed(TrustLab.claims(dest: Self.c))), .chainIncomplete,
                "a token for somebody else"
            ),
        ]
        for (inner, expected, rule) in rows {
            #expect(
                try verify([try Self.div(Self.a, Self.b, inner: inner)], to: Self.b).causes == [expected], "\(rule)")
        }
    }

    @Test func `claims of a diversion`() throws {
        let first = try Self.lab.signed(TrustLab.claims())
        let rows: [(String, String, [TrustCause], String)] = [
            (
                #"{"dest":{"tn":["\#(Self.b)"]},"iat":1471375423,"orig":{"tn":"12025551000"}}"#, "div",
                [.calledMismatch, .claims], "RFC 8946 §3: no div"
            ),
            (
                #"{"dest":{"tn":["\#(Self.b)"]},"div":{"tn":["\#(Self.a)"]},"iat":1471375423,"orig":{"tn":"12025551000"}}"#,
                "div",
                [.calledMismatch, .claims], "a list of numbers"
            ),
            (
                #"{"dest":{"tn":["\#(Self.b)"]},"div":{"tn":"\#(Self.a)"},"iat":1471375423,"orig":{"tn":"12025551000"}}"#,
                "div-o",
                [.calledMismatch, .claims], "RFC 8946 §5: no opt"
            ),
        ]
        for (payload, type, expected, rule) in rows {
            let value = try Self.lab.signed(payload, by: "div-b", ppt: type)
            #expect(try verify([first, value], to: Self.b).causes == expected, "\(rule)")
        }
    }

    @Test func `the caller of a chain is the caller of the call`() throws {
        let values = [
            try Self.lab.signed(TrustLab.claims(orig: "12025557777")),
            try Self.div(Self.a, Self.b, orig: "12025557777"),
        ]
        #expect(try verify(values, to: Self.b).causes == [.callerMismatch, .callerMismatch])
    }

    @Test func `names of the first call count with its chain`() throws {
        let rcd =
            #"{"dest":{"tn":["\#(Self.a)"]},"iat":1471375418,"orig":{"tn":"12025551000"},"rcd":{"nam":"Q Branch"}}"#
        let values = [
            try Self.lab.signed(TrustLab.claims()), try Self.lab.signed(rcd, ppt: "rcd"), try Self.div(Self.a, Self.b),
        ]
        let verdict = try verify(values, to: Self.b)
        #expect(verdict.causes == [.passed, .passed, .passed] && verdict.name == .verified("Q Branch"))
        let alone = try verify(Array(values.dropFirst()), to: Self.b)
        #expect(alone.causes == [.chainIncomplete, .chainIncomplete] && alone.name == .absent)
    }
}
