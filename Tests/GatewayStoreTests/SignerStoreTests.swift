// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import TestFixtures
import Testing
import Trust

@testable import GatewayStore

@Suite("Stored signers")
struct SignerStoreTests {
    private let folder = TemporaryFolder()

    private static let rules = DecidedRules(digest: Array(repeating: 9, count: 32), names: ["us", "lab"]).bytes

    /// A signer with invented certificates; `number` makes it unlike others.
    private func signer(_ number: Int, address: String? = nil, standings: [TrustCause] = [.passed]) -> StoredSigner {
        let bytes = withUnsafeBytes(of: UInt64(number)) { Array($0) }
        return StoredSigner(
            address: address ?? "https://cert\(number % 250).example.net/v1/\(number)/certificate.pem",
            certificates: [[0x30, 0x82] + bytes + Array(repeating: 7, count: 600), [0x30, 0x82, UInt8(number % 20)]],
            chain: Array(repeating: 0, count: 24) + bytes, key: [4] + Array(repeating: 9, count: 56) + bytes,
            authority: [0x30, 0x08, 0xA0, 0x06, 0x16, 0x04] + Array("123A".utf8),
            constraints: [], validity: 1_400_000_000...1_900_000_000, standings: standings.map(\.rawValue),
            subject: "CN=SHAKEN 123A, O=Example Carrier \(number), C=US", importedAt: 1_471_375_428)
    }

    private func store(_ signers: [StoredSigner]) async throws {
        let store = try SignerStore(folder: folder.path)
        let former = try store.contents()
        var present = former
        present.signers = signers
        present.regimes = Self.rules
        try await store.replace(former, by: present)
        try store.close()
    }

    @Test func `everything that was stored is read again`() async throws {
        let store = try SignerStore(folder: folder.path)
        var trust = try store.contents()
        #expect(trust.signers.isEmpty && trust.generation == 0)
        var first = signer(1)
        first.constraints = [
            .init(der: [0x30, 0], isEnhanced: true), .init(der: Array(repeating: 1, count: 300), isEnhanced: false),
        ]
        var second = signer(2)
        second.address = nil
        second.key = nil
        second.authority = nil
        trust.signers = [first, second]
        trust.issuers = [[0x30, 1]]
        trust.unknown = ["https://a.example/1.pem": 5]
        trust.regimes = [9, 8]
        trust.decidedAt = 77
        trust.authorityLists = [.init(regime: "us", sequence: 7, expires: 99, token: "a.b.c", importedAt: 3)]
        trust.revocationLists = [.init(signer: [0x30], der: [0x30, 2], importedAt: 4)]
        try await store.replace(try store.contents(), by: trust)
        let read = try SignerReader(folder: folder.path).contents()
        (trust.signers[0].row, trust.signers[1].row) = (1, 2)
        #expect(read.signers == trust.signers && read.unknown == trust.unknown && read.regimes == trust.regimes)
        #expect(read.authorityLists == trust.authorityLists && read.revocationLists == trust.revocationLists)
        #expect(read.generation == 1 && read.decidedAt == 77)
        #expect(Set(read.issuers) == [[0x30, 1], [0x30, 0x82, 1], [0x30, 0x82, 2]])
        var less = read
        less.signers.removeFirst()
        less.unknown = [:]
        less.authorityLists = []
        try await store.replace(read, by: less)
        let rest = try store.contents()
        #expect(rest.signers.map(\.row) == [2] && rest.unknown.isEmpty && rest.authorityLists.isEmpty)
        try store.close()
    }

    @Test func `a change that another process has overtaken changes nothing`() async throws {
        let one = try SignerStore(folder: folder.path)
        let other = try SignerStore(folder: folder.path)
        let former = try one.contents()
        var present = former
        present.signers = [signer(1)]
        try await one.replace(former, by: present)
        present.signers = [signer(2), signer(3)]
        await #expect(throws: SignerStore.Overtaken.self) { try await other.replace(former, by: present) }
        #expect(try other.contents().signers.count == 1)
        try one.close()
        try other.close()
    }

    @Test func `a change with an error inside changes nothing`() async throws {
        try await store([signer(1)])
        let store = try SignerStore(folder: folder.path)
        let former = try store.contents()
        var present = former
        // Two signers of one address: the second one replaces the first, so a key of its own makes the error.
        present.signers = (2..<500).map { signer($0) }
        present.authorityLists = [
            .init(regime: "us", sequence: 1, expires: 1, token: "", importedAt: 1),
            .init(regime: "us", sequence: 2, expires: 1, token: "", importedAt: 1),
        ]
        await #expect(throws: (any Error).self) { try await store.replace(former, by: present) }
        #expect(try store.contents().signers.count == 1)
        try store.close()
    }

    @Test func `a reader keeps its moment while a change is written`() async throws {
        try await store([signer(1)])
        let reader = try SignerReader(folder: folder.path)
        let store = try SignerStore(folder: folder.path)
        var last = try reader.snapshot().generation
        for count in [10, 300, 2] {
            let former = try store.contents()
            var present = former
            present.signers = (0..<count).map { signer($0) }
            try await store.replace(former, by: present)
            #expect(try reader.contents().signers.count == count)
            #expect(try store.contents().generation == former.generation + 1)
            #expect(try reader.snapshot().generation > last)
            last = try reader.snapshot().generation
        }
        try store.close()
    }

    @Test func `a snapshot has the decided signers by address and by chain`() async throws {
        var other = signer(2, standings: [.revoked, .passed])
        other.address = nil
        try await store([signer(1, standings: [.passed, .untrustedSigner]), other])
        let snapshot = try SignerReader(folder: folder.path).snapshot()
        #expect(snapshot.regimeSet == RegimeSet.number(of: ["us", "lab"]))
        let first = try #require(snapshot.signer(at: "https://cert1.example.net/v1/1/certificate.pem"))
        #expect(first.standings == [.passed, .untrustedSigner] && first.key != nil && first.row == 1)
        #expect(first.authority.codes == ["123A"] && first.validity == 1_400_000_000...1_900_000_000)
        let chain = try #require(ChainDigest(bytes: signer(2).chain))
        #expect(snapshot.signer(of: chain)?.standings == [.revoked, .passed])
        #expect(snapshot.signer(at: "https://cert2.example.net/v1/2/certificate.pem") == nil)
    }

    @Test func `a folder without signers, and a file of a newer program, are errors with their remedy`() async throws {
        #expect(throws: HeraldDatabaseError.self) { try SignerReader(folder: folder.path) }
        try await store([])
        let queue = try DatabaseQueue(path: HeraldDatabase.signersPath(in: folder.path))
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('signers 99')") }
        try queue.close()
        let error = #expect(throws: HeraldDatabaseError.self) { try SignerStore(folder: folder.path) }
        #expect(error?.problem == .newer)
    }

    @Test func `twenty thousand signers are a snapshot at once`() async throws {
        try await store((0..<20_000).map { signer($0) })
        let snapshot = try SignerReader(folder: folder.path).snapshot()
        for number in stride(from: 0, to: 20_000, by: 1000) {
            #expect(snapshot.signer(at: "https://cert\(number % 250).example.net/v1/\(number)/certificate.pem") != nil)
        }
    }

    // MARK: Rules

    @Test(
        arguments: [
            (0, "", nil), (32, "", nil), (32, "us\n", ["us"]), (32, "us\nfr\nprivate\n", ["us", "fr", "private"]),
        ] as [(Int, String, [String]?)])
    func `stored rules have the names of their regimes`(digest: Int, text: String, names: [String]?) {
        // A line end in the digest is none of a name.
        let bytes = Array(repeating: UInt8(ascii: "\n"), count: digest) + Array(text.utf8)
        let rules = DecidedRules(stored: bytes)
        #expect(rules?.names == names)
        #expect(rules?.regimeSet == names.map { RegimeSet.number(of: $0) })
        if let rules { #expect(rules.bytes == bytes) }
    }

    @Test func `other files of the same regimes leave the number of the set, and other names do not`() {
        let names = ["us", "private"]
        let (one, other) = (
            DecidedRules(digest: Array(repeating: 1, count: 32), names: names),
            DecidedRules(digest: Array(repeating: 2, count: 32), names: names)
        )
        #expect(one.bytes != other.bytes && one.regimeSet == other.regimeSet)
        #expect(one.regimeSet != DecidedRules(digest: one.bytes, names: names.reversed()).regimeSet)
    }

    @Test func `a snapshot of rules without names is one that no policy reads`() async throws {
        let store = try SignerStore(folder: folder.path)
        let former = try store.contents()
        var present = former
        present.signers = [signer(1)]
        present.regimes = Array(repeating: 1, count: 32)
        try await store.replace(former, by: present)
        #expect(try SignerReader(folder: folder.path).snapshot().regimeSet == 0)
        try store.close()
    }

    @Test func `a file of the first form gets its table at the next change`() async throws {
        try await store([signer(1)])
        let queue = try DatabaseQueue(path: HeraldDatabase.signersPath(in: folder.path))
        try await queue.write {
            try $0.execute(
                sql:
                    "DROP TABLE temporary_chain; DELETE FROM grdb_migrations WHERE identifier = 'signers chains of calls'"
            )
        }
        try queue.close()
        let error = #expect(throws: HeraldDatabaseError.self) { try SignerReader(folder: folder.path) }
        #expect(error?.problem == .older)
        try SignerStore(folder: folder.path).close()
        #expect(try SignerReader(folder: folder.path).snapshot().count == 1)
    }

    // MARK: Signers of calls

    @Test func `addresses of calls are stored once, up to the limit, and without those of signers`() async throws {
        try await store([signer(1, address: "https://known.example/1.pem")])
        let store = try SignerStore(folder: folder.path)
        let generation = try store.contents().generation
        #expect(
            try await store.add(
                unknown: ["https://a.example/1.pem", "https://known.example/1.pem", "https://b.example/1.pem"], at: 7,
                limit: 4
            ).leftOut.isEmpty)
        #expect(try await store.add(unknown: ["https://a.example/1.pem"], at: 9, limit: 4).leftOut.isEmpty)
        let further = (0..<5).map { "https://c.example/\($0).pem" }
        #expect(try await store.add(unknown: further, at: 8, limit: 4).leftOut == Array(further.dropFirst()))
        let trust = try store.contents()
        #expect(
            trust.unknown == [
                "https://a.example/1.pem": 7, "https://b.example/1.pem": 7, "https://c.example/0.pem": 8,
            ])
        #expect(trust.generation == generation, "an import beside it would begin anew")
        try store.close()
    }

    @Test func `an import goes on beside addresses that calls name`() async throws {
        let store = try SignerStore(folder: folder.path)
        let former = try store.contents()
        _ = try await store.add(unknown: ["https://a.example/1.pem", "https://b.example/1.pem"], at: 1, limit: 100)
        var present = former
        present.signers = [signer(1, address: "https://a.example/1.pem")]
        present.unknown = ["https://b.example/1.pem": 5, "https://c.example/1.pem": 5]
        try await store.replace(former, by: present)
        let trust = try store.contents()
        #expect(trust.unknown == ["https://b.example/1.pem": 1, "https://c.example/1.pem": 5])
        try store.close()
    }

    @Test func `temporary chains are bounded, have negative rows, and leave with the next import`() async throws {
        try await store([signer(1)])
        let store = try SignerStore(folder: folder.path)
        let reader = try SignerReader(folder: folder.path)
        var generations = [try reader.snapshot().generation]
        for first in [100, 110] {
            let chains = (first..<first + 8).map { signer($0, standings: [.untrustedSigner]) }
            try await store.add(
                lasting: [], temporary: chains, decidedAt: try store.contents().generation, at: 1_700_000_000,
                limit: 100,
                mostTemporary: 10)
            generations.append(try reader.snapshot().generation)
        }
        #expect(Set(generations).count == 3, "\(generations)")
        let snapshot = try reader.snapshot()
        #expect(snapshot.count == 11 && snapshot.signer(row: 1) != nil)
        func found(_ number: Int) throws -> Signer? {
            snapshot.signer(of: try #require(ChainDigest(bytes: signer(number).chain)))
        }
        #expect(try found(105) == nil && found(106)?.standings == [.untrustedSigner])
        let last = try #require(try found(117))
        #expect(last.row < 0 && snapshot.signer(row: last.row)?.subject == last.subject)
        #expect(try reader.figures().signers == 1 && store.contents().signers.count == 1)
        let former = try store.contents()
        try await store.replace(former, by: former)
        #expect(try reader.snapshot().count == 1)
        #expect(!generations.contains(try reader.snapshot().generation))
        try store.close()
    }

    @Test func `lasting chains are signers up to the limit, and overtaken ones are refused`() async throws {
        try await store([signer(1)])
        let store = try SignerStore(folder: folder.path)
        let generation = try store.contents().generation
        var chains = [signer(2), signer(3)]
        for index in chains.indices { chains[index].address = nil }
        try await store.add(
            lasting: chains, temporary: [], decidedAt: generation, at: 1_700_000_000, limit: 2, mostTemporary: 10)
        let trust = try store.contents()
        #expect(trust.signers.map(\.row) == [1, 2] && trust.signers[1].chain == chains[0].chain)
        #expect(trust.signers[1].certificates == chains[0].certificates)
        #expect(try SignerReader(folder: folder.path).snapshot().count == 3)
        await #expect(throws: SignerStore.Overtaken.self) {
            try await store.add(
                lasting: [signer(4)], temporary: [], decidedAt: generation, at: 1_700_000_000, limit: 9,
                mostTemporary: 10)
        }
        try store.close()
    }
}
