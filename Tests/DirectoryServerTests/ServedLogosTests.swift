// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import Logging
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("Logos and the feed of changes", .timeLimit(.minutes(8)), .bothEngines)
struct ServedLogosTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    /// A state with two branded numbers, one of whose logo is a plain file name, and the cursor of a client.
    private static func synced(
        _ folder: TemporaryFolder, publicURL: String? = nil, logos: Bool = false
    ) async throws -> (cursor: String, tag: String) {
        let result = Mutex(("", ""))
        try await RunningDirectory.run(in: folder, publicURL: publicURL, logos: logos) { directory in
            try directory.put(entry("+61491570156", logo: "acme.png"))
            try directory.put(entry("+61491570157", "Other", logo: "https://l.example/o.png"))
            let cursor = try await directory.sync().syncedAt
            let tag = try await directory.ask("/" + APIPath.sync).headers["etag"] ?? ""
            result.withLock { $0 = (cursor, tag) }
        }
        return result.withLock { $0 }
    }

    /// What a client that stands at the cursor gets from the next run.
    private static func next(
        _ folder: TemporaryFolder, since cursor: String, publicURL: String? = nil, logos: Bool = false
    ) async throws -> (urls: [String: String?], tag: String) {
        let result = Mutex<(urls: [String: String?], tag: String)>(([:], ""))
        try await RunningDirectory.run(in: folder, publicURL: publicURL, logos: logos) { directory in
            let sync = try await directory.sync(since: cursor)
            let urls = sync.branding.reduce(into: [:]) { urls, item in
                urls[item.phoneNumber] = .some(item.logoURL.map { $0.replacing(":\(directory.port)", with: "") })
            }
            let tag = try await directory.ask("/" + APIPath.sync).headers["etag"] ?? ""
            result.withLock { $0 = (urls, tag) }
        }
        return result.withLock { $0 }
    }

    @Test func `a folder of logos that is configured later comes with the next incremental sync`() async throws {
        let folder = TemporaryFolder()
        try folder.write(Self.png, to: "acme.png")
        let before = try await Self.synced(folder)
        let after = try await Self.next(folder, since: before.cursor, logos: true)
        #expect(after.urls == ["+61491570156": "http://127.0.0.1/logos/acme.png"])
        #expect(after.tag != before.tag)
    }

    @Test func `a folder that is configured no longer takes its logos away with the next incremental sync`()
        async throws
    {
        let folder = TemporaryFolder()
        try folder.write(Self.png, to: "acme.png")
        let before = try await Self.synced(folder, logos: true)
        #expect(try await Self.next(folder, since: before.cursor).urls == ["+61491570156": nil])
    }

    @Test(arguments: [false, true])
    func `another public URL comes with the next incremental sync, the same brings nothing`(logos: Bool) async throws {
        let folder = TemporaryFolder()
        try folder.write(Self.png, to: "acme.png")
        let before = try await Self.synced(folder, publicURL: "https://old.example", logos: logos)
        let same = try await Self.next(folder, since: before.cursor, publicURL: "https://old.example/", logos: logos)
        #expect(same.urls.isEmpty && same.tag == before.tag)
        let other = try await Self.next(folder, since: before.cursor, publicURL: "https://new.example", logos: logos)
        #expect(other.urls == ["+61491570156": "https://new.example/logos/acme.png"])
        #expect(other.tag != before.tag)
    }

    @Test func `a file that comes between two runs is in the next incremental sync`() async throws {
        let folder = TemporaryFolder()
        let before = try await Self.synced(folder, publicURL: "https://b.example", logos: true)
        try folder.write(Self.png, to: "acme.png")
        let after = try await Self.next(folder, since: before.cursor, publicURL: "https://b.example", logos: true)
        #expect(after.urls == ["+61491570156": "https://b.example/logos/acme.png"])
    }

    @Test func `an upload, and a brand that is given its logo again, are in the next incremental sync`() async throws {
        try await Operator.run(logos: true) { admin in
            let directory = admin.directory
            try directory.put(entry("+61491570156", logo: "acme.png"))
            var cursor = try await directory.sync().syncedAt
            _ = try await admin.ask("logos/acme.png", method: "PUT", bytes: PictureSample.png)
            var sync = try await directory.sync(since: cursor)
            #expect(sync.branding.map(\.logoURL) == ["https://brands.example/logos/acme.png"])
            cursor = sync.syncedAt
            _ = try await admin.ask("logos/acme.png", method: "PUT", bytes: PictureSample.png)
            sync = try await directory.sync(since: cursor)
            #expect(sync.branding.isEmpty)
            let again = try await admin.ask(
                "accounts/main/brands/acme", method: "PATCH", #"{"logo_url":"acme.png"}"#)
            #expect(again.status == 200, "\(again.text)")
            sync = try await directory.sync(since: cursor)
            #expect(sync.branding.map(\.phoneNumber) == ["+61491570156"])
        }
    }

    /// The server's part that follows logos, without a server.
    private struct Follower {
        let folder: TemporaryFolder
        let database: DirectoryDatabase
        let logos: ServedLogos
        let lines: LogLines

        init() throws {
            folder = TemporaryFolder()
            database = try Engine.open(folder.path + "/state")
            let lines = LogLines()
            logos = ServedLogos(
                database, folder: folder.path, publicURL: "https://b.example", host: "127.0.0.1", now: { 2 },
                logger: Logger(label: "test") { _ in LineLog { line, level in lines.add(line, level) } })
            self.lines = lines
        }

        /// Numbers that have a new place after what `body` did.
        func moved(_ body: () throws -> Void) async throws -> [String] {
            let start = try await database.pool.read { try ChangeCounter.last(.first, $0) }
            try body()
            await logos.round()
            return try await database.pool.read { database in
                try database.values(
                    String.self, "SELECT '+' || number FROM brand_number WHERE change > ? ORDER BY change", [start])
            }
        }
    }

    private final class LogLines: Sendable {
        private let all = Mutex<[String]>([])

        func add(_ line: String, _ level: Logger.Level) { all.withLock { $0.append("\(level): \(line)") } }

        var taken: [String] {
            all.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    @Test func `files that come, change and go move the numbers that name them, and no others`() async throws {
        let follower = try Follower()
        _ = try BrandEntries(follower.database).put(
            [
                entry("+61491570156", logo: "a.png"), entry("+61491570157", logo: "b.png"),
                entry("+61491570158", logo: "https://l.example/a.png"), entry("+61491570159", logo: "a.png"),
            ], now: 1)
        _ = try BrandNumbers(follower.database).deactivate([try #require(.init("+61491570159"))], now: 1)
        await follower.logos.round()
        let folder = follower.folder
        #expect(try await follower.moved { try folder.write(Self.png, to: "a.png") } == ["+61491570156"])
        #expect(follower.logos.urls.url(of: "a.png") == "https://b.example/logos/a.png")
        #expect(try await follower.moved {}.isEmpty)
        // Other bytes of the same length, as a picture that was drawn anew has.
        #expect(try await follower.moved { try folder.write(Self.png.dropLast() + [9], to: "a.png") }.count == 1)
        let changed = try #require(follower.logos.urls.url(of: "a.png"))
        #expect(changed.contains("/logos/a.png?v=") && follower.logos.urls.url(of: "b.png") == nil)
        #expect(try await follower.moved { try folder.write(Self.png, to: "a.png") } == ["+61491570156"])
        #expect(follower.logos.urls.url(of: "a.png") == "https://b.example/logos/a.png")
        // The same bytes written again are the same logo.
        #expect(try await follower.moved { try folder.write(Self.png, to: "a.png") }.isEmpty)
        #expect(
            try await follower.moved { try FileManager.default.removeItem(atPath: folder.path + "/a.png") }
                == ["+61491570156"])
        #expect(follower.logos.urls.url(of: "a.png") == nil)
        // What is no picture is no logo.
        #expect(try await follower.moved { try folder.write(Array("<svg/>".utf8), to: "a.png") }.isEmpty)
    }

    @Test func `an upload takes the place of a file with its name`() async throws {
        let follower = try Follower()
        _ = try BrandEntries(follower.database).put([entry("+61491570156", logo: "a.png")], now: 1)
        try follower.folder.write(Self.png, to: "a.png")
        await follower.logos.round()
        let store = LogoStore(follower.database)
        let moved = try await follower.moved { try store.add(Data(Self.png + [7]), name: "a.png", now: 1) }
        #expect(moved == ["+61491570156"])
        #expect(follower.logos.urls.url(of: "a.png")?.contains("?v=") == true)
    }

    @Test func `a folder that is away for a moment takes no logo from anybody`() async throws {
        let follower = try Follower()
        _ = try BrandEntries(follower.database).put([entry("+61491570156", logo: "a.png")], now: 1)
        let (files, path) = (FileManager.default, follower.folder.path)
        let away = ServedLogos(
            follower.database, folder: path + "/mount", publicURL: "https://b.example", host: "127.0.0.1",
            now: { 2 }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try files.createDirectory(atPath: path + "/mount", withIntermediateDirectories: true)
        try follower.folder.write(Self.png, to: "mount/a.png")
        await away.round()
        try files.moveItem(atPath: path + "/mount", toPath: path + "/elsewhere")
        await away.round()
        #expect(away.urls.url(of: "a.png") == "https://b.example/logos/a.png")
    }

    @Test func `logos that brands name and that are not there are said once`() async throws {
        let follower = try Follower()
        _ = try BrandEntries(follower.database).put([entry("+61491570156", logo: "a.png")], now: 1)
        for _ in 0..<30 { await follower.logos.round() }
        let warning = """
            warning: missing logos of brands: 1 (a.png); put their files into \
            \(follower.folder.path), or add them with herald-directory logos add
            """
        #expect(follower.lines.taken.filter { $0.hasPrefix("warning") } == [warning])
    }
}
