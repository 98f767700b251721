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
        present.regimes = [1, 2, 3]
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
        for count in [10, 300, 2] {
            let former = try store.contents()
            var present = former
            present.signers = (0..<count).map { signer($0) }
            try await store.replace(former, by: present)
            #expect(try reader.contents().signers.count == count)
            #expect(try reader.snapshot().generation == UInt64(try store.contents().generation))
        }
        try store.close()
    }

    @Test func `a snapshot has the decided signers by address and by chain`() async throws {
        var other = signer(2, standings: [.revoked, .passed])
        other.address = nil
        try await store([signer(1, standings: [.passed, .untrustedSigner]), other])
        let snapshot = try SignerReader(folder: folder.path).snapshot()
        #expect(snapshot.regimeSet == SignerReader.regimeSet(of: [1, 2, 3]))
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
}
