// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import GatewayStore
import GatewayStoreTesting
import TestFixtures
import Testing

@Suite("The stored copy of the directory")
struct BrandCacheStoreTests {
    private let folder = BrandCacheFolder()

    @Test func `a new cache has no cursor and open gates`() async throws {
        let state = try await folder.cache().syncState()
        #expect(state == SyncState())
    }

    @Test func `a full sync replaces the set and removes what is not in it`() async throws {
        let cache = try folder.cache()
        let first = try await cache.apply(full([("+61412000001", "A"), ("+61412000002", "B"), ("+61412000003", "C")]))
        #expect(first == AppliedSync(written: 3, removed: 0, total: 3, generation: 1))
        let second = try await cache.apply(
            full([("+61412000004", "D"), ("+61412000002", "B2")], cursor: "c2", now: 20))
        #expect(second == AppliedSync(written: 2, removed: 2, total: 2, generation: 2))
        #expect(try await folder.rows() == ["+61412000002 B2", "+61412000004 D"])
        let state = try await cache.syncState()
        #expect(state.cursor == "c2")
        #expect(state.lastFullSync == 20)
        #expect(state.lastSync == 20)
    }

    @Test func `the same set again writes nothing and keeps the generation`() async throws {
        let cache = try folder.cache()
        _ = try await cache.apply(full([("+61412000001", "A"), ("+61412000002", "B")]))
        let again = try await cache.apply(full([("+61412000002", "B"), ("+61412000001", "A")], cursor: "c2", now: 20))
        #expect(again == AppliedSync(written: 0, removed: 0, total: 2, generation: 1))
        #expect(try await cache.syncState().cursor == "c2")
    }

    @Test func `a full response without records empties the cache`() async throws {
        let cache = try folder.cache()
        _ = try await cache.apply(full([("+61412000001", "A")]))
        #expect(try await cache.apply(full([])) == AppliedSync(written: 0, removed: 1, total: 0, generation: 2))
    }

    @Test func `a full set may take back a newer stored record`() async throws {
        let cache = try folder.cache()
        _ = try await cache.apply(full([("+61412000001", "New")], at: "2026-05-01T00:00:00Z"))
        _ = try await cache.apply(full([("+61412000001", "Old")], at: "2026-01-01T00:00:00Z"))
        #expect(try await folder.rows() == ["+61412000001 Old"])
    }

    @Test func `an incremental sync adds, changes and purges, and leaves the rest`() async throws {
        let cache = try folder.cache()
        _ = try await cache.apply(full([("+61412000001", "A"), ("+61412000002", "B"), ("+61412000003", "C")]))
        let change = try StoredResponse(
            isFull: false,
            upserts: [brand("+61412000004", "D", at: later), brand("+61412000002", "B2", at: later)],
            removals: [number("+61412000003"), number("+61412000099")], cursor: "c2", gates: BrandingGates(), now: 20)
        #expect(try await cache.apply(change) == AppliedSync(written: 2, removed: 1, total: 3, generation: 2))
        #expect(try await folder.rows() == ["+61412000001 A", "+61412000002 B2", "+61412000004 D"])
        let state = try await cache.syncState()
        #expect(state.lastFullSync == 10)
        #expect(state.lastSync == 20)
    }

    @Test(arguments: [
        ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", "stored"),
        ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "incoming"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "incoming"),
        ("2026-01-01T00:00:00.500Z", "2026-01-01T00:00:00Z", "stored"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.500Z", "incoming"),
        ("2026-01-01T02:00:00+02:00", "2026-01-01T00:30:00Z", "incoming"),
        ("2026-01-01T00:30:00Z", "2026-01-01T02:00:00+02:00", "stored"),
        ("2026-01-01T00:00:00Z", "yesterday", "stored"),
        ("yesterday", "2026-01-01T00:00:00Z", "incoming"),
        ("yesterday", "tomorrow", "incoming"),
    ])
    func `of two records for a number the newer wins`(stored: String, incoming: String, name: String) async throws {
        let cache = try folder.cache()
        _ = try await cache.apply(full([("+61412000001", "stored")], at: stored))
        let next = try StoredResponse(
            isFull: false, upserts: [brand("+61412000001", "incoming", at: incoming)], removals: [], cursor: "c2",
            gates: BrandingGates(), now: 20)
        _ = try await cache.apply(next)
        #expect(try await folder.rows() == ["+61412000001 \(name)"])
        // The same two in one full response, in either order.
        let both = try [brand("+61412000001", "stored", at: stored), brand("+61412000001", "incoming", at: incoming)]
        _ = try await cache.apply(
            StoredResponse(isFull: true, upserts: both, removals: [], cursor: "c", gates: BrandingGates(), now: 30))
        #expect(try await folder.rows() == ["+61412000001 \(name)"])
    }

    @Test func `gates are stored with a sync and alone, and outlive a restart`() async throws {
        let cache = try folder.cache()
        var gates = BrandingGates(brandingEnabled: false, accountStatus: "trial", capReached: true)
        _ = try await cache.apply(
            StoredResponse(isFull: true, upserts: [], removals: [], cursor: "c", gates: gates, now: 10))
        #expect(try await cache.syncState().gates == gates)
        gates.authorised = false
        try await cache.store(gates: gates)
        let state = try await folder.cache().syncState()
        #expect(state.gates == gates)
        #expect(state.cursor == "c")
    }

    @Test func `the address of the public cards outlives a restart, and one that is not safe is not read`() async throws
    {
        let cache = try folder.cache()
        let links = try #require(CardLinks(template: "https://cards.example/b/{brand_id}"))
        try await cache.store(cards: links)
        _ = try await cache.apply(full([("+61412000001", "A")]))
        #expect(try await folder.cache().syncState().cards == links)
        try await cache.store(cards: nil)
        #expect(try await folder.cache().syncState().cards == nil)
        try await folder.database().brands.write {
            try $0.execute(sql: "UPDATE sync_state SET card_url = 'https://cards.example/>{brand_id}'")
        }
        #expect(try await folder.cache().syncState().cards == nil)
    }

    @Test func `a change that fails half-way leaves everything as it was`() async throws {
        let cache = try folder.cache()
        _ = try await cache.apply(full([("+61412000001", "A"), ("+61412000002", "B")]))
        let before = try await cache.syncState()
        try await folder.database().brands.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER full_disk BEFORE INSERT ON brand WHEN NEW.name = 'boom'
                    BEGIN SELECT RAISE(ABORT, 'no space'); END
                    """)
        }
        await #expect(throws: DatabaseError.self) {
            _ = try await cache.apply(full([("+61412000003", "C"), ("+61412000004", "boom")], cursor: "c2"))
        }
        #expect(try await folder.rows() == ["+61412000001 A", "+61412000002 B"])
        #expect(try await cache.syncState() == before)
    }

    @Test func `calls see a sync before its pages are moved to their places`() async throws {
        let database = try folder.database()
        // As after a change of thousands of pages: SQLite would move them within the commit.
        try await database.brands.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 1") }
        let cache = BrandCacheStore(database)
        func bytesInPlace() throws -> Int {
            try #require(
                FileManager.default.attributesOfItem(atPath: folder.path + "/brands.sqlite")[.size] as? Int)
        }
        let before = try bytesInPlace()
        let rows = (0..<200).map { ("+61412\(String(600_000 + $0))", "Brand \($0)") }
        let applied = try await cache.apply(full(rows))
        #expect(applied.written == 200)
        #expect(try await folder.rows().count == 200)
        #expect(try bytesInPlace() == before)
        await cache.settle(applied)
        #expect(try bytesInPlace() > before)
        let pages = try await database.brands.writeWithoutTransaction {
            try Int.fetchOne($0, sql: "PRAGMA wal_autocheckpoint")
        }
        #expect(pages == 1)
    }

    @Test func `every field of a record comes back to the letter`() async throws {
        let cache = try folder.cache()
        let odd = BrandRecord(
            number: try number("+999999999999999"), name: "Ç\"\\';--\u{301} 名前", brandID: "{}",
            logoURL: "https://logos.example/a?b=c&d", callReason: "Rückruf 😀",
            updatedAt: "2026-01-01T00:00:00.123456+02:00")
        _ = try await cache.apply(
            StoredResponse(isFull: true, upserts: [odd], removals: [], cursor: "ü+ /", gates: BrandingGates(), now: 10))
        #expect(try await folder.records() == [odd])
        #expect(try await cache.syncState().cursor == "ü+ /")
    }

    private let later = "2026-02-01T00:00:00Z"

    private func full(
        _ rows: [(String, String)], cursor: String = "c1", at time: String = "2026-01-01T00:00:00Z", now: Int64 = 10
    ) throws -> StoredResponse {
        StoredResponse(
            isFull: true, upserts: try rows.map { try brand($0.0, $0.1, at: time) }, removals: [], cursor: cursor,
            gates: BrandingGates(), now: now)
    }

    private func brand(_ text: String, _ name: String, at time: String) throws -> BrandRecord {
        BrandRecord(number: try number(text), name: name, brandID: "b-\(name)", updatedAt: time)
    }

    private func number(_ text: String) throws -> E164Number { try #require(E164Number(text)) }
}

/// A state folder of its own, removed with the last reference to it.
final class BrandCacheFolder {
    private let temporary = TemporaryFolder()
    var path: String { temporary.path }

    func database() throws -> HeraldDatabase { try HeraldDatabase(folder: path) }
    func cache() throws -> BrandCacheStore { BrandCacheStore(try database()) }

    /// All records, read by a second connection, in order of number.
    func records() async throws -> [BrandRecord] {
        try await database().brands.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM brand ORDER BY number").compactMap { row in
                let digits: Int64 = row["number"]
                return E164Number(digits: UInt64(digits)).map { number in
                    BrandRecord(
                        number: number, name: row["name"], brandID: row["brand_id"], logoURL: row["logo_url"],
                        callReason: row["call_reason"], updatedAt: row["updated_at"])
                }
            }
        }
    }

    func rows() async throws -> [String] {
        try await records().map { "\($0.number) \($0.name)" }
    }
}
