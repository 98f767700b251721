// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import GatewayStore
import GatewayStoreTesting
import Logging
import Testing

@Suite("An index kept up to date by the numbers that changed")
struct BrandChangeLogTests {
    private let folder = BrandCacheFolder()

    private func record(_ position: UInt64, _ name: String) throws -> BrandRecord {
        BrandRecord(
            number: try #require(E164Number(digits: 61_412_000_000 + position)), name: name, brandID: "id \(name)",
            updatedAt: "2026-01-01T00:00:00Z")
    }

    /// A cache of a hundred numbers of five brands, as a full sync leaves it.
    private func filled() async throws -> BrandCacheStore {
        let cache = try folder.cache()
        let records = try (UInt64(0)..<100).map { try record($0, "Brand \($0 % 5)") }
        _ = try await cache.apply(StoredResponse(isFull: true, upserts: records, now: 10))
        return cache
    }

    private func names(in index: BrandIndex) throws -> [UInt64: String] {
        var names: [UInt64: String] = [:]
        for digits in UInt64(61_412_000_000)..<61_412_000_200 {
            let number = try #require(E164Number(digits: digits))
            names[digits] = index.entry(for: number).map { index.text(.name, $0) }
        }
        return names
    }

    private func expectUpToDate(_ index: BrandIndex, _ cache: BrandCacheStore) async throws {
        let fresh = try await cache.loadIndex(profile: RenderingProfile())
        #expect(index.generation == fresh.generation)
        #expect(index.count == fresh.count)
        #expect(try names(in: index) == names(in: fresh))
    }

    @Test func `what an incremental sync wrote and removed is in the index that follows`() async throws {
        let cache = try await filled()
        let before = try await cache.loadIndex(profile: RenderingProfile())
        _ = try await cache.apply(
            StoredResponse(
                isFull: false, upserts: [try record(3, "Other"), try record(150, "Brand 1")],
                removals: [try record(7, "").number], now: 20))
        let update = try #require(try await cache.update(before))
        #expect(update.changes == 3)
        try await expectUpToDate(update.index, cache)
        #expect(update.index.count == 100)
    }

    @Test func `several syncs and a lookup add up, full ones too`() async throws {
        let cache = try await filled()
        let before = try await cache.loadIndex(profile: RenderingProfile())
        for round in UInt64(0)..<4 {
            _ = try await cache.apply(
                StoredResponse(
                    isFull: false, upserts: [try record(3 + round, "Other \(round)")],
                    removals: [try record(20 + round, "").number], now: 20))
        }
        #expect(try await cache.addProvisional(record(160, "Looked up")))
        var records = try (UInt64(0)..<100).map { try record($0, "Brand \($0 % 5)") }
        records.removeLast(3)
        _ = try await cache.apply(StoredResponse(isFull: true, upserts: records, now: 30))
        let update = try #require(try await cache.update(before))
        try await expectUpToDate(update.index, cache)
        #expect(update.index.count == 97)
    }

    @Test func `an index nobody changed anything under stays the same object`() async throws {
        let cache = try await filled()
        let before = try await cache.loadIndex(profile: RenderingProfile())
        _ = try await cache.apply(StoredResponse(isFull: false, upserts: [], now: 20))
        let update = try #require(try await cache.update(before))
        #expect(update.index === before)
    }

    @Test func `a change of half the set or more is not logged, and the index is to be built`() async throws {
        let cache = try await filled()
        let before = try await cache.loadIndex(profile: RenderingProfile())
        let records = try (UInt64(0)..<100).map { try record($0, "New \($0 % 5)") }
        _ = try await cache.apply(StoredResponse(isFull: false, upserts: records, now: 20))
        #expect(try await cache.update(before) == nil)
    }

    @Test func `a sync that fails logs no change`() async throws {
        let cache = try await filled()
        let before = try await cache.loadIndex(profile: RenderingProfile())
        try await folder.database().brands.write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER refuse BEFORE INSERT ON brand WHEN NEW.number = 61412000150
                    BEGIN SELECT RAISE(ABORT, 'no'); END
                    """)
        }
        await #expect(throws: (any Error).self) {
            try await cache.apply(
                StoredResponse(
                    isFull: false, upserts: [try record(3, "Other"), try record(150, "Brand 1")], now: 20))
        }
        let update = try #require(try await cache.update(before))
        #expect(update.changes == 0)
        try await expectUpToDate(update.index, cache)
    }

    @Test func `the sync after it has the number of records without counting them`() async throws {
        let cache = try await filled()
        let applied = try await cache.apply(
            StoredResponse(
                isFull: false, upserts: [try record(150, "New"), try record(3, "Other")],
                removals: [try record(7, "").number, try record(8, "").number], now: 20))
        #expect(applied.total == 99)
        let counted = try await folder.database().brands.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM brand")
        }
        #expect(counted == 99)
    }

    @Test func `a restart brings the saved copy up to date without building it again`() async throws {
        let cache = try await filled()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        func file() -> BrandCacheIndexFile {
            BrandCacheIndexFile(cache, folder: folder.path, profile: RenderingProfile(), logger: logger)
        }
        let first = file()
        _ = try await first.load()
        await first.saved()
        _ = try await cache.apply(StoredResponse(isFull: false, upserts: [try record(3, "Other")], now: 20))
        // Only the copy can still know this name: the row changes behind the log's back.
        try await folder.database().brands.write {
            try $0.execute(sql: "UPDATE brand SET name = 'Unseen' WHERE number = 61412000004")
        }
        let index = try await file().load()
        #expect(index.generation == 2)
        let names = try names(in: index)
        #expect(names[61_412_000_003] == "Other")
        #expect(names[61_412_000_004] == "Brand 4")
    }

    @Test func `few changes leave the saved file alone, many write it again`() async throws {
        let cache = try await filled()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let file = BrandCacheIndexFile(cache, folder: folder.path, profile: RenderingProfile(), logger: logger)
        _ = try await file.load()
        await file.saved()
        let path = folder.path + "/brands.index"
        // One in fifty is worth a file: one change of a hundred is not, a second is.
        for (name, generation) in [("One", Int64(1)), ("Two", 3)] {
            _ = try await cache.apply(StoredResponse(isFull: false, upserts: [try record(3, name)], now: 20))
            _ = try await file.rebuild()
            await file.saved()
            #expect(try SavedBrandIndex(path: path).index(profile: RenderingProfile()).generation == generation)
        }
    }
}
