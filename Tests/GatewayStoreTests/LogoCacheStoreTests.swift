// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import GatewayStore
import GatewayStoreTesting
import TestFixtures
import Testing

@Suite("Logo store")
struct LogoCacheStoreTests {
    private static let forms = LogoForms.squares([128], .png)
    private let temporary = TemporaryFolder()
    private var folder: String { temporary.path }

    /// A store over a database in which two numbers share one logo and a third has another.
    private func store(
        forms: LogoForms = LogoCacheStoreTests.forms, configure: (inout LogoCacheStore.Settings) -> Void = { _ in }
    ) async throws -> (LogoCacheStore, HeraldDatabase) {
        let database = try HeraldDatabase(folder: folder)
        try await name(["a", "a", "b"], in: database)
        var settings = LogoCacheStore.Settings(forms: forms, publicURL: "http://192.0.2.10:9480", missing: .none)
        configure(&settings)
        let store = LogoCacheStore(
            BrandCacheStore(database), stateFolder: folder, settings: settings, clock: QueueClock { 0 })
        try await store.prepare(now: 100)
        _ = try await store.takeOver(now: 100)
        return (store, database)
    }

    /// Makes the brands name these logos.
    private func name(_ logos: [String], in database: HeraldDatabase) async throws {
        let records = try logos.enumerated().map { position, logo in
            BrandRecord(
                number: try #require(E164Number("+6125550100\(position)")), name: "Acme", brandID: "b",
                logoURL: Self.url(logo), callReason: nil, updatedAt: "2026-01-01T00:00:00Z")
        }
        _ = try await BrandCacheStore(database).apply(
            StoredResponse(isFull: true, upserts: records, removals: [], cursor: "c", gates: BrandingGates(), now: 100))
    }

    private static func url(_ name: String) -> String { "https://assets.example/\(name).png" }
    private static func hash(_ digit: Character) -> String { String(repeating: digit, count: 64) }

    private func keep(
        _ digit: Character, as url: String, in store: LogoCacheStore, bytes: Int = 10, now: Int64 = 100
    ) async throws -> String {
        let form = Self.forms.keys[0]
        let name = "\(String(repeating: digit, count: 32))-\(form)"
        let file = LogoFile(form: form, name: name, bytes: [UInt8](repeating: 7, count: bytes))
        try await store.store(hash: Self.hash(digit), [file], now: now)
        let result = LogoResult.fetched(hash: Self.hash(digit), etag: "\"e\"", lastModified: nil)
        try await store.record(result, of: Self.url(url), now: now, dueAt: now + 1000)
        return name
    }

    @Test func `logos that an operator fetches again are due at once, without a condition, and keep their copies`()
        async throws
    {
        let (store, _) = try await store()
        let file = try await keep("a", as: "a", in: store)
        #expect(try await store.due(limit: 9, now: 101).map(\.url) == [Self.url("b")])
        #expect(try await store.renew(Self.url("a"), clears: false, now: 101) == 1)
        let due = try await store.due(limit: 9, now: 101)
        #expect(Set(due.map(\.url)) == [Self.url("a"), Self.url("b")])
        #expect(due.allSatisfy { $0.etag == nil && $0.lastModified == nil && $0.failures == 0 })
        #expect(store.read(file) != nil)
        #expect(try await store.hosted().count == 1)
        #expect(try await store.renew(nil, clears: false, now: 101) == 2)
        #expect(try await store.renew(Self.url("unknown"), clears: true, now: 101) == 0)
    }

    @Test func `cleared copies are gone at once; a file that another URL shares stays`() async throws {
        let (store, _) = try await store()
        let shared = try await keep("a", as: "a", in: store)
        try await store.record(
            .fetched(hash: Self.hash("a"), etag: nil, lastModified: nil), of: Self.url("b"), now: 100, dueAt: 1100)
        #expect(try await store.renew(Self.url("a"), clears: true, now: 101) == 1)
        #expect(store.read(shared) != nil, "b has the same picture")
        #expect(try await store.hosted().count == 1)
        #expect(try await store.due(limit: 9, now: 101).map(\.url) == [Self.url("a")])
        #expect(try await store.renew(nil, clears: true, now: 101) == 2)
        #expect(store.read(shared) == nil)
        #expect(try await store.hosted().count == 0)
        #expect(try await store.totals().files == 0)
    }

    @Test func `a full disk and a read-only disk are reported with path and remedy, without the statement`()
        async throws
    {
        let (store, database) = try await store()
        let path = HeraldDatabase.brandsPath(in: folder)
        try await database.brands.write { try $0.execute(sql: "PRAGMA max_page_count = 1") }
        let names = (0..<2000).map { "logo-\($0)" }
        let full = await #expect(throws: HeraldDatabaseError.self) { try await self.name(names, in: database) }
        #expect(full?.description == "the disk of \(path) is full; free space on it")

        try await database.brands.write { try $0.execute(sql: "PRAGMA query_only = 1") }
        let closed = await #expect(throws: HeraldDatabaseError.self) { try await store.prepare(now: 100) }
        #expect(
            closed?.description
                == "\(path) cannot be written: attempt to write a readonly database; mount its disk for writing, and "
                + "give file and folder to the user herald runs as")
    }

    @Test func `each logo the brands name is due once, whatever the number of brands`() async throws {
        let (store, _) = try await store()
        #expect(try await store.due(limit: 10, now: 99).isEmpty)
        #expect(try await store.due(limit: 10, now: 100).map(\.url).sorted() == [Self.url("a"), Self.url("b")])
    }

    @Test func `an operator sees why there is no copy at all, the most frequent cause first`() async throws {
        let (store, database) = try await store()
        let reader = try LogoReader(folder: folder)
        #expect(try reader.obstacles()?.isEmpty == true)
        #expect(try reader.problem(of: Self.url("a")) == nil)
        #expect(try BrandCacheReader(folder: folder).hasLogos())
        try await name(["a", "b", "c"], in: database)
        _ = try await store.takeOver(now: 100)
        for (logo, reason) in [("a", "insecure"), ("b", "status"), ("c", "insecure")] {
            try await store.record(
                .failed(reason: reason, detail: "it is \(reason)"), of: Self.url(logo), now: 100, dueAt: 200)
        }
        #expect(try reader.obstacles()?.map(\.count) == [2, 1])
        #expect(try reader.obstacles()?.map(\.example) == ["it is insecure", "it is status"])
        #expect(try reader.problem(of: Self.url("b")) == "it is status")
        #expect(try BrandCacheReader(folder: folder).logoURL(of: #require(E164Number("+61255501001"))) == Self.url("b"))
        _ = try await keep("1", as: "a", in: store)
        #expect(try reader.obstacles() == nil)
        let record = BrandRecord(
            number: try #require(E164Number("+61255501000")), name: "Acme", brandID: "b", updatedAt: "")
        _ = try await BrandCacheStore(database).apply(
            StoredResponse(isFull: true, upserts: [record], removals: [], cursor: "c", gates: BrandingGates(), now: 100)
        )
        #expect(try !BrandCacheReader(folder: folder).hasLogos())
    }

    @Test func `two addresses of one picture share its file`() async throws {
        let (store, _) = try await store()
        let first = try await keep("1", as: "a", in: store)
        #expect(try await store.has(hash: Self.hash("1")))
        let second = try await keep("1", as: "b", in: store)
        #expect(first == second)
        let totals = try await store.totals()
        #expect(totals.known == 2 && totals.ready == 2 && totals.files == 1 && totals.bytes == 10)
        #expect(try await store.hosted().count == 2)
    }

    @Test func `a file is readable by owner and group only, and only by its exact name`() async throws {
        let (store, _) = try await store()
        let name = try await keep("1", as: "a", in: store)
        #expect(store.read(name) == [UInt8](repeating: 7, count: 10))
        let mode = try FileManager.default.attributesOfItem(atPath: folder + "/logos/" + name)[.posixPermissions]
        #expect((mode as? Int).map { $0 & 0o137 } == 0)
        for other in ["", ".", "../brands.sqlite", name + ".new", "../logos/" + name, name.uppercased(), name + "\0"] {
            #expect(store.read(other) == nil, "\(other)")
        }
    }

    @Test func `a logo nobody names any more stays for the time of grace`() async throws {
        let (store, database) = try await store { $0.grace = 50 }
        let name = try await keep("1", as: "a", in: store)
        try await self.name(["b"], in: database)
        _ = try await store.takeOver(now: 200)
        try await store.tidy(now: 249)
        #expect(store.read(name) != nil)
        #expect(try await store.hosted().count == 0)
        try await store.tidy(now: 250)
        #expect(store.read(name) == nil)
        #expect(try await store.totals().files == 0)
    }

    @Test func `a logo that is named again within the time of grace stays`() async throws {
        let (store, database) = try await store { $0.grace = 50 }
        let name = try await keep("1", as: "a", in: store)
        try await self.name(["b"], in: database)
        _ = try await store.takeOver(now: 200)
        try await self.name(["a", "b"], in: database)
        _ = try await store.takeOver(now: 210)
        #expect(try await store.due(limit: 10, now: 210).contains { $0.url == Self.url("a") })
        _ = try await keep("1", as: "a", in: store, now: 210)
        try await store.tidy(now: 900)
        #expect(store.read(name) != nil)
    }

    @Test func `a full store loses the longest unused picture, which is left alone for a while`() async throws {
        let (store, _) = try await store { $0.maxTotal = 25 }
        let old = try await keep("1", as: "a", in: store, now: 100)
        let used = try await keep("2", as: "b", in: store, now: 100)
        try await store.recordUse(of: [used], now: 150)
        _ = try await keep("3", as: "b", in: store, now: 160)
        // "2" is needed by nobody now and goes before "1".
        #expect(store.read(used) == nil && store.read(old) != nil)
        _ = try await keep("4", as: "b", in: store, bytes: 20, now: 170)
        #expect(store.read(old) == nil)
        #expect(try await store.totals().bytes == 20)
        #expect(try await store.due(limit: 10, now: 100_000).map(\.url) == [Self.url("b")])
    }

    @Test func `after a crash half files go and missing files are fetched again`() async throws {
        let (store, _) = try await store()
        let name = try await keep("1", as: "a", in: store)
        let stray = String(repeating: "9", count: 32) + "-128x128.png"
        try Data([1]).write(to: URL(fileURLWithPath: folder + "/logos/" + stray))
        try Data([1]).write(to: URL(fileURLWithPath: folder + "/logos/" + name + ".new"))
        try await store.prepare(now: 200)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/logos") == [name])
        try FileManager.default.removeItem(atPath: folder + "/logos/" + name)
        try await store.prepare(now: 300)
        #expect(try await store.hosted().count == 0)
        let due = try await store.due(limit: 10, now: 300)
        #expect(due.contains(DueLogo(url: Self.url("a"))), "without validators, so that the picture comes whole")
    }

    @Test func `another size makes every logo due again`() async throws {
        let (first, database) = try await store()
        _ = try await keep("1", as: "a", in: first)
        let settings = LogoCacheStore.Settings(
            forms: .squares([256], .png), publicURL: "http://192.0.2.10:9480", missing: .none)
        let second = LogoCacheStore(
            BrandCacheStore(database), stateFolder: folder, settings: settings, clock: QueueClock { 0 })
        try await second.prepare(now: 200)
        #expect(try await second.due(limit: 10, now: 200).contains(DueLogo(url: Self.url("a"))))
    }

    @Test func `a picture is shown when all its forms are there, and its forms leave together`() async throws {
        let forms = LogoForms.scaled([LogoForm(width: 128, height: 128, .png), PhoneFamily.snom370.form])
        let (store, _) = try await store(forms: forms) { $0.maxTotal = 30 }
        let stem = String(repeating: "1", count: 32)
        let files = forms.keys.map { LogoFile(form: $0, name: "\(stem)-\($0)", bytes: [1, 2, 3]) }
        let fetched = LogoResult.fetched(hash: Self.hash("1"), etag: nil, lastModified: nil)
        try await store.store(hash: Self.hash("1"), [files[0]], now: 100)
        try await store.record(fetched, of: Self.url("a"), now: 100, dueAt: 1000)
        #expect(try await store.hosted().count == 0)
        #expect(try await !store.has(hash: Self.hash("1")))
        try await store.store(hash: Self.hash("1"), files, now: 100)
        #expect(try await store.hosted().count == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/logos").sorted()
        #expect(names == ["\(stem)-128x128.png", "\(stem)-64x64grey.bmp"])
        let large = forms.keys.map {
            LogoFile(
                form: $0, name: "\(String(repeating: "2", count: 32))-\($0)", bytes: [UInt8](repeating: 1, count: 14))
        }
        try await store.store(hash: Self.hash("2"), large, now: 200)
        try await store.record(
            .fetched(hash: Self.hash("2"), etag: nil, lastModified: nil), of: Self.url("b"), now: 200, dueAt: 1000)
        #expect(store.read(names[0]) == nil && store.read(names[1]) == nil)
        #expect(try await store.totals().bytes == 28)
    }

    @Test func `more logos than are ever fetched are left out and counted`() async throws {
        let (store, _) = try await store { $0.maxLogos = 1 }
        #expect(try await store.takeOver(now: 200) == 1)
        #expect(try await store.totals().known == 1)
    }

    @Test func `a failure keeps the last good copy and shows in the operator's list`() async throws {
        let (store, _) = try await store()
        _ = try await keep("1", as: "a", in: store)
        try await store.record(
            .failed(reason: "timeout", detail: "no response"), of: Self.url("a"), now: 500, dueAt: 900)
        #expect(try await store.hosted().count == 1)
        #expect(try await store.totals().failed == ["timeout": 1])
        let rows = try LogoReader(folder: folder).logos(limit: 10)
        #expect(rows.map(\.status) == ["failed", "new"])
        #expect(rows[0].error == "no response" && rows[0].bytes == 10 && rows[0].files.count == 1)
    }

    @Test func `a folder that cannot be written is an error and changes nothing`() async throws {
        let (store, _) = try await store()
        try FileManager.default.removeItem(atPath: folder + "/logos")
        await #expect(throws: LogoFolderError.self) { try await keep("1", as: "a", in: store) }
        #expect(try await store.totals().files == 0)
    }
}
