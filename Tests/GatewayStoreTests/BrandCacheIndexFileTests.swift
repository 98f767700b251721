// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import GatewayStore
import GatewayStoreTesting
import Logging
import Synchronization
import Testing

@Suite("The saved copy of the index")
struct BrandCacheIndexFileTests {
    private let folder = BrandCacheFolder()
    private let notices = NoticeLog()
    private let number = E164Number("+61412000001")

    private func file(
        _ cache: BrandCacheStore, profile: RenderingProfile = RenderingProfile()
    ) -> BrandCacheIndexFile {
        let notices = notices
        return BrandCacheIndexFile(
            cache, folder: folder.path, profile: profile, logger: Logger(label: "test") { _ in notices.handler })
    }

    /// Builds the index and waits for its copy.
    private func save(_ cache: BrandCacheStore) async throws {
        let file = file(cache)
        _ = try await file.rebuild()
        await file.saved()
    }

    private var path: String { folder.path + "/brands.index" }

    private func store(_ name: String, in cache: BrandCacheStore) async throws {
        let record = BrandRecord(
            number: try #require(number), name: name, brandID: "b", logoURL: "https://logos.example.org/a.png",
            callReason: "Your order", updatedAt: "2026-01-01T00:00:00Z")
        _ = try await cache.apply(
            StoredResponse(isFull: true, upserts: [record], removals: [], cursor: "c", gates: BrandingGates(), now: 10))
    }

    private func name(in index: BrandIndex) throws -> String {
        let number = try #require(number)
        let entry = try #require(index.entry(for: number))
        return index.text(.name, entry)
    }

    @Test func `the first start builds an empty index without a complaint`() async throws {
        let file = try file(folder.cache())
        let index = try await file.load()
        #expect(index.count == 0)
        #expect(index.generation == 0)
        #expect(notices.count == 0)
        await file.saved()
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func `an index is built from the rows and carries their generation`() async throws {
        let cache = try folder.cache()
        try await store("Acme", in: cache)
        let index = try await cache.loadIndex(profile: RenderingProfile())
        #expect(index.count == 1)
        #expect(index.generation == 1)
        #expect(try name(in: index).contains("Acme"))
    }

    @Test func `a saved copy of the same generation is used, not built again`() async throws {
        let cache = try folder.cache()
        try await store("Acme", in: cache)
        try await save(cache)
        // Only the copy can still know the old name: the rows change behind the generation's back.
        try await folder.database().brands.write { try $0.execute(sql: "UPDATE brand SET name = 'Changed'") }
        let index = try await file(cache).load()
        #expect(try name(in: index).contains("Acme"))
        #expect(notices.count == 0)
    }

    @Test func `a copy without a record of its later changes is built again, with a notice, and saved`() async throws {
        let cache = try folder.cache()
        try await store("Acme", in: cache)
        try await save(cache)
        // Half of the set and more is not noted number by number.
        try await store("Beta", in: cache)
        let file = file(cache)
        #expect(try await name(in: file.load()).contains("Beta"))
        #expect(notices.count == 1)
        await file.saved()
        #expect(try await name(in: self.file(cache).load()).contains("Beta"))
        #expect(notices.count == 1)
    }

    @Test func `a copy newer than the records is removed, for they may come to its generation by another way`()
        async throws
    {
        let cache = try folder.cache()
        try await store("Acme", in: cache)
        try await save(cache)
        try await folder.database().brands.write { try $0.execute(sql: "UPDATE sync_state SET generation = 0") }
        let index = try await file(cache).load()
        #expect(index.generation == 0)
        #expect(notices.count == 1)
    }

    @Test func `a copy rendered with other settings is built again`() async throws {
        let cache = try folder.cache()
        try await store("Acme Holding", in: cache)
        try await save(cache)
        let index = try await file(cache, profile: RenderingProfile(maxNameBytes: 4)).load()
        #expect(try !name(in: index).contains("Holding"))
        #expect(notices.count == 1)
    }

    @Test(arguments: ["empty", "cut", "longer", "flipped", "garbage", "folder"])
    func `a damaged copy is built again, with a notice`(damage: String) async throws {
        let cache = try folder.cache()
        try await store("Acme", in: cache)
        try await save(cache)
        let url = URL(fileURLWithPath: path)
        var bytes = try Data(contentsOf: url)
        switch damage {
        case "empty": bytes = Data()
        case "cut": bytes = bytes.dropLast(1)
        case "longer": bytes.append(0)
        case "flipped": bytes[bytes.count / 2] ^= 0x10
        default: bytes = Data("not an index".utf8)
        }
        if damage == "folder" {
            try FileManager.default.removeItem(at: url)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        } else {
            try bytes.write(to: url)
        }
        let file = file(cache)
        #expect(try await name(in: file.load()).contains("Acme"))
        await file.saved()
        // A folder in its place can be neither read nor replaced: two notices, and calls are branded all the same.
        #expect(notices.count == (damage == "folder" ? 2 : 1))
    }

    @Test func `every byte that changes is noticed`() async throws {
        let cache = try folder.cache()
        try await store("Acme", in: cache)
        try await save(cache)
        let url = URL(fileURLWithPath: path)
        let bytes = try Data(contentsOf: url)
        for position in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 64)) {
            var damaged = bytes
            damaged[position] ^= 0xFF
            try damaged.write(to: url)
            #expect(throws: BrandIndexFileError.self, "byte \(position)") {
                try BrandIndex.load(from: path, generation: 1, profile: RenderingProfile())
            }
        }
    }
}

/// Counts what is worth a notice or more.
private final class NoticeLog: Sendable {
    private let lines = Mutex(0)

    var count: Int { lines.withLock { $0 } }
    var handler: any LogHandler { Handler(log: self) }

    private struct Handler: LogHandler {
        let log: NoticeLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.lines.withLock { $0 += 1 }
        }
    }
}
