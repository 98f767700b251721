// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import Host
import Logging
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("What goes with time", .timeLimit(.minutes(8)), .bothEngines)
struct RetentionTests {
    private static let day: Int64 = 86_400

    /// One round of the server's housekeeping at its present time, an hour after it has first looked at the clock.
    private static func round(_ directory: RunningDirectory, keepDays: Int = 400) async {
        let steady = Mutex<Int64>(0)
        var steps = ClockStepDetector { steady.withLock { $0 } }
        #expect(steps.step(of: { (directory.time.now - 3_600) * 1_000_000 }) == nil)
        steady.withLock { $0 = 3_600_000_000 }
        await housekeeping(directory, keepDays, steps).round()
    }

    private static func housekeeping(
        _ directory: RunningDirectory, _ keepDays: Int, _ steps: ClockStepDetector
    ) -> Housekeeping {
        Housekeeping(
            database: directory.database, retention: Retention(database: directory.database, keepDays: keepDays),
            now: { directory.time.now }, clockSteps: steps,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func texts(_ query: String, _ directory: RunningDirectory) async throws -> [String] {
        try await directory.database.pool.read { try $0.values(String.self, query) }
    }

    @Test func `old events go in bites, and their counts stay`() async throws {
        try await RunningDirectory.run { directory in
            let ledger = EventLedger(directory.database)
            for number in 0..<3 {
                _ = try await ledger.record(
                    EventRequest(phoneNumber: "+61491570156", outcome: "missed", eventKey: "\(number)"),
                    now: 1_767_225_600 + Int64(number) * 86_400)
            }
            let retention = Retention(database: directory.database, keepDays: 10)
            let eleven = Int64(1_767_225_600) + 11 * 86_400 + 1
            #expect(try await retention.removeBatch(now: eleven - 86_401) == false)
            #expect(try ledger.page(.init(), limit: 9).events.count == 3)
            #expect(try await retention.removeBatch(now: eleven), "there may be more")
            #expect(try await retention.removeBatch(now: eleven) == false)
            #expect(try ledger.page(.init(), limit: 9).events.map(\.eventKey) == ["2"])
            let report = try #require(try MonthReports(directory.database).reports(month: "2026-01").first)
            #expect(report.uncounted == 3)
        }
    }

    @Test func `a bite takes a few hundred, and says that there is more`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        try await database.pool.write { database in
            try database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
                INSERT INTO event (account, event_id, number, outcome, displayed_at, counted, received)
                SELECT 1, CAST(i AS TEXT), '+61491570156', 'missed', '', FALSE, i FROM n
                """)
        }
        let retention = Retention(database: database, keepDays: 1)
        var more: [Bool] = []
        for _ in 0..<4 { more.append(try await retention.removeBatch(now: Int64(1_767_225_600))) }
        #expect(more == [true, true, true, false])
        #expect(try EventLedger(database).page(.init(), limit: 9).events.isEmpty)
    }

    @Test func `nothing goes while the clock may be in the wrong year`() async throws {
        try await RunningDirectory.run { directory in
            let steady = Mutex<Int64>(0)
            let housekeeping = Self.housekeeping(directory, 10, ClockStepDetector { steady.withLock { $0 } })
            func pass(seconds: Int64, clockIsSetBy step: Int64 = 0) async {
                steady.withLock { $0 += seconds * 1_000_000 }
                directory.time.now += seconds + step
                await housekeeping.round()
            }
            _ = try await EventLedger(directory.database).record(
                EventRequest(phoneNumber: "+61491570156", outcome: "missed", eventKey: "k"),
                now: directory.time.now)
            func events() async throws -> Int { try await Self.texts("SELECT event_id FROM event", directory).count }
            // The machine starts four years ahead, and a time server puts it right after ten minutes.
            await pass(seconds: 0, clockIsSetBy: 4 * 365 * Self.day)
            await pass(seconds: 600)
            #expect(try await events() == 1)
            await pass(seconds: 60, clockIsSetBy: -4 * 365 * Self.day)
            await pass(seconds: 3_700)
            #expect(try await events() == 1, "it is not old")
            // Set forward while it runs, and back within the hour.
            await pass(seconds: 60, clockIsSetBy: 20 * Self.day)
            await pass(seconds: 3_000)
            #expect(try await events() == 1)
            await pass(seconds: 60, clockIsSetBy: -20 * Self.day)
            for _ in 0..<11 * 24 { await pass(seconds: 3_600) }
            #expect(try await events() == 0, "its ten days are over")
        }
    }

    @Test func `events of a time when the clock was ahead do not keep what came after them`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let now = Int64(1_767_225_600)
        try await database.pool.write { database in
            // 501 of next year, then 1,200 old ones with a young one among the first.
            try database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1701)
                INSERT INTO event (account, event_id, number, outcome, displayed_at, counted, received)
                SELECT 1, CAST(i AS TEXT), '+61491570156', 'missed', '', FALSE,
                    CASE WHEN i <= 501 THEN ? WHEN i = 510 THEN ? ELSE i END FROM n
                """, [now + 365 * Self.day, now - 1])
        }
        let retention = Retention(database: database, keepDays: 1)
        var bites = 0
        while try await retention.removeBatch(now: now), bites < 9 { bites += 1 }
        let left = try await database.pool.read { try $0.values(Int64.self, "SELECT id FROM event ORDER BY id") }
        #expect(left == Array(1...501) + [510])
    }

    @Test func `an imprint of 401 days goes, and one of yesterday stays`() async throws {
        try await RunningDirectory.run { directory in
            for device in ["old", "new"] {
                let imprint = """
                    {"phone_number_e164":"+61491570156","displayed_at":"2026-01-01T00:00:00Z","device_id":"\(device)"}
                    """
                let status = try await directory.post("/" + APIPath.imprint, imprint).status
                #expect(status == 200)
                directory.time.now += device == "old" ? 400 * Self.day : Self.day
            }
            await Self.round(directory)
            let left = try await Self.texts("SELECT device_id FROM imprint", directory)
            #expect(left == ["new"])
        }
    }

    @Test func `imprints and debug uploads go in bites too`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        try await database.pool.write { database in
            try database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
                INSERT INTO imprint (account, device_id, number, displayed_at, imprint_id, details, received)
                SELECT 1, CAST(i AS TEXT), '+61491570156', '', CAST(i AS TEXT), '{}', i FROM n
                """)
            try database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25)
                INSERT INTO debug_upload (id, request, account, device_id, nonce, received)
                SELECT CAST(i AS TEXT), i, 1, 'gw', CAST(i AS TEXT), i FROM n
                """)
        }
        let retention = Retention(database: database, keepDays: 1)
        var left: [[Int?]] = []
        repeat {
            left.append(
                try await database.pool.read { database in
                    try ["imprint", "debug_upload"].map {
                        try database.value(Int.self, "SELECT count(*) FROM \($0)")
                    }
                })
        } while try await retention.removeBatch(now: ManualTime.start)
        #expect(left == [[1200, 25], [700, 15], [200, 5]])
        #expect(try await database.pool.read { try $0.value(Int.self, "SELECT count(*) FROM debug_upload") } == 0)
    }

    /// The age at which files of chunked uploads go anyway is 30 days.
    @Test(.sqliteAlone, arguments: [(400, 401), (7, 8)] as [(Int, Int64)])
    func `an old debug upload goes with the file of its logs, and one of yesterday stays`(
        keepDays: Int, age: Int64
    ) async throws {
        try await RunningDirectory.run { directory in
            let old = try await directory.database.receive(logs: Array("old".utf8), now: directory.time.now)
            directory.time.now += (age - 1) * Self.day
            let new = try await directory.database.receive(logs: Array("new".utf8), now: directory.time.now)
            directory.time.now += Self.day
            await Self.round(directory, keepDays: keepDays)
            #expect(try await Self.texts("SELECT id FROM debug_upload", directory) == [new.id])
            #expect(try await Self.texts("SELECT id FROM upload", directory) == [new.file])
            #expect(try await Self.texts("SELECT upload FROM upload_chunk", directory) == [new.file])
            #expect(!FileManager.default.fileExists(atPath: UploadFile(directory.database.folder, old.file).path))
            #expect(FileManager.default.fileExists(atPath: UploadFile(directory.database.folder, new.file).path))
        }
    }

    @Test(.sqliteAlone) func `a file that two debug uploads name goes with the last of them`() async throws {
        try await RunningDirectory.run { directory in
            let first = try await directory.database.receive(logs: [1], now: directory.time.now)
            directory.time.now += Self.day
            _ = try await directory.database.receive(file: first.file, now: directory.time.now)
            let path = UploadFile(directory.database.folder, first.file).path
            for isThere in [true, false] {
                directory.time.now += Self.day
                await Self.round(directory, keepDays: 1)
                #expect(FileManager.default.fileExists(atPath: path) == isThere)
                directory.time.now += 1
            }
        }
    }

    @Test func `an upload of a request that is open stays, so that its device is not asked again`() async throws {
        try await RunningDirectory.run { directory in
            _ = try await directory.database.receive(
                logs: [1], isOpenFor: 7 * Self.day, now: directory.time.now)
            directory.time.now += 3 * Self.day
            await Self.round(directory, keepDays: 1)
            let sync = try await directory.ask("/" + APIPath.sync + "?device_id=gw").decoded(SyncResponse.self)
            #expect(sync.config?.debugUI?.requestUpload == false)
            directory.time.now += 4 * Self.day
            await Self.round(directory, keepDays: 1)
            #expect(try await Self.texts("SELECT id FROM debug_upload", directory).isEmpty)
        }
    }

    @Test func `the removal of a debug upload does not change the tag of sync responses`() async throws {
        try await RunningDirectory.run { directory in
            _ = try await directory.database.receive(logs: [1], now: directory.time.now)
            directory.time.now += 401 * Self.day
            let tag = try #require(try await directory.ask("/" + APIPath.sync).headers["etag"])
            await Self.round(directory)
            #expect(try await Self.texts("SELECT id FROM debug_upload", directory).isEmpty)
            #expect(try await directory.ask("/" + APIPath.sync, headers: ["If-None-Match": tag]).status == 304)
        }
    }

    @Test(.sqliteAlone) func `an upload that was never finished goes a day later, with what there is of its file`()
        async throws
    {
        try await RunningDirectory.run { directory in
            let uploads = ChunkedUploads(directory.database, account: .first)
            var files: [String] = []
            for _ in 0..<2 {
                let start = UploadStart(filename: "a.log", totalSize: 600_000, contentType: "text/plain")
                let session = try await uploads.start(start, now: directory.time.now).sessionID
                let piece = Data(repeating: 65, count: UploadLimits.chunkSize).base64EncodedString()
                _ = try await uploads.store(
                    UploadChunk(sessionID: session, number: 1, data: piece), now: directory.time.now)
                files.append(session)
                directory.time.now += Self.day - 1
            }
            // The first is over for a day less two seconds, and the second has one second left.
            await Self.round(directory)
            let left = files.map {
                FileManager.default.fileExists(atPath: UploadFile(directory.database.folder, $0).path)
            }
            #expect(left == [false, true])
            #expect(try await Self.texts("SELECT id FROM upload", directory) == [files[1]])
        }
    }

    @Test(.sqliteAlone) func `files that no upload names are removed at the next start, and nothing else`() async throws
    {
        let (folder, stray) = (TemporaryFolder(), UUID().uuidString.lowercased())
        try FileManager.default.createDirectory(
            atPath: folder.path + "/state/uploads", withIntermediateDirectories: true)
        for name in [stray, "notes.txt"] { try folder.write([1], to: "state/uploads/" + name) }
        let known = try await Engine.open(folder.path + "/state").receive(
            logs: [1], now: ManualTime.start)
        try await RunningDirectory.run(in: folder) { directory in
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/state/uploads")
            #expect(Set(files) == [known.file, "notes.txt"])
        }
    }

    @Test(
        .sqliteAlone,
        arguments: [
            (Retention.imprints, "imprint_received"), (Retention.uploads, "debug_upload_received"),
            (Retention.logs, "debug_upload_logs"), (UploadExpiry.expired, "upload_expires"),
        ])
    func `what is old is found by an index, without a walk through a table`(sql: String, index: String) throws {
        let database = try Engine.open(TemporaryFolder().path)
        let arguments = [Int](repeating: 0, count: sql.count { $0 == "?" })
        let plan = try database.pool.write { database in
            try database.rows(
                "EXPLAIN QUERY PLAN " + sql, SQLArguments(arguments.map { .integer(Int64($0)) })
            ).map { $0["detail"] as String }
        }
        #expect(plan.contains { $0.contains("INDEX \(index) ") } && !plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
    }
}
