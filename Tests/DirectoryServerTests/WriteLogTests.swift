// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import DirectoryServer
import Foundation
import GRDB
import TestFixtures
import Testing

@testable import DirectoryStore

/// `directory.sqlite-wal`, which SQLite begins again from its start once nobody reads an older state.
@Suite("The database's log of writes", .timeLimit(.minutes(8)))
struct WriteLogTests {
    /// In bytes.
    private static func size(_ folder: String) throws -> UInt64 {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder + "/directory.sqlite-wal"))
        return try file.seekToEnd()
    }

    /// A client that asks for all of 13 MB, more than system and server hold of a response on its way.
    private static func reader(_ directory: RunningDirectory, window: Int32? = nil) throws -> SlowReader {
        let logo = "https://logos.example/" + String(repeating: "x", count: 2000)
        let entries = try (0..<6000).map { try entry("+6149157\(1000 + $0)", logo: logo) }
        _ = try BrandEntries(directory.database).put(entries, now: ManualTime.start)
        return try SlowReader(
            RawRequest(path: "/" + APIPath.sync, headers: [("X-API-Key", directory.key)]), port: directory.port,
            window: window)
    }

    /// Takes all that comes.
    private static func drain(_ reader: SlowReader) async throws {
        while !reader.isWhole, !reader.isOver {
            let before = reader.taken
            reader.take(upTo: 1 << 20)
            if reader.taken == before, !reader.isOver { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    @Test func `a client that takes a little now and then is let go, and its state with it`() async throws {
        try await RunningDirectory.run(edit: { $0.connections.longestResponse = .milliseconds(500) }) { directory in
            let reader = try Self.reader(directory, window: 131_072)
            while reader.taken == 0, !reader.isOver {
                reader.take(upTo: 512)
                try await Task.sleep(for: .milliseconds(10))
            }
            // Behind the state of the response, so that its reader stands in the way of the log's beginning.
            try directory.put("+61491579999")
            var configuration = GRDB.Configuration()
            configuration.busyMode = .immediateError
            let folder = directory.folder.path + "/state"
            let other = try DatabaseQueue(path: folder + "/directory.sqlite", configuration: configuration)
            // The log is empty as soon as no reader stands in its way, until the server's next write.
            var isEmpty = false
            while !isEmpty {
                reader.take(upTo: 512)
                let isCut = (try? await other.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }) != nil
                isEmpty = try isCut && Self.size(folder) == 0
                if !isEmpty { try await Task.sleep(for: .milliseconds(10)) }
            }
            // What the system still has of the response; a server that let the client go on would send all of it.
            try await Self.drain(reader)
            #expect(reader.isOver && !reader.isWhole && reader.taken < 12_000_000)
        }
    }

    @Test func `a client that keeps up gets all of a long response`() async throws {
        try await RunningDirectory.run { directory in
            let reader = try Self.reader(directory)
            try await Self.drain(reader)
            #expect(reader.isWhole && reader.taken > 12_000_000)
        }
    }

    @Test func `a log that grew large is cut when it begins again`() throws {
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path)
        try database.file.write { database in
            try database.execute(sql: "CREATE TABLE large (bytes BLOB); INSERT INTO large VALUES (zeroblob(70000000))")
        }
        let limit: UInt64 = 64 << 20
        #expect(try Self.size(folder.path) > limit)
        for _ in 0..<2 {
            try database.file.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
            try database.file.write { try $0.execute(sql: "INSERT INTO large VALUES (NULL)") }
        }
        #expect(try Self.size(folder.path) <= limit)
    }
}
