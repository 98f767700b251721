// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing
import TrustFixtures

@testable import Trust

/// Bytes of hexadecimal digits, with blanks between them.
private func hex(_ text: String) -> [UInt8] {
    let digits = text.filter { $0 != " " }
    return stride(from: 0, to: digits.count, by: 2).compactMap { position in
        let start = digits.index(digits.startIndex, offsetBy: position)
        return UInt8(digits[start...].prefix(2), radix: 16)
    }
}

/// The extension of RFC 8226 §9.
@Suite("TNAuthList")
struct AuthorityListTests {
    private static func range(_ start: String, _ count: UInt64) -> AuthorityList.NumberRange? {
        CanonicalNumber(start).flatMap { AuthorityList.NumberRange(start: $0, count: count) }
    }

    @Test(arguments: [
        ("3008 a006 1604 31323341", ["123A"], [], "one provider code"),
        ("3008 a006 1604 31323334", ["1234"], [], "RFC 9118 Appendix: the example's code"),
        ("3010 a006 1604 31323341 a006 1604 35363742", ["123A", "567B"], [], "two codes"),
        ("3014 a112 3010 160b 3132303235353531303030 0201 64", [], ["12025551000*100"], "a range"),
        ("300f a20d 160b 3132303235353531303030", [], ["12025551000*1"], "one number"),
        (
            "3017 a006 1604 31323341 a20d 160b 3132303235353531303030", ["123A"], ["12025551000*1"],
            "a code and a number"
        ),
        (
            "3016 a114 3012 160b 3132303235353531303030 0201 64 0500", [], ["12025551000*100"],
            "§9: a later member of a range"
        ),
    ])
    func `a list is read`(_ bytes: String, _ codes: [String], _ ranges: [String], _ rule: String) throws {
        let list = try #require(AuthorityList(der: hex(bytes)), "\(rule)")
        #expect(list.codes == codes)
        #expect(list.ranges.map { "\($0.start.text)*\($0.count)" } == ranges)
        #expect(AuthorityList(der: list.der) == list)
    }

    @Test(arguments: [1, 2, 12, 13, 30, 31, 7_000, 10_000])
    func `a list of any length is written as it is read`(_ count: Int) throws {
        let codes = (0..<count / 2).map { "\($0)A" }
        let counts: [UInt64] = [1, 2, 127, 128, 255, 256, 40_000, 999_999_999]
        let ranges = try (codes.count..<count).map { number in
            try #require(Self.range("1202\(1_000_000_000 + number)", counts[number % counts.count]))
        }
        let list = AuthorityList(codes: codes, ranges: ranges)
        #expect(AuthorityList(der: list.der) == list)
        #expect(AuthorityList().der.isEmpty)
    }

    @Test(arguments: [
        ("", "no bytes"),
        ("3000", "§9: at least one entry"),
        ("1618 68747470733a2f2f6578616d706c652e6f72672f6c697374", "text with an address, as old programs wrote"),
        ("0408 a006 1604 31323341", "an octet string"),
        ("3008 a006 1604 313233", "an entry beyond the end"),
        ("3008 a006 0c04 31323341", "a code as UTF-8"),
        ("3008 a306 1604 31323341", "an unknown entry"),
        ("3006 1604 31323341", "an entry without its tag"),
        ("3004 a002 1600", "an empty code"),
        ("3008 a006 1604 312333ff", "a code beyond ASCII"),
        ("300a a006 1604 31323341 0500", "something behind the entry"),
        ("3008 a006 1604 31323341 00", "a byte behind the list"),
        ("308108 a006 1604 31323341", "X.690 §10.1: a length in a longer form"),
        ("3080 a006 1604 31323341 0000", "an indefinite length"),
        ("3014 a112 3010 160b 3132303235353531303030 0201 01", "a range of one number"),
        ("3014 a112 3010 160b 3132303235353531303030 0201 00", "an empty range"),
        ("3014 a112 3010 160b 3132303235353531303030 0201 ff", "a negative count"),
        ("3015 a113 3011 160b 3132303235353531303030 0202 0064", "a count in a longer form"),
        ("301b a119 3017 160b 3132303235353531303030 0208 7fffffffffffffff", "a count of eight bytes"),
        ("3013 a111 300f 160b 393939393939393939 3939 0200", "no count"),
        ("3014 a112 3010 160b 3939393939393939393939 0201 02", "a range beyond its length"),
        ("3014 a112 3010 160b 3132303235353531303a30 0201 64", "a number with another character"),
        ("3014 a112 3010 160b 31323032353535313023 30 0201 64", "a range from a number with #"),
        ("3014 a212 1610 31323334353637383930313233343536", "a number of 16 digits"),
        ("300f a20d 160b 2b32303235353531303030 31", "a number with +"),
    ])
    func `anything else is refused`(_ bytes: String, _ rule: String) {
        #expect(AuthorityList(der: hex(bytes)) == nil, "\(rule)")
    }

    @Test(arguments: [
        ("12025551000", true), ("12025551099", true), ("12025551100", false), ("12025550999", false),
        ("2025551000", false),
        ("112025551000", false), ("1202555100#", false),
    ])
    func `a range has the numbers of its length`(_ number: String, _ isInside: Bool) throws {
        let list = AuthorityList(ranges: [try #require(Self.range("12025551000", 100))])
        let number = try #require(CanonicalNumber(number))
        #expect(list.covers(number) == isInside)
        #expect(list.names(number) == isInside)
    }

    @Test func `a provider code covers all numbers and names none`() throws {
        let number = try #require(CanonicalNumber("442079460018"))
        #expect(AuthorityList(codes: ["123A"]).covers(number))
        #expect(!AuthorityList(codes: ["123A"]).names(number))
        #expect(!AuthorityList().covers(number))
    }

    @Test(
        arguments: [
            ([], "1000", 100, [], "1000", 1000, true, "RFC 9060 §4: inside the parent's range"),
            ([], "1000", 100, [], "1000", 100, true, "the same range"),
            ([], "1000", 101, [], "1000", 100, false, "one number more"),
            ([], "0999", 1, [], "1000", 100, false, "a number before"),
            ([], "1100", 1, [], "1000", 100, false, "a number behind"),
            ([], "1000", 1, ["123A"], "5000", 1, true, "§4.1: a parent with a code delegates any number"),
            (["123A"], "1000", 1, ["123A"], "5000", 1, true, "the parent's own code"),
            (["567B"], "1000", 1, ["123A"], "5000", 1, false, "another code"),
            (["567B"], "1000", 1, [], "1000", 100, false, "a code from a parent without one"),
        ] as [([String], String, UInt64, [String], String, UInt64, Bool, String)])
    func `a delegate lies within its parent`(
        codes: [String], start: String, count: UInt64, parents: [String], first: String, parentCount: UInt64,
        isInside: Bool, rule: String
    ) throws {
        let child = AuthorityList(codes: codes, ranges: [try #require(Self.range(start, count))])
        let parent = AuthorityList(codes: parents, ranges: [try #require(Self.range(first, parentCount))])
        #expect(child.isEncompassed(by: parent) == isInside, "\(rule)")
    }

    @Test func `forms of a leaf`() throws {
        let number = try #require(Self.range("12025551000", 1))
        #expect(AuthorityList(codes: ["1"]).satisfies(.oneCode))
        #expect(!AuthorityList(codes: ["1", "2"]).satisfies(.oneCode))
        #expect(!AuthorityList(codes: ["1"], ranges: [number]).satisfies(.oneCode))
        #expect(AuthorityList(ranges: [number]).satisfies(.any))
        #expect(!AuthorityList().satisfies(.any))
    }

    @Test func `damaged lists do not crash`() {
        var random = RepeatableRandom(seed: 8226)
        let seed = hex(
            "302b a006 1604 31323341 a112 3010 160b 3132303235353531303030 0201 64 a20d 160b 3132303235353531303030")
        var read = 0
        for _ in 0..<50_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1..<3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            if Int.random(in: 0..<8, using: &random) == 0 { bytes.removeLast(Int.random(in: 1..<9, using: &random)) }
            if AuthorityList(der: bytes) != nil { read += 1 }
            _ = ClaimConstraints(der: bytes, isEnhanced: true)
        }
        #expect(read > 100)
    }
}

/// The extensions of RFC 8226 §8 and RFC 9118 §3.
@Suite("Claim constraints")
struct ClaimConstraintsTests {
    /// RFC 9118 Appendix: confidence must be there, and high or medium; priority must not.
    private static let example = """
        3040 a00e 300c 160a 636f6e666964656e6365
        a120 301e 301c 160a 636f6e666964656e6365 300e 0c04 68696768 0c06 6d656469756d
        a20c 300a 1608 7072696f72697479
        """.replacing("\n", with: "")

    @Test func `the example of RFC 9118 is read`() throws {
        let constraints = try #require(ClaimConstraints(der: hex(Self.example), isEnhanced: true))
        #expect(constraints.mustInclude == ["confidence"])
        #expect(constraints.permitted == [.init(claim: "confidence", values: ["high", "medium"])])
        #expect(constraints.mustExclude == ["priority"])
        #expect(!constraints.isVoid)
        // The older extension has no third member (RFC 8226 §8).
        #expect(ClaimConstraints(der: hex(Self.example), isEnhanced: false) == nil)
    }

    @Test(arguments: [
        ("", "no bytes"),
        ("3000", "RFC 8226 §8: one member at least"),
        ("3004 a002 3000", "no name"),
        ("3006 a004 3002 1600", "an empty name"),
        ("3009 a007 3005 0c03 636e61", "a name as UTF-8"),
        ("300a a108 3006 3004 1601 61 3000", "a claim without values"),
        ("3009 a207 3005 1603 636e61 00", "a byte behind the list"),
        ("300e a205 3003 1601 61 a005 3003 1601 61", "members in another order"),
        ("1602 6161", "text"),
    ])
    func `anything else is refused`(_ bytes: String, _ rule: String) {
        #expect(ClaimConstraints(der: hex(bytes), isEnhanced: true) == nil, "\(rule)")
    }

    @Test func `an extension that excludes a claim of each token counts as absent`() throws {
        // RFC 9118 §4: mustExclude with iat.
        let constraints = try #require(ClaimConstraints(der: hex("3009 a207 3005 1603 696174"), isEnhanced: true))
        #expect(constraints.isVoid)
    }

    @Test(arguments: [
        (#""confidence":"high""#, true, "a permitted value"),
        (#""confidence":"low""#, false, "RFC 8226 §8: another value"),
        (#""other":"high""#, false, "RFC 8226 §8: a missing claim"),
        (#""confidence":"high","priority":1"#, false, "RFC 9118 §3: an excluded claim"),
        (#""confidence":["high"]"#, false, "a value of another kind"),
    ])
    func `a token keeps the constraints of its signer`(_ claim: String, _ isKept: Bool, _ rule: String) throws {
        let constraints = try #require(ClaimConstraints(der: hex(Self.example), isEnhanced: true))
        let lab = TrustLab.shared
        let signer = try lab.signer("spc", constraints: [constraints])
        let verdict = lab.snapshot(of: signer).verify([try lab.signed(TrustLab.claims("," + claim))])
        #expect(verdict.causes == [isKept ? .passed : .constraint], "\(rule)")
    }
}
