// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import GRDB
import Host
import Logging
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("A damaged or full database", .timeLimit(.minutes(8)))
struct DamageTests {
    /// Overwrites the first page of a table or an index in the file.
    private static func damage(_ name: String, in folder: String) throws {
        let path = folder + "/directory.sqlite"
        let (page, size) = try DatabaseQueue(path: path).writeWithoutTransaction { database in
            _ = try Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            return (
                try #require(
                    try Int.fetchOne(
                        database, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [name])),
                try #require(try Int.fetchOne(database, sql: "PRAGMA page_size"))
            )
        }
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64((page - 1) * size))
        try file.write(contentsOf: Data(repeating: 0xA5, count: size))
        try file.close()
    }

    private static func prepared(_ folder: TemporaryFolder) throws -> String {
        let state = folder.path + "/state"
        let database = try DirectoryDatabase(folder: state)
        _ = try BrandEntries(database).put([entry("+61491570156")], now: 1)
        return state
    }

    @Test(arguments: ["event", "day_outcome", "month_usage"])
    func `damage is a problem of readiness once a request has found it, and the request is told to wait`(
        table: String
    ) async throws {
        let folder = TemporaryFolder()
        let state = try Self.prepared(folder)
        try Self.damage(table, in: state)
        let database = try DirectoryDatabase(folder: state)
        let watch = StoreWatch(database, logger: .init(label: "test") { _ in LineLog { _, _ in } })
        await watch.look()
        #expect(database.damage == nil && watch.problem == nil, "nothing has read the page")
        let event = EventRequest(phoneNumber: "+61491570156", outcome: "displayed", eventKey: "k")
        let error = await #expect(throws: (any Error).self) {
            try await EventLedger(database).record(event, now: ManualTime.start)
        }
        #expect(error.flatMap { StoreOutage($0) } == .damaged)
        #expect(database.damage?.details.contains("is damaged") == true)
        #expect(watch.problem?.contains("restore a backup") == true)
        await watch.look()
        #expect(watch.problem != nil, "a good write does not mend it")
        #expect(database.health(now: 1).problems.contains { $0.contains("is damaged") })
    }

    @Test func `a server finds damage by itself, and its events get 503`() async throws {
        let folder = TemporaryFolder()
        try Self.damage("event", in: try Self.prepared(folder))
        try await RunningDirectory.run(in: folder) { directory in
            while try await directory.ask("/readyz").status == 200 { try await Task.sleep(for: .milliseconds(20)) }
            let ready = try await directory.ask("/readyz")
            #expect(ready.status == 503 && ready.text.contains("restore a backup"))
            #expect(!ready.text.contains("/"), "no path for everybody")
            let event = try await directory.post(
                "/" + APIPath.event, #"{"phone_number_e164":"+61491570156","outcome":"missed"}"#)
            #expect(event.status == 503 && event.text.contains("database_damaged"))
            #expect(event.headers["retry-after"] != nil)
            // Brands can still be read.
            #expect(try await directory.ask("/api/" + APIPath.sync).status == 200)
        }
    }

    @Test func `a sound database has no damage`() throws {
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: try Self.prepared(folder))
        try database.lookForDamage(.alone)
        #expect(database.damage == nil)
    }

    @Test func `a registration in a read-only database gets 503, and one line of the log`() async throws {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in LineLog { line, _ in lines.withLock { $0.append(line) } } }
        try await RunningDirectory.run(logger: logger, edit: { $0.offersRegistrations = true }) { directory in
            let client = try CamaraClient(directory)
            let token = try await client.token()
            try await directory.database.file.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
            for _ in 0..<3 {
                let response = try await client.ask(
                    "POST", CamaraClient.registrations, CamaraClient.body(), token: token)
                #expect(response.isErrorInfo(503, "UNAVAILABLE"), "\(response.text)")
                #expect(response.headers["retry-after"] == "60")
            }
        }
        let failed = lines.withLock { $0.filter { $0.contains("request failed") || $0.contains("requests failed") } }
        #expect(failed == ["requests failed; see /readyz for the remedy"])
    }

    @Test func `an event on a full disk gets 503`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            try await directory.database.file.writeWithoutTransaction { database in
                let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                try database.execute(sql: "PRAGMA max_page_count = \(pages)")
            }
            let meta = String(repeating: "x", count: 7_000)
            let body = #"{"phone_number_e164":"+61491570156","outcome":"displayed","meta":{"note":"\#(meta)"}}"#
            var response = try await directory.post("/" + APIPath.event, body)
            for _ in 0..<20 where response.status == 200 {
                response = try await directory.post("/" + APIPath.event, body)
            }
            #expect(response.status == 503 && response.text.contains("disk_full"), "\(response.text)")
            #expect(response.headers["retry-after"] != nil)
        }
    }

    /// SQLite, Result and Error Codes; PostgreSQL, appendix A; errno(3).
    @Test func `errors of the disk are told from those of a request`() {
        let codes: [(ResultCode, StoreOutage?)] = [
            (.SQLITE_FULL, .full), (.SQLITE_READONLY, .readOnly), (.SQLITE_CORRUPT, .damaged),
            (.SQLITE_NOTADB, .damaged),
            (.SQLITE_IOERR, .broken), (.SQLITE_CANTOPEN, .broken), (.SQLITE_BUSY, .locked), (.SQLITE_CONSTRAINT, nil),
            (.SQLITE_ERROR, nil), (.SQLITE_MISUSE, nil),
        ]
        for (code, outage) in codes { #expect(StoreOutage(DatabaseError(resultCode: code)) == outage, "\(code)") }
        #expect(StoreOutage(POSIXError(.ENOSPC)) == .full && StoreOutage(POSIXError(.EROFS)) == .readOnly)
        #expect(StoreOutage(POSIXError(.EIO)) == .broken && StoreOutage(POSIXError(.EINVAL)) == nil)
        #expect(StoreOutage(StoreError.busy) == nil)
    }
}
