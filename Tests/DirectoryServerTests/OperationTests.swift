// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import GRDB
import Host
import Logging
import PostgreSQL
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("Metrics, readiness and status of the directory", .timeLimit(.minutes(8)))
struct OperationTests {
    /// The value of a series; nil without it.
    private func value(_ series: String, _ page: ReceivedResponse) -> Double? {
        let line = page.text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
        return line.flatMap { Double($0.dropFirst(series.count + 1)) }
    }

    /// The problem of a write to the database; nil without one.
    private func writeProblem(of database: DirectoryDatabase) async -> StoreProblem? {
        do {
            try await database.probe()
            return nil
        } catch {
            return error
        }
    }

    @Test func `the page counts events, syncs and refused keys`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put("+61491570156")
            _ = try await directory.sync()
            _ = try await directory.sync(since: "2026-01-01T00:00:00Z")
            _ = try await directory.report("displayed", key: "a")
            _ = try await directory.report("call_answered_by_cat", key: "b")
            _ = try await directory.ask("/mobile/config", headers: ["X-API-Key": "hd_wrong"])
            let page = try await directory.ask("/metrics")
            #expect(page.status == 200)
            #expect(page.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let events = "herald_directory_events_total"
            #expect(value("\(events){type=\"displayed\",counted=\"true\"}", page) == 1)
            let others = ["true", "false"].compactMap { value("\(events){type=\"other\",counted=\"\($0)\"}", page) }
            #expect(others.reduce(0, +) == 1)
            #expect(!page.text.contains("cat"), "a client's term makes no series")
            #expect(value("herald_directory_syncs_total{response=\"full\"}", page) == 1)
            #expect(value("herald_directory_syncs_total{response=\"delta\"}", page) == 1)
            #expect(value("herald_directory_refused_keys_total{gate=\"contract\"}", page) == 1)
            #expect(value("herald_directory_store_writable", page) == 1)
            #expect(value("herald_directory_numbers", page) == 1)
            #expect(value("herald_directory_accounts", page) == 1)
            #expect((value("herald_directory_commit_seconds_count", page) ?? 0) > 0)
            #expect((value("process_resident_memory_bytes", page) ?? 0) > 0)
            #expect(!page.text.contains("61491570156") && !page.text.contains(directory.key))
        }
    }

    @Test(.onServer)
    func `sessions and standbys of a database server are on the page, in the status and in good health`()
        async throws
    {
        try await Engine.$current.withValue(.postgreSQL) {
            try await RunningDirectory.run { directory in
                _ = try await directory.sync()
                let page = try await directory.ask("/metrics")
                let states = ["busy", "idle"].compactMap { value("herald_directory_sessions{state=\"\($0)\"}", page) }
                #expect(states.reduce(0, +) == 4, "the sessions of Engine.open")
                #expect((value("herald_directory_session_connects_total", page) ?? 0) > 0)
                #expect(value("herald_directory_session_refusals_total", page) == 0)
                #expect(value("herald_directory_session_waits_total", page) != nil)
                #expect(value("herald_directory_standbys{replication=\"synchronous\"}", page) == 0)
                #expect(value("herald_directory_synchronous", page) == 0)
                let status: DirectoryStatus = try await directory.ask("/status").decoded()
                #expect(status.replication?.summary == "primary, no standby")
                #expect(status.replication?.problems == [])
                #expect(directory.database.health(now: 1).replication?.isPrimary == true)
            }
        }
        try await RunningDirectory.run { directory in
            let page = try await directory.ask("/metrics")
            #expect(!page.text.contains("herald_directory_sessions") && !page.text.contains("standbys"))
            let status: DirectoryStatus = try await directory.ask("/status").decoded()
            #expect(status.replication == nil)
        }
    }

    @Test func `the status has sizes, and neither names nor keys`() async throws {
        try await RunningDirectory.run(edit: { $0.version = "1.2.3" }) { directory in
            try directory.put("+61491570156", "+61491570157", name: "Acme Bank")
            _ = try await directory.report("displayed", key: "a")
            let response = try await directory.ask("/status")
            let status: DirectoryStatus = try response.decoded()
            #expect(status.version == "1.2.3" && status.problem == nil)
            #expect(status.accounts == 1 && status.numbers == 2 && status.lastChange == 2 && status.eventsToday == 1)
            #expect(status.disk.databaseBytes > 0 && status.disk.freeBytes > 0)
            #expect(status.lastBackup == nil)
            #expect(!response.text.contains("Acme") && !response.text.contains("614915"))
            try directory.database.backUp(to: directory.folder.path + "/copy.sqlite")
            // Not by /status, which keeps figures for a while.
            let after = try await directory.database.figures(now: directory.time.now)
            let age = Int64(Date().timeIntervalSince1970) - (after.lastBackup ?? 0)
            #expect((0...600).contains(age))
        }
    }

    @Test func `a proxy's request needs the admin key, in either header, and this machine none`() async throws {
        try await Operator.run(edit: { $0.pause = { _ in } }) { admin in
            for path in ["/metrics", "/status"] {
                for field in ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"] {
                    let refused = try await admin.directory.ask(path, headers: [field: "203.0.113.9"])
                    #expect(refused.status == 401 && refused.isEnvelope("unauthorized"))
                }
                let bearer = try await admin.directory.ask(
                    path, headers: ["X-Forwarded-For": "203.0.113.9", "Authorization": "Bearer \(admin.key)"])
                #expect(bearer.status == 200)
                let key = try await admin.directory.ask(
                    path, headers: ["X-Forwarded-For": "203.0.113.9", "X-Admin-Key": admin.key])
                #expect(key.status == 200)
                let posted = try await admin.directory.ask(path, method: "POST")
                #expect(posted.status == 405)
                let head = try await admin.directory.ask(path, method: "HEAD")
                #expect(head.status == 200)
            }
            let ready = try await admin.directory.ask("/readyz", headers: ["X-Forwarded-For": "203.0.113.9"])
            #expect(ready.status == 200 && ready.text == "ready\n")
        }
    }

    @Test func `metrics and status follow the address of the operator's API`() async throws {
        try await RunningDirectory.run(edit: { $0.admin = .off }) { directory in
            let metrics = try await directory.ask("/metrics")
            #expect(metrics.status == 404)
            let ready = try await directory.ask("/readyz")
            #expect(ready.status == 200)
        }
        try await RunningDirectory.run(edit: { $0.admin = .at(host: "127.0.0.1", port: 0) }) { directory in
            let beside = try await directory.ask("/metrics")
            #expect(beside.status == 404)
            for path in ["/metrics", "/status", "/readyz"] {
                let there = try await LoopbackClient.ask(RawRequest(path: path), port: directory.adminPort)
                #expect(there.status == 200)
            }
        }
    }

    @Test func `a database that a newer version has changed is a problem`() async throws {
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path + "/state")
        try await database.probe()
        try await database.file.write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('operation 99')")
        }
        let problem = await writeProblem(of: database)
        #expect(problem == .newer)
        #expect(StoreProblem.newer.description.contains("newer herald-directory"))
    }

    @Test func `a full file and a read-only one are told apart`() async throws {
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path + "/state")
        try await database.file.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
        let problem = await writeProblem(of: database)
        #expect(problem == .readOnly)
        #expect(StoreProblem(DatabaseError(resultCode: .SQLITE_FULL)) == .full)
        #expect(StoreProblem(DatabaseError(resultCode: .SQLITE_BUSY)) == .locked)
    }

    @Test func `readiness has the reason, and comes back`() async throws {
        let problem = Mutex<StoreProblem?>(.full)
        let lines = Mutex<[String]>([])
        let watch = StoreWatch(
            write: { if let problem = problem.withLock({ $0 }) { throw problem } },
            logger: .init(label: "test") { _ in LineLog { line, _ in lines.withLock { $0.append(line) } } })
        await watch.look()
        await watch.look()
        #expect(watch.problem?.contains("free some space") == true)
        problem.withLock { $0 = nil }
        await watch.look()
        #expect(watch.problem == nil)
        #expect(lines.withLock { $0.count } == 2, "each change once")
    }

    @Test func `a write that does not end is a problem after a while`() async throws {
        let time = Mutex(ContinuousClock.now)
        let (entered, began) = AsyncStream<Void>.makeStream()
        let (ended, end) = AsyncStream<Void>.makeStream()
        let watch = StoreWatch(
            write: {
                began.yield()
                for await _ in ended { break }
            }, now: { time.withLock { $0 } }, logger: .init(label: "test") { _ in LineLog { _, _ in } })
        async let look: Void = watch.look()
        for await _ in entered { break }
        #expect(watch.problem == nil)
        time.withLock { $0 += .seconds(91) }
        #expect(watch.problem?.contains("has waited 91 s") == true)
        end.yield()
        await look
        #expect(watch.problem == nil)
    }
}
