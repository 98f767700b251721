// SPDX-License-Identifier: Apache-2.0

import Testing
import TrustFixtures

@testable import Trust

/// The signers of a snapshot, as a store adds them.
@Suite("List of signers")
struct SignerListTests {
    /// The parts of a signer as bytes of a store; each is as a store should have it, unless a test says otherwise.
    private struct Stored {
        var row: Int64
        var address: [UInt8]
        var chain: [UInt8]
        var key = [4] + [UInt8](repeating: 9, count: 64)
        var authority: [UInt8] = [0x30, 0x08, 0xA0, 0x06, 0x16, 0x04] + Array("123A".utf8)
        var constraints: [ClaimConstraints] = []
        var standings = [TrustCause.passed.rawValue]
        var subject = Array("Example Carrier".utf8)

        init(_ number: Int) {
            row = Int64(number)
            address = Array(Self.address(number).utf8)
            chain = Self.chain(number)
        }

        static func address(_ number: Int) -> String { "https://cert.example.net/\(number)" }

        static func chain(_ number: Int) -> [UInt8] {
            [UInt8](repeating: 0, count: 24) + withUnsafeBytes(of: UInt64(number)) { Array($0) }
        }
    }

    private static func snapshot(_ stored: [Stored]) -> TrustSnapshot {
        var list = SignerList(capacity: 1)
        for signer in stored {
            list.add(
                row: signer.row, address: signer.address.span.bytes, chain: signer.chain.span.bytes,
                key: signer.key.span.bytes, authority: signer.authority.span.bytes, constraints: signer.constraints,
                validity: 5...7, standings: signer.standings.span.bytes, isRenewed: signer.row == 3,
                subject: signer.subject.span.bytes)
        }
        return TrustSnapshot(generation: 1, regimeSet: 1, list)
    }

    private static func digest(_ number: Int) throws -> ChainDigest {
        try #require(ChainDigest(bytes: Stored.chain(number)))
    }

    @Test(arguments: [0, 1, 2, 3, 4, 97, 3_000])
    func `each signer is found by address, chain and row, and no other`(_ count: Int) throws {
        let snapshot = Self.snapshot((0..<count).map { Stored($0) })
        #expect(snapshot.count == count)
        for number in 0..<count {
            #expect(snapshot.signer(at: Stored.address(number))?.row == Int64(number))
            #expect(snapshot.signer(of: try Self.digest(number))?.row == Int64(number))
            #expect(snapshot.signer(row: Int64(number))?.row == Int64(number))
        }
        for number in count..<count + 100 {
            #expect(snapshot.signer(at: Stored.address(number)) == nil)
            #expect(snapshot.signer(of: try Self.digest(number)) == nil)
            #expect(snapshot.signer(row: Int64(number)) == nil)
        }
        #expect(snapshot.signer(at: "") == nil && snapshot.signer(row: -1) == nil)
    }

    /// Authorities around the length from which they are parsed as they are added.
    @Test(arguments: [1, 127, 128, 129, 9_999, 10_000, 10_001])
    func `an authority of any length is found, and one that is too long has no entry`(_ count: Int) throws {
        let entries = (0..<count).flatMap { number -> [UInt8] in
            let code = String(number % 10_000)
            let text = Array((String(repeating: "0", count: 4 - code.count) + code).utf8)
            return [0xA0, 0x06, 0x16, 0x04] + text
        }
        var head: [UInt8] = [0x30]
        switch entries.count {
        case ..<0x80: head.append(UInt8(entries.count))
        case ..<0x100: head += [0x81, UInt8(entries.count)]
        case ..<0x10000: head += [0x82, UInt8(entries.count >> 8), UInt8(entries.count & 0xFF)]
        default:
            head += [0x83, UInt8(entries.count >> 16), UInt8(entries.count >> 8 & 0xFF), UInt8(entries.count & 0xFF)]
        }
        var signers = (0..<3).map { Stored($0) }
        signers[1].authority = head + entries
        let snapshot = Self.snapshot(signers)
        let found = try #require(snapshot.signer(at: Stored.address(1))).authority
        #expect(found.codes.count == (count > 10_000 ? 0 : count) && found.ranges.isEmpty)
        #expect(found == AuthorityList(der: head + entries) ?? AuthorityList())
        #expect(snapshot.signer(at: Stored.address(2))?.authority.codes == ["123A"], "the one behind it has its own")
    }

    @Test func `a signer has its own parts`() throws {
        let constraints = try #require(
            ClaimConstraints(
                der: [0x30, 0x09, 0xA0, 0x07, 0x30, 0x05, 0x16, 0x03] + Array("rcd".utf8), isEnhanced: false))
        var second = Stored(2)
        second.constraints = [constraints]
        second.standings = [TrustCause.revoked.rawValue, TrustCause.passed.rawValue]
        second.subject = Array("Second".utf8)
        let snapshot = Self.snapshot([Stored(1), second, Stored(3)])
        let found = try [1, 2, 3].map { row in try #require(snapshot.signer(row: row)) }
        #expect(found.map(\.subject) == ["Example Carrier", "Second", "Example Carrier"])
        #expect(found.map(\.constraints) == [[], [constraints], []])
        #expect(found.map(\.standings) == [[.passed], [.revoked, .passed], [.passed]])
        #expect(found.map(\.isRenewed) == [false, false, true])
        #expect(found.allSatisfy { $0.key?.x963 == Stored(1).key && $0.authority.codes == ["123A"] })
        #expect(found.allSatisfy { $0.validity == 5...7 })
    }

    @Test func `of two signers with one address or chain the last one counts`() throws {
        var second = Stored(2)
        second.address = Stored(1).address
        var third = Stored(3)
        third.chain = second.chain
        let snapshot = Self.snapshot([Stored(1), second, third])
        #expect(snapshot.signer(at: Stored.address(1))?.row == 2 && snapshot.signer(row: 1)?.row == 1)
        #expect(snapshot.signer(of: try Self.digest(2))?.row == 3)
        #expect(snapshot.signer(of: try Self.digest(1))?.row == 1)
    }

    @Test func `an address is compared octet by octet`() {
        var stored = Stored(1)
        stored.address = Array("https://cert.example.net/caf\u{E9}".utf8)
        let snapshot = Self.snapshot([stored])
        #expect(snapshot.signer(at: "https://cert.example.net/caf\u{E9}") != nil)
        #expect(snapshot.signer(at: "https://cert.example.net/cafe\u{301}") == nil)
        #expect(snapshot.signer(at: "https://cert.example.net/") == nil)
    }

    @Test func `parts in another form than their own are none`() throws {
        var bad: [Stored] = []
        let keys: [[UInt8]] = [
            [], [4], Array(repeating: 4, count: 64), Array(repeating: 4, count: 66), [3] + Stored(0).key.dropFirst(),
        ]
        for key in keys {
            bad.append(Stored(bad.count))
            bad[bad.count - 1].key = key
            bad[bad.count - 1].chain.removeLast()
            bad[bad.count - 1].authority.removeLast()
            bad[bad.count - 1].standings = [255]
            bad[bad.count - 1].subject = [0x41, 0xFF]
        }
        let snapshot = Self.snapshot(bad)
        for number in bad.indices {
            let signer = try #require(snapshot.signer(at: Stored.address(number)))
            #expect(signer.row == Int64(number) && signer.key == nil && signer.authority == AuthorityList())
            #expect(signer.standings == [.certificateMalformed] && signer.subject == "A\u{FFFD}")
            #expect(snapshot.signer(of: try Self.digest(number)) == nil)
        }
    }
}
