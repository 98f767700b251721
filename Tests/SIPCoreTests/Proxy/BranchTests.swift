// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Branch, RFC 3261 §9.1, §16.11, §17.1.1.3 and §17.2.3")
struct BranchTests {
    static let secret = Secret(key0: 1, key1: 2)

    static func branch(
        _ changes: [(name: String, line: String?)] = [], sender: UInt64 = 1, secret: Secret = secret
    ) throws -> Branch {
        let message = try WireMessage.message(WireMessage.invite(changes))
        return Branch(of: message, via: try #require(message.topVia).value, sender: sender, secret: secret)
    }

    @Test(arguments: ["ACK", "CANCEL"])
    func `the ACK and CANCEL of an INVITE find it`(method: String) throws {
        let hop = try Self.branch([
            ("INVITE", "\(method) sip:+4930987654@192.0.2.10 SIP/2.0"), ("CSeq", "CSeq: 314159 \(method)"),
            ("To", "To: <sip:+4930987654@192.0.2.10>;tag=314"), ("Max-Forwards", "Max-Forwards: 12"),
        ])
        #expect(hop == (try Self.branch()))
    }

    @Test(arguments: ["ACK", "CANCEL"])
    func `so they do without the cookie`(method: String) throws {
        // §17.2.3: Request-URI, From tag, Call-ID, CSeq number and the whole topmost Via stand in for it.
        let via = (name: "Via", line: "Via: SIP/2.0/UDP 198.51.100.7" as String?)
        let hop = try Self.branch([
            via, ("INVITE", "\(method) sip:+4930987654@192.0.2.10 SIP/2.0"), ("CSeq", "CSeq: 314159 \(method)"),
            ("To", "To: <sip:+4930987654@192.0.2.10>;tag=314"),
        ])
        #expect(hop == (try Self.branch([via])))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let changes: [(name: String, line: String?)]

        init(_ what: String, _ changes: [(name: String, line: String?)]) {
            testDescription = what
            self.changes = changes
        }
    }

    /// §17.2.3: another method is another transaction, whatever its branch and CSeq number.
    private static func other(_ method: String) -> [(name: String, line: String?)] {
        [("INVITE", "\(method) sip:+4930987654@192.0.2.10 SIP/2.0"), ("CSeq", "CSeq: 314159 \(method)")]
    }

    static let others: [Row] = [
        Row("another branch", [("Via", "Via: SIP/2.0/UDP 198.51.100.7:5060;branch=z9hG4bK776asdhdt;rport")]),
        Row("BYE", other("BYE")), Row("INFO", other("INFO")), Row("UPDATE", other("UPDATE")),
        Row("MESSAGE", other("MESSAGE")), Row("a method nobody knows", other("FOO")),
        Row("BYE without cookie", other("BYE") + [("Via", "Via: SIP/2.0/UDP 198.51.100.7;branch=old7")]),
        Row("INFO without cookie", other("INFO") + [("Via", "Via: SIP/2.0/UDP 198.51.100.7;branch=old7")]),
        Row("INVITE without cookie, with a branch", [("Via", "Via: SIP/2.0/UDP 198.51.100.7;branch=old7")]),
        Row("another Call-ID", [("Call-ID", "Call-ID: b84b4c76e66710@198.51.100.7")]),
        Row("another CSeq number", [("CSeq", "CSeq: 314160 INVITE")]),
        Row("no cookie", [("Via", "Via: SIP/2.0/UDP 198.51.100.7:5060")]),
        Row("no cookie, another parameter", [("Via", "Via: SIP/2.0/UDP 198.51.100.7:5060;x")]),
        Row(
            "no cookie, another From tag",
            [
                ("Via", "Via: SIP/2.0/UDP 198.51.100.7:5060"),
                ("From", "From: <sip:+49891234567@carrier.example>;tag=2"),
            ]),
        Row(
            "no cookie, another Request-URI",
            [
                ("Via", "Via: SIP/2.0/UDP 198.51.100.7:5060"), ("INVITE", "INVITE sip:+4930987655@192.0.2.10 SIP/2.0"),
            ]),
    ]

    @Test func `transactions that differ have branches that differ`() throws {
        let all = try [Self.branch(), Self.branch(sender: 2)] + Self.others.map { try Self.branch($0.changes) }
        #expect(Set(all).count == all.count)
    }

    @Test func `a restart with the same secret gives the same branch, another secret does not`() throws {
        #expect(try Self.branch() == Self.branch(secret: Secret(key0: 1, key1: 2)))
        #expect(try Self.branch() != Self.branch(secret: Secret(key0: 1, key1: 3)))
    }

    @Test(arguments: ["198.51.100.7", "10.0.0.5:5062", "pbx.example", "[2001:db8::5]:5060"], ["CANCEL", "ACK"])
    func `a CANCEL finds its INVITE however its sender spells itself, for the sender is known`(
        sentBy: String, method: String
    ) throws {
        // §17.2.3 compares sent-by because two clients may choose one branch; §9.1 asks for the same in CANCEL.
        let hop = try Self.branch([
            ("INVITE", "\(method) sip:+4930987654@192.0.2.10 SIP/2.0"), ("CSeq", "CSeq: 314159 \(method)"),
            ("Via", "Via: SIP/2.0/UDP \(sentBy);branch=z9hG4bK776asdhds"),
        ])
        #expect(hop == (try Self.branch()))
        #expect(hop != (try Self.branch(sender: 2)))
    }

    @Test func `a written branch is read again, whatever its case`() throws {
        let branch = try Self.branch()
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: 32) { branch.append(to: &$0) }
        #expect(bytes.starts(with: "z9hG4bK".utf8))  // §8.1.1.7
        #expect(Branch(bytes[...]) == branch)
        #expect(Branch(Array(text(bytes).uppercased().utf8)[...]) == branch)
    }

    @Test func `every attempt has a branch of its own that names the same transaction, §16.6 step 8`() throws {
        let branch = try Self.branch()
        let written = (0...15 as ClosedRange<UInt8>).map { attempt in
            var bytes: [UInt8] = []
            bytes.append(addingCapacity: 32) { branch.append(attempt: attempt, to: &$0) }
            return bytes
        }
        #expect(Set(written).count == 16)
        for (attempt, bytes) in written.enumerated() {
            #expect(Branch(bytes[...]) == branch)
            #expect(Int(Branch.attempt(bytes[...])) == attempt)
        }
    }

    @Test(arguments: [
        "", "z9hG4bK", "z9hG4bKhd", "z9hG4bKhd0123456789abcde", "z9hG4bKhd0123456789abcdef01",
        "z9hG4bKxx0123456789abcdef",
        "z9hG4bKhd0123456789abcdeg", "z9hG4bKhd\u{e9}123456789abcde",
    ])
    func `a branch of somebody else is none`(branch: String) {
        #expect(Branch(Array(branch.utf8)[...]) == nil)
    }
}
