// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import PostgreSQL
import PostgreSQLTesting
import TestFixtures
import Testing

@testable import DirectoryStore

/// Several nodes on one PostgreSQL database.
@Suite("A database that several directories share", .timeLimit(.minutes(8)), .onServer)
struct SharedDatabaseTests {
    private static func server() throws -> DatabaseServer {
        DatabaseServer(url: try Engine.newURL())
    }

    private static func nodes(_ count: Int) throws -> [DirectoryDatabase] {
        let (server, folder) = (try server(), TemporaryFolder())
        return try (0..<count).map { _ in try DirectoryDatabase(server: server, folder: folder.path) }
    }

    @Test func `nodes that start at once make the tables once`() async throws {
        let server = try Self.server()
        let folder = TemporaryFolder()
        let accounts = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try AccountStore(DirectoryDatabase(server: server, folder: folder.path)).config(now: 1).clientID
                }
            }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(accounts.count == 1)
    }

    @Test func `a key that one node revokes stops at the other`() async throws {
        let nodes = try Self.nodes(2)
        let key = try AccountStore(nodes[0]).createKey(name: "gateway", now: 1)
        #expect(try await nodes[1].caller(ofKey: key, now: 2)?.account == .first)
        #expect(try AccountStore(nodes[0]).revokeKey(name: "gateway", now: 3))
        #expect(try await nodes[1].caller(ofKey: key, now: 4) == nil)
    }

    @Test func `two nodes that create a key of one name at once make one`() async throws {
        let nodes = try Self.nodes(2)
        let results = await withTaskGroup { group in
            for node in nodes {
                group.addTask { Result { try AccountStore(node).createKey(name: "same", now: 1) } }
            }
            return await group.reduce(into: [Result<String, any Error>]()) { $0.append($1) }
        }
        let refusals = results.compactMap { result in
            if case .failure(let error) = result { error as? AccountStoreError } else { nil }
        }
        #expect(refusals == [.nameTaken("same")])
    }

    @Test func `many keys are looked up in few round trips, each with its own result`() async throws {
        let node = try Self.nodes(1)[0]
        let keys = try (0..<20).map { try AccountStore(node).createKey(name: "key \($0)", now: 1) }
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                let key = number % 3 == 0 ? "hd_wrong\(number)" : keys[number % 20]
                group.addTask {
                    let caller = try await node.caller(ofKey: key, now: 2)
                    #expect((caller != nil) == (number % 3 != 0))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `one key at two nodes is one event, and a cap holds over both`() async throws {
        let nodes = try Self.nodes(2)
        _ = try BrandEntries(nodes[0]).put([entry("+61491570156")], now: 1)
        var change = AccountStore.Change()
        change.cap = 30
        try AccountStore(nodes[0]).change(change)
        let responses = try await withThrowingTaskGroup { group in
            for number in 0..<100 {
                group.addTask {
                    let event = EventRequest(
                        phoneNumber: "+61491570156", outcome: "displayed", eventKey: "key-\(number / 2)")
                    return try await EventLedger(nodes[number % 2]).record(event, now: ManualTime.start)
                }
            }
            return try await group.reduce(into: [EventResponse]()) { $0.append($1) }
        }
        #expect(Set(responses.compactMap(\.eventID)).count == 50)
        #expect(Set(responses.filter { $0.counted == true }.compactMap(\.eventID)).count == 30)
        #expect(Set(responses.compactMap(\.reason)) == ["cap_reached"])
        #expect(try AccountStore(nodes[1]).config(now: ManualTime.start).usedThisMonth == 30)
        let report = try MonthReports(nodes[1]).reports(month: "2026-01")[0]
        #expect(report.counted == 30 && report.reasons == ["cap_reached": 20])
    }

    @Test func `of changes from one version at two nodes exactly one is made`() async throws {
        let nodes = try Self.nodes(2)
        _ = try BrandEntries(nodes[0]).put([entry("+61491570156")], now: 1)
        let brand = VersionCondition.from(try BrandList(nodes[1]).brand("acme").version.text)
        let account = VersionCondition.from(try AccountList(nodes[1]).summary(of: .first, now: 1).version.text)
        let made = await withTaskGroup { group in
            for number in 0..<16 {
                group.addTask {
                    let node = nodes[number % 2]
                    var (name, cap) = (BrandList.Change(), AccountStore.Change())
                    (name.name, cap.cap) = ("Name \(number)", number)
                    let isBrand = (try? BrandList(node).change("acme", name, if: brand, now: 2)) != nil
                    let isAccount = (try? AccountStore(node).change(cap, if: account)) != nil
                    return [isBrand, isAccount]
                }
            }
            return await group.reduce(into: [Bool]()) { $0 += $1 }
        }
        #expect(made.count { $0 } == 2)
    }

    @Test func `a replacement reads the file once, not once for each number of the account`() throws {
        let node = try Self.nodes(1)[0]
        let plan = try node.pool.session { session in
            var plan: [String] = []
            try session.transaction(writes: false) {
                _ = try EntryStaging(session.connection)
                plan = try session.connection.values(
                    String.self,
                    "EXPLAIN SELECT number FROM brand_number WHERE account = 1 AND \(EntryStaging.isMissing)")
                return false
            }
            return plan
        }
        #expect(plan.contains { $0.contains("Anti Join") }, "\(plan)")
    }

    @Test func `a logo and the chunks of an upload are at every node`() async throws {
        let nodes = try Self.nodes(2)
        let picture = Data([0xFF, 0xD8, 0xFF, 1])
        try LogoStore(nodes[0]).add(picture, name: "a.jpg", now: 1)
        #expect(try await LogoStore(nodes[1]).find("a.jpg")?.data.starts(with: [0xFF, 0xD8]) == true)
        let bytes = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let uploads = nodes.map { ChunkedUploads($0, account: .first) }
        let session = try await uploads[0].start(
            UploadStart(filename: "log", totalSize: bytes.count, contentType: "application/octet-stream"), now: 1)
        for (place, half) in [bytes.prefix(524_288), bytes.dropFirst(524_288)].enumerated() {
            _ = try await uploads[place].store(
                UploadChunk(sessionID: session.sessionID, number: place + 1, data: Data(half).base64EncodedString()),
                now: 2)
        }
        _ = try await uploads[1].complete(session.sessionID, now: 3)
        #expect(try nodes[0].uploaded(session.sessionID) == [UInt8](bytes))
        UploadExpiry(database: nodes[0]).sweep()
        #expect(try UploadedLogs(session.sessionID, in: nodes[1]).read(at: 0).count == 65_536)
        _ = try await UploadExpiry(database: nodes[1]).removeBatch(now: ManualTime.start)
        #expect(throws: UploadedLogsGone.self) { try UploadedLogs(session.sessionID, in: nodes[0]) }
    }

    @Test func `one node at a time does the work of a lease`() async throws {
        let nodes = try Self.nodes(2)
        #expect(try await nodes[0].takesLease("housekeeping"))
        #expect(try await !nodes[1].takesLease("housekeeping"))
        #expect(try await nodes[0].takesLease("housekeeping"))
        try await nodes[0].pool.write { try $0.execute("UPDATE lease SET until = now() - INTERVAL '1 second'") }
        #expect(try await nodes[1].takesLease("housekeeping"))
        #expect(try await !nodes[0].takesLease("housekeeping"))
    }

    @Test func `a replica behind the client's cursor is passed over, and one that is up to date responds`() async throws
    {
        // A copy of the primary's state stands for a standby that lags.
        let (primary, standby) = (try Self.server(), try Self.server())
        let folder = TemporaryFolder()
        let behind = try DirectoryDatabase(server: standby, folder: folder.path)
        _ = try BrandEntries(behind).put([entry("+61491570156", "old")], now: 1)
        var server = primary
        server.replica = standby.url
        let node = try DirectoryDatabase(server: server, folder: folder.path)
        _ = try BrandEntries(node).put([entry("+61491570156", "one")], now: 1)
        _ = try BrandEntries(node).put([entry("+61491570157", "two"), entry("+61491570158", "three")], now: 2)

        func sync(_ cursor: SyncCursor?) async throws -> [String] {
            let parameters = ChangeFeed.Parameters(account: .first, since: cursor, now: 9)
            let begun = try await ChangeFeed.begin(parameters, logos: LogoURLs(), in: node) { _ in false }
            let start = try #require(begun.start)
            let text = String(decoding: start.page.text, as: UTF8.self)
            return ["old", "one", "two", "three"].filter { text.contains("\"\($0)\"") }
        }
        // The standby has change 1 only; its state is not stored yet, so the primary responds at first.
        #expect(try await sync(nil) == ["one", "two", "three"])
        let state = try await behind.pool.read { try FeedState.current(.first, logoBase: nil, now: 9, $0) }
        _ = try await state.saved(for: .first, behind, now: 9)
        #expect(try await sync(nil) == ["old"])
        #expect(try await sync(SyncCursor(seconds: 5, change: 3)) == [])
        #expect(try await sync(SyncCursor(seconds: 5, change: 2)) == ["three"])
        #expect(try await sync(SyncCursor(seconds: 5, change: 3, epoch: 1)) == [])
    }

    @Test func `a database of a later program is refused, and one that only grew is not`() throws {
        let server = try Self.server()
        let folder = TemporaryFolder()
        let node = try DirectoryDatabase(server: server, folder: folder.path)
        try node.pool.write { try $0.execute("UPDATE meta SET value = 99 WHERE name = 'schema'") }
        _ = try DirectoryDatabase(server: server, folder: folder.path)
        try node.pool.write { try $0.execute("UPDATE meta SET value = 99 WHERE name = 'oldest_schema'") }
        let error = #expect(throws: DirectoryDatabaseError.self) {
            try DirectoryDatabase(server: server, folder: folder.path)
        }
        #expect(error?.description.contains("was written by a newer herald-directory") == true)
    }

    @Test func `nodes of an older version go on in tables that a newer one has extended`() async throws {
        let url = try Engine.newURL()
        let (server, folder) = (DatabaseServer(url: url), TemporaryFolder())
        let running = try DirectoryDatabase(server: server, folder: folder.path)
        let session = PostgreSQLSession(try PostgreSQLAddress(url))
        // What a later migration may add.
        for table in ["account", "api_key", "brand", "brand_number", "event", "device", "feed_head"] {
            try session.script("ALTER TABLE \(table) ADD COLUMN added text, ADD COLUMN also bigint NOT NULL DEFAULT 7")
        }
        try session.script(
            "CREATE TABLE added (id bigint PRIMARY KEY); UPDATE meta SET value = value + 1 WHERE name = 'schema'")
        let restarted = try DirectoryDatabase(server: server, folder: folder.path)
        for (place, node) in [running, restarted].enumerated() {
            _ = try BrandEntries(node).put([entry("+6149157015\(place)")], now: 1)
            let event = EventRequest(phoneNumber: "+61491570150", outcome: "displayed", eventKey: "key \(place)")
            #expect(try await EventLedger(node).record(event, now: ManualTime.start).counted == true)
            _ = try AccountStore(node).createKey(name: "gateway \(place)", now: 1)
            try await node.probe()
        }
        #expect(try await running.figures(now: 1).numbers == 2)
        // A change that older programs do not understand stops the running node as well as the next start.
        try session.execute("UPDATE meta SET value = 1000 WHERE name = 'oldest_schema'")
        var problem: StoreProblem?
        do { try await running.probe() } catch { problem = error }
        #expect(problem == .newer)
        #expect(throws: DirectoryDatabaseError.self) { try DirectoryDatabase(server: server, folder: folder.path) }
    }

    @Test(arguments: [
        (["--tls"], "127.0.0.1", "server.crt", "name the host in the address as its certificate does"),
        (["--tls"], "localhost", "nothing.crt", "add sslrootcert=FILE to the address"),
        (["--expired"], "localhost", "server.crt", "the certificate has expired, or"),
    ])
    func `a server whose certificate cannot be trusted is refused with words`(
        options: [String], host: String, root: String, words: String
    ) async throws {
        let (tls, folder) = (try ThrowawayServer(options), TemporaryFolder())
        let password = folder.path + "/password"
        try "herald\n".write(toFile: password, atomically: true, encoding: .utf8)
        func server(_ host: String, _ mode: String, _ root: String) -> DatabaseServer {
            var server = DatabaseServer(
                url: "postgres://herald@\(host):\(tls.port)/herald?sslmode=\(mode)&sslrootcert=\(tls.folder)/\(root)")
            server.passwordFile = password
            return server
        }
        let error = #expect(throws: DirectoryDatabaseError.self) {
            try DirectoryDatabase(server: server(host, "verify-full", root), folder: folder.path)
        }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        guard options == ["--tls"] else { return }
        let node = try DirectoryDatabase(server: server("localhost", "verify-full", "server.crt"), folder: folder.path)
        try await node.probe()
    }

    @Test func `what is wrong with the server is said`() throws {
        let folder = TemporaryFolder()
        for (url, part) in [
            ("postgres:///herald?host=/nowhere", "whether the server runs"), ("mysql://x/y", "begins with postgres://"),
            ("postgres://herald:secret@x/y", "contains a password"),
        ] {
            let error = #expect(throws: DirectoryDatabaseError.self) {
                try DirectoryDatabase(server: DatabaseServer(url: url), folder: folder.path)
            }
            #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test func `a role with rights on rows alone serves, and is told whom to ask for tables`() async throws {
        let (server, url) = (try ThrowawayServer.shared.get(), try Engine.newURL())
        let folder = TemporaryFolder()
        let schema = try #require(url.split(separator: "D").last)
        let role = "node_" + schema
        let session = PostgreSQLSession(try server.address())
        try session.script("CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role)")
        let mine = server.url(user: role) + "&options=-csearch_path%3D\(schema)"
        let error = #expect(throws: DirectoryDatabaseError.self) {
            try DirectoryDatabase(server: DatabaseServer(url: mine), folder: folder.path)
        }
        #expect(error?.description.contains("the URL of the tables' owner once") == true)
        _ = try DirectoryDatabase(server: DatabaseServer(url: url), folder: folder.path)
        // As docs/postgresql.md has them.
        try session.script(
            """
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role);
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role);
            GRANT TEMPORARY ON DATABASE herald TO \(role);
            """)
        let node = try DirectoryDatabase(server: DatabaseServer(url: mine), folder: folder.path)
        _ = try BrandEntries(node).put([entry("+61491570156")], now: 1)
        let event = EventRequest(phoneNumber: "+61491570156", outcome: "displayed", eventKey: "key")
        #expect(try await EventLedger(node).record(event, now: ManualTime.start).counted == true)
        try await node.probe()
        #expect(try await node.takesLease("housekeeping"))
        #expect(try await !Retention(database: node, keepDays: 1).removeBatch(now: ManualTime.start))
    }

    @Test func `a server that was away is used again, and its events wait for it`() async throws {
        let server = try ThrowawayServer()
        let folder = TemporaryFolder()
        let node = try DirectoryDatabase(server: DatabaseServer(url: server.url()), folder: folder.path)
        let event = EventRequest(phoneNumber: "+61491570156", outcome: "missed", eventKey: "key")
        try server.perform(.kill)
        await #expect {
            _ = try await EventLedger(node).record(event, now: ManualTime.start)
        } throws: {
            StoreOutage($0) == .away
        }
        try server.perform(.start)
        let first = try await EventLedger(node).record(event, now: ManualTime.start)
        try server.perform(.kill)
        try server.perform(.start)
        #expect(try await EventLedger(node).record(event, now: ManualTime.start).eventID == first.eventID)
    }
}
