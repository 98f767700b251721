// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import TestFixtures
import Testing
import Trust

@testable import GatewayStore

@Suite("Stored fetches of signers")
struct SignerFetchStoreTests {
    private let folder = TemporaryFolder()
    private static let rules = DecidedRules(digest: Array(repeating: 9, count: 32), names: ["us", "lab"]).bytes
    private static let now: Int64 = 1_700_000_000

    private func signer(_ address: String, _ mark: UInt8 = 1) -> StoredSigner {
        StoredSigner(
            address: address, certificates: [[0x30, mark], [0x30, 0x82]], chain: Array(repeating: mark, count: 32),
            key: [4] + Array(repeating: mark, count: 64), authority: nil, constraints: [],
            validity: 1_400_000_000...1_900_000_000,
            standings: [TrustCause.passed.rawValue, TrustCause.passed.rawValue],
            subject: "Example Carrier", importedAt: Self.now)
    }

    private func address(_ number: Int) -> String { "https://cert.example.net/\(number).pem" }

    private func fetched(_ address: String) -> StoredFetch {
        var fetch = StoredFetch(address: address, nextAt: Self.now + 69_120)
        (fetch.fetchedAt, fetch.expiresAt) = (Self.now, Self.now + 86_400)
        (fetch.etag, fetch.lastModified) = ("\"v1\"", "Sat, 21 Nov 2026")
        return fetch
    }

    private func failed(
        _ address: String, _ cause: TrustCause = .certificateUnreachable, attempts: Int = 1, standings: [UInt8] = []
    ) -> StoredFetch {
        var fetch = StoredFetch(address: address, nextAt: Self.now + 30)
        (fetch.cause, fetch.reason, fetch.attempts) = (cause.rawValue, "no complete response", attempts)
        fetch.standings = standings
        return fetch
    }

    /// A store with rules and these addresses.
    private func opened(_ count: Int = 1) async throws -> SignerStore {
        let store = try SignerStore(folder: folder.path)
        let former = try store.contents()
        var present = former
        present.regimes = Self.rules
        try await store.replace(former, by: present)
        _ = try await store.add(unknown: (0..<count).map(address), at: Self.now, limit: 1000)
        return store
    }

    /// Stores results of fetches that begin now.
    private func record(
        _ store: SignerStore, _ records: [FetchRecord], at now: Int64 = Self.now, limit: Int = 1000
    ) async throws -> SignerStore.StoredFetches {
        let reader = try SignerReader(folder: folder.path)
        var present = records
        for index in records.indices {
            present[index].known = try await reader.fetch(of: records[index].fetch.address)
        }
        return try await store.record(present, decidedAt: try store.contents().generation, at: now, limit: limit)
    }

    @Test func `a chain takes its address off the list, and its state is read again after a restart`() async throws {
        let store = try await opened()
        let before = try store.contents().generation
        let stored = try await record(store, [FetchRecord(fetched(address(0)), signer: signer(address(0)))])
        #expect(stored.generation == before + 1 && stored.effects == [.replaced])
        try store.close()
        let reader = try SignerReader(folder: folder.path)
        let trust = try reader.contents()
        #expect(trust.unknown.isEmpty && trust.signers.map(\.address) == [address(0)])
        #expect(trust.fetches == [address(0): fetched(address(0))])
        let known = try await reader.fetch(of: address(0))
        #expect(known.state == fetched(address(0)) && known.chain?.digest == signer("").chain)
        #expect(known.chain?.validity == signer("").validity && known.chain?.standings == signer("").standings)
        #expect(try await reader.dueRefreshes(at: Self.now + 69_119, limit: 9, under: ["us"]).isEmpty)
        #expect(
            try await reader.dueRefreshes(at: Self.now + 69_120, limit: 9, under: ["us", "fr"]).map(\.address) == [
                address(0)
            ])
        #expect(try await reader.pauses().isEmpty)
        #expect(try reader.snapshot().signer(at: address(0))?.isRenewed == false)
    }

    @Test func `only certificates that count under a regime with fetching are refreshed`() async throws {
        let (passed, revoked, foreign) = (TrustCause.passed, TrustCause.revoked, TrustCause.untrustedSigner)
        let due = Self.now + 69_120
        let certificates: [(standings: [TrustCause], end: Int64)] = [
            ([passed, passed], due), ([passed, passed], due - 1), ([revoked, revoked], .max / 2),
            ([revoked, passed], .max / 2), ([passed, foreign], .max / 2), ([foreign, foreign], .max / 2),
        ]
        let store = try await opened(certificates.count)
        for (number, certificate) in certificates.enumerated() {
            var chain = signer(address(number))
            chain.standings = certificate.standings.map(\.rawValue)
            chain.validity = 0...certificate.end
            _ = try await record(store, [FetchRecord(fetched(address(number)), signer: chain)])
        }
        let reader = try SignerReader(folder: folder.path)
        func refreshes(_ regimes: String...) async throws -> Set<String> {
            Set(try await reader.dueRefreshes(at: due, limit: 9, under: regimes).map { "\($0.address) \($0.regimes)" })
        }
        let both = [(0, ["us", "lab"]), (3, ["lab"]), (4, ["us"])].map { "\(address($0)) \($1)" }
        #expect(try await refreshes("us", "lab") == Set(both))
        #expect(try await refreshes("us") == Set([0, 4].map { "\(address($0)) \(["us"])" }))
        #expect(try await refreshes("fr").isEmpty)
        #expect(try await refreshes().isEmpty)
        #expect(try await reader.dueRefreshes(at: due, limit: 1, under: ["us"]).count == 1)
        try store.close()
    }

    @Test func `another chain keeps the row, and a renewal is in the snapshot`() async throws {
        let store = try await opened()
        _ = try await record(store, [FetchRecord(fetched(address(0)), signer: signer(address(0)))])
        let row = try store.contents().signers[0].row
        var renewed = fetched(address(0))
        renewed.isRenewed = true
        _ = try await record(store, [FetchRecord(renewed, signer: signer(address(0), 2))])
        let trust = try store.contents()
        #expect(trust.signers.map(\.row) == [row] && trust.signers[0].chain == signer("", 2).chain)
        #expect(try SignerReader(folder: folder.path).snapshot().signer(at: address(0))?.isRenewed == true)
        try store.close()
    }

    @Test func `a failure is in the snapshot of an address without a certificate alone`() async throws {
        let store = try await opened(3)
        let reader = try SignerReader(folder: folder.path)
        _ = try await record(store, [FetchRecord(fetched(address(0)), signer: signer(address(0)))])
        let first = try reader.snapshot().generation
        let untrusted = [TrustCause.untrustedSigner.rawValue, TrustCause.noAuthority.rawValue]
        _ = try await record(
            store,
            (0..<2).map { FetchRecord(failed(address($0))) }
                + [FetchRecord(failed(address(2), .untrustedSigner, standings: untrusted))])
        let snapshot = try reader.snapshot()
        #expect(snapshot.generation != first && snapshot.count == 3)
        #expect(snapshot.signer(at: address(0))?.standings == [.passed, .passed])
        #expect(snapshot.signer(at: address(1))?.standings == [.certificateUnreachable, .certificateUnreachable])
        #expect(snapshot.signer(at: address(1))?.key == nil)
        #expect(snapshot.signer(at: address(2))?.standings == [.untrustedSigner, .noAuthority])
        #expect(try await reader.pauses().map(\.until) == [Self.now + 30, Self.now + 30, Self.now + 30])
        // The same failure again is no change for the call path.
        _ = try await record(store, [FetchRecord(failed(address(1), attempts: 2))])
        #expect(try reader.snapshot().generation == snapshot.generation)
        try store.close()
    }

    @Test func `an announced import goes first, for ten minutes at most`() async throws {
        let store = try await opened()
        try await store.announceImport(at: Self.now)
        for now in [Self.now, Self.now + 599] {
            await #expect(throws: SignerStore.ImportRuns.self) {
                _ = try await record(store, [FetchRecord(failed(address(0)))], at: now)
            }
        }
        #expect(try store.contents().fetches.isEmpty)
        // An end beyond ten minutes is that of another clock.
        _ = try await record(store, [FetchRecord(failed(address(0)))], at: Self.now - 1)
        try await store.announceImport(at: Self.now)
        _ = try await record(store, [FetchRecord(failed(address(0), attempts: 2))], at: Self.now + 600)
        try await store.announceImport(at: Self.now)
        try await store.endImport()
        _ = try await record(store, [FetchRecord(failed(address(0), attempts: 3))])
        #expect(try store.contents().fetches[address(0)]?.attempts == 3)
        try store.close()
    }

    @Test func `the end of an import is not that of another one`() async throws {
        let store = try await opened()
        let imports = [try SignerStore(folder: folder.path), try SignerStore(folder: folder.path)]
        for one in imports { try await one.announceImport(at: Self.now) }
        for end in 0..<3 {
            await #expect(throws: SignerStore.ImportRuns.self) {
                _ = try await record(store, [FetchRecord(failed(address(0)))])
            }
            switch end {
            case 0: try await imports[1].endImport()
            case 1:
                try await imports[1].announceImport(at: Self.now)
                let former = try store.contents()
                try await imports[1].replace(former, by: former)
            default: try await imports[0].endImport()
            }
        }
        #expect(try await record(store, [FetchRecord(failed(address(0)))]).effects == [.recorded])
        for one in imports { try one.close() }
        try store.close()
    }

    @Test func `a chain of a token makes no import begin anew`() async throws {
        let store = try await opened()
        let other = try SignerStore(folder: folder.path)
        var chain = signer("")
        chain.address = nil
        func add(at now: Int64) async throws {
            try await store.add(
                lasting: [chain], temporary: [], decidedAt: try store.contents().generation, at: now, limit: 9,
                mostTemporary: 9)
        }
        try await other.announceImport(at: Self.now)
        let former = try other.contents()
        try await add(at: Self.now + 1)
        // The calls of its signer are verified meanwhile.
        let snapshot = try SignerReader(folder: folder.path).snapshot()
        #expect(snapshot.signer(of: try #require(ChainDigest(bytes: chain.chain)))?.standings == [.passed, .passed])
        try await other.replace(former, by: former)
        #expect(try store.contents().signers.isEmpty)
        try await add(at: Self.now + 2)
        #expect(try store.contents().signers.map(\.chain) == [chain.chain])
        try other.close()
        try store.close()
    }

    @Test func `results of replaced rules are refused`() async throws {
        let store = try await opened()
        let generation = try store.contents().generation
        let former = try store.contents()
        try await store.replace(former, by: former)
        await #expect(throws: SignerStore.Overtaken.self) {
            _ = try await store.record(
                [FetchRecord(fetched(address(0)), signer: signer(address(0)))], decidedAt: generation, at: Self.now,
                limit: 9)
        }
        #expect(try store.contents().signers.isEmpty && store.contents().fetches.isEmpty)
        try store.close()
    }

    @Test func `an import removes states of removed addresses, and decisions by its former rules`() async throws {
        let store = try await opened(3)
        let untrusted = [TrustCause.untrustedSigner.rawValue, TrustCause.untrustedSigner.rawValue]
        var renewed = fetched(address(0))
        renewed.isRenewed = true
        _ = try await record(
            store,
            [
                FetchRecord(renewed, signer: signer(address(0))), FetchRecord(failed(address(1))),
                FetchRecord(failed(address(2), .untrustedSigner, standings: untrusted)),
            ])
        let former = try store.contents()
        var present = former
        present.unknown[address(1)] = nil
        try await store.replace(former, by: present)
        let trust = try store.contents()
        #expect(Set(trust.fetches.keys) == [address(0), address(2)])
        #expect(trust.fetches[address(0)] == fetched(address(0)))
        #expect(trust.fetches[address(2)]?.cause == nil && trust.fetches[address(2)]?.nextAt == 0)
        #expect(try SignerReader(folder: folder.path).snapshot().signer(at: address(2)) == nil)
        // A chain of an import has no validators of a host.
        var imported = trust
        imported.signers[0].certificates = [[0x30, 7]]
        try await store.replace(trust, by: imported)
        #expect(try store.contents().fetches[address(0)] == nil)
        try store.close()
    }

    @Test func `addresses that have failed leave for new ones, those with the most failures first`() async throws {
        let store = try await opened(4)
        _ = try await record(
            store, [FetchRecord(failed(address(1))), FetchRecord(failed(address(2), attempts: 5))])
        var added = try await store.add(unknown: [address(7)], at: Self.now + 1, limit: 4)
        #expect(added.removed == [address(2)] && added.leftOut.isEmpty)
        added = try await store.add(unknown: [address(8), address(9)], at: Self.now + 1, limit: 4)
        #expect(added.removed == [address(1)] && added.leftOut == [address(9)])
        let trust = try store.contents()
        #expect(Set(trust.unknown.keys) == Set([0, 3, 7, 8].map(address)) && trust.fetches.isEmpty)
        try store.close()
    }

    @Test func `a removed address stays removed, and a full store takes no chain`() async throws {
        let store = try await opened(2)
        let stored = try await record(
            store,
            [
                FetchRecord(fetched(address(0)), signer: signer(address(0))),
                FetchRecord(fetched(address(1)), signer: signer(address(1))),
            ], limit: 1)
        #expect(stored.effects == [.replaced, .full])
        let gone = try await record(
            store, [FetchRecord(failed(address(8))), FetchRecord(fetched(address(9)), signer: signer(address(9)))])
        #expect(gone.effects == [.gone, .gone] && gone.generation == stored.generation, "calls learn nothing")
        let trust = try store.contents()
        #expect(trust.signers.map(\.address) == [address(0)] && Set(trust.fetches.keys) == [address(0)])
        try store.close()
    }

    @Test func `an address that a full store has not listed is no removed one`() async throws {
        let store = try await opened(2)
        let before = try store.contents().generation
        for (limit, effect) in [(2, SignerStore.FetchEffect.full), (3, .gone)] {
            for record in [
                FetchRecord(fetched(address(7)), signer: signer(address(7))), FetchRecord(failed(address(7))),
            ] {
                let stored = try await self.record(store, [record], limit: limit)
                #expect(stored.effects == [effect] && stored.generation == before)
            }
        }
        #expect(try store.contents().fetches.isEmpty)
        try store.close()
    }

    @Test func `a result that an import has overtaken is dropped`() async throws {
        let store = try await opened(2)
        let reader = try SignerReader(folder: folder.path)
        _ = try await record(store, [FetchRecord(fetched(address(0)), signer: signer(address(0)))])
        let known = [try await reader.fetch(of: address(0)), try await reader.fetch(of: address(1))]
        let former = try store.contents()
        var present = former
        present.signers[0].certificates = [[0x30, 7]]
        present.signers[0].chain = Array(repeating: 7, count: 32)
        present.signers.append(signer(address(1), 8))
        try await store.replace(former, by: present)
        let imported = try store.contents()
        let results = [
            FetchRecord(fetched(address(0)), since: known[0], signer: signer(address(0), 2)),
            FetchRecord(fetched(address(0)), since: known[0]),
            FetchRecord(failed(address(0)), since: known[0]),
            FetchRecord(fetched(address(1)), since: known[1], signer: signer(address(1), 2)),
        ]
        let stored = try await store.record(results, decidedAt: imported.generation, at: Self.now, limit: 9)
        #expect(stored.effects == Array(repeating: .overtaken, count: 4) && stored.generation == imported.generation)
        let trust = try store.contents()
        #expect(trust.signers == imported.signers && trust.fetches.isEmpty)
        try store.close()
    }

    @Test func `a result for a chain that was decided anew is dropped`() async throws {
        let store = try await opened()
        _ = try await record(store, [FetchRecord(fetched(address(0)), signer: signer(address(0)))])
        let known = try await SignerReader(folder: folder.path).fetch(of: address(0))
        let former = try store.contents()
        var present = former
        present.signers[0].standings = [TrustCause.revoked.rawValue, TrustCause.revoked.rawValue]
        try await store.replace(former, by: present)
        let stored = try await store.record(
            [FetchRecord(failed(address(0)), since: known)], decidedAt: try store.contents().generation, at: Self.now,
            limit: 9)
        #expect(stored.effects == [.overtaken])
        try store.close()
    }

    @Test func `the same certificate again is no change for the calls`() async throws {
        let store = try await opened()
        let reader = try SignerReader(folder: folder.path)
        _ = try await record(store, [FetchRecord(fetched(address(0)), signer: signer(address(0)))])
        let before = (try store.contents(), try reader.snapshot().generation)
        var again = fetched(address(0))
        (again.nextAt, again.fetchedAt) = (again.nextAt + 86_400, Self.now + 86_400)
        let stored = try await record(store, [FetchRecord(again)])
        #expect(stored.effects == [.recorded] && stored.generation == before.0.generation)
        #expect(try reader.snapshot().generation == before.1 && store.contents().signers == before.0.signers)
        #expect(try store.contents().fetches[address(0)] == again)
        try store.close()
    }
}

extension FetchRecord {
    fileprivate init(_ fetch: StoredFetch, signer: StoredSigner? = nil) {
        self.init(fetch, since: KnownFetch(), signer: signer)
    }
}
