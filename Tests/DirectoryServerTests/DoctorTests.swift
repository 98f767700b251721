// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import DirectoryFixtures
import Foundation
import GRDB
import Host
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("Doctor and status of the directory", .timeLimit(.minutes(8)))
struct DoctorTests {
    /// The directory of a running server, as its operator's commands see it.
    private static func subject(
        _ directory: RunningDirectory, version: String = "0", logos: LogoCheck.Place = .nowhere
    ) -> OperatorSubject {
        var subject = subject(directory.folder, port: directory.port, logos: logos)
        (subject.version, subject.patience) = (version, .seconds(120))
        return subject
    }

    private static func subject(
        _ folder: TemporaryFolder, port: Int, logos: LogoCheck.Place = .nowhere
    ) -> OperatorSubject {
        var configuration = DirectoryConfiguration()
        configuration.listen = EndpointAddress(host: "127.0.0.1", port: UInt16(port), isIPv6: false)
        configuration.state = folder.path + "/state"
        return OperatorSubject(
            file: "/etc/herald/herald-directory.yaml", configuration, logos: logos, folder: configuration.state,
            version: ""
        ) { try DirectoryDatabase(folder: folder.path + "/state", creates: false) }
    }

    /// The findings as `level area: text`.
    private static func lines(_ subject: OperatorSubject, now: Int64 = 1_800_000_000) async -> [String] {
        await DirectoryDoctor(subject, now: now).examine().findings.map { "\($0.level) \($0.area): \($0.text)" }
    }

    /// A port where nobody listens.
    private static func freePort() throws -> Int {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), inet_addr("127.0.0.1"))
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        try #require(isBound)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    @Test func `a running directory without a fault has no warning`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put("+61491570156")
            _ = try await directory.report("displayed", key: "a")
            let lines = await Self.lines(Self.subject(directory))
            #expect(!lines.contains { $0.hasPrefix("error") || $0.hasPrefix("warning server") }, "\(lines)")
            #expect(lines.contains("ok server: runs and is ready at 127.0.0.1:\(directory.port)"))
            #expect(lines.contains { $0.hasPrefix("ok database: ") && $0.hasSuffix("with the schema of this version") })
            #expect(lines.contains { $0.hasPrefix("ok events: the last one came at ") })
            #expect(lines.contains("ok keys: 1 for clients, 0 for operators"))
            #expect(lines.contains { $0.hasPrefix("note backup: there is none") })
            #expect(!lines.joined().contains(directory.key) && !lines.joined().contains("61491570156"))
        }
    }

    @Test func `a server that is away is a note, and the database is still examined`() async throws {
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path + "/state")
        // The contract refuses this key.
        _ = try AccountStore(database).createKey(name: "shop", kind: .registrar, now: 0)
        let port = try Self.freePort()
        let lines = await Self.lines(Self.subject(folder, port: port))
        #expect(
            lines.contains(
                "note server: no server responds at 127.0.0.1:\(port); start it with systemctl start herald-directory"))
        #expect(lines.contains { $0.hasPrefix("ok database: ") })
        #expect(lines.contains("note events: no client has reported one yet"))
        #expect(lines.contains { $0.hasPrefix("note keys: no gateway or phone can use main without a key") })
        let overview = try await DirectoryOverview(Self.subject(folder, port: port), now: 1)
        #expect(!overview.isRunning && overview.text.hasPrefix("ready      no server responds at 127.0.0.1:\(port)\n"))
        #expect(overview.text.contains("\nkeys       0 for clients; 0 for operators\n"), "\(overview.text)")
    }

    @Test func `an account without brands is named with the gate and the command that opens it`() throws {
        let folder = TemporaryFolder()
        let accounts = AccountList(try DirectoryDatabase(folder: folder.path + "/state"))
        func create(_ name: String, _ edit: (inout AccountStore.Change) -> Void) throws {
            var change = AccountStore.Change()
            edit(&change)
            try accounts.create(name: name, change, now: 0)
        }
        try create("late") { $0.status = "past_due" }
        try create("full") { $0.cap = 0 }
        try create("off") { $0.brandingEnabled = false }
        try create("gone") { $0.status = "closed" }
        let lines = DirectoryDoctor.findings(try accounts.all(now: 1_800_000_000)).map { "\($0.level) \($0.text)" }
        #expect(
            lines == [
                "note late gets no brands: its status is past_due; herald-directory accounts set --account late "
                    + "--status active ends that",
                "warning full gets no brands until the next month: 0 events are counted, and its cap is 0; raise it with "
                    + "herald-directory accounts set --account full --cap NUMBER",
                "note off gets no brands: its branding is off; herald-directory accounts set --account off "
                    + "--enable-branding ends that",
            ])
        for number in 1...30 { try create("more\(number)") { $0.status = "suspended" } }
        let many = DirectoryDoctor.findings(try accounts.all(now: 1_800_000_000)).map(\.text)
        #expect(many.count == 21 && many.last == "13 more accounts get no brands: herald-directory accounts list")
    }

    @Test func `another program at the address is an error`() async throws {
        try await RunningDirectory.run { directory in
            // The contract has no such path, as another program has no /readyz.
            let outcome = await ServerProbe(Self.subject(directory).configuration.listen, patience: .seconds(120)).get(
                "/nothing")
            guard case .response(let code, let body) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(code >= 400 && Readiness(code, body) == nil)
            #expect(Readiness(200, "<html>") == nil && Readiness(503, "busy") == nil)
            #expect(Readiness(200, "ready\n")?.problem == nil)
            #expect(Readiness(503, "not ready: disk full\n")?.problem == "disk full")
        }
    }

    @Test func `a server that accepts and is silent ends within the patience`() async throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), inet_addr("127.0.0.1"))
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, length)
                _ = listen(listener, 4)
                _ = getsockname(listener, $0, &length)
            }
        }
        let place = EndpointAddress(host: "127.0.0.1", port: UInt16(bigEndian: address.sin_port), isIPv6: false)
        let outcome = await ServerProbe(place, patience: .milliseconds(300)).get("/readyz")
        guard case .failed(let reason) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.hasPrefix("no response within"))
    }

    @Test func `a server of another version is to be restarted`() async throws {
        try await RunningDirectory.run(edit: { $0.version = "herald-directory 0.1.9" }) { directory in
            let lines = await Self.lines(Self.subject(directory, version: "0.2.0"))
            #expect(
                lines.contains(
                    "warning server: the server runs herald-directory 0.1.9, and this program is 0.2.0: "
                        + "restart herald-directory"))
        }
    }

    @Test func `a rotated key that is still used is a warning, and one that is not is a note`() async throws {
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path + "/state")
        let accounts = AccountStore(database)
        for name in ["used", "idle", "ended"] { _ = try accounts.createKey(name: name, now: 1_000_000) }
        _ = try accounts.rotateKey("used", now: 1_799_990_000)
        _ = try accounts.rotateKey("idle", now: 1_799_990_000)
        _ = try accounts.rotateKey("ended", grace: 10, now: 1_799_990_000)
        try await database.pool.write { database in
            try database.execute(
                "UPDATE api_key SET last_used = 1799999000 WHERE name = 'used' AND expires IS NOT NULL")
        }
        let lines = await Self.lines(Self.subject(folder, port: try Self.freePort())).filter { $0.contains(" keys:") }
        #expect(lines.count == 3, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("warning keys: the rotated key used (") && $0.contains("is still used") })
        #expect(lines.contains { $0.hasPrefix("note keys: the rotated key idle (") })
    }

    @Test func `logos that brands name and nobody has are warnings`() async throws {
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path + "/state")
        try await database.pool.write { database in
            for (id, logo) in [("a", "lost.png"), ("b", "https://elsewhere.example/b.png")] {
                try database.execute(
                    "INSERT INTO brand (account, id, name, logo, updated) VALUES (1, ?, ?, ?, 1)", [id, id, logo])
            }
        }
        let lines = await Self.lines(Self.subject(folder, port: try Self.freePort())).filter { $0.contains(" logos:") }
        #expect(lines.count == 1 && lines[0].hasPrefix("warning logos: logo \"lost.png\" is not among the uploaded"))
    }

    @Test func `an old backup is a warning`() async throws {
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path + "/state")
        try database.backUp(to: folder.path + "/copy.sqlite")
        let now = Int64(Date().timeIntervalSince1970)
        let subject = Self.subject(folder, port: try Self.freePort())
        #expect(await Self.lines(subject, now: now).contains { $0.hasPrefix("ok backup: the last one is of ") })
        #expect(await Self.lines(subject, now: now + 200_000).contains { $0.hasPrefix("warning backup: ") })
    }

    @Test func `a damaged database is an error with its remedy`() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/state", withIntermediateDirectories: true)
        try folder.write(String(repeating: "no database ", count: 1_000), to: "state/directory.sqlite")
        let subject = Self.subject(folder, port: try Self.freePort())
        let report = await DirectoryDoctor(subject, now: 1).examine()
        #expect(report.hasError, "\(report.text)")
        #expect(report.text.contains("directory.sqlite cannot be opened"), "\(report.text)")
        await #expect(throws: DirectoryDatabaseError.self) { _ = try await DirectoryOverview(subject, now: 1) }
    }

    @Test func `a database of an earlier version is looked at by nobody before the restart`() async throws {
        let folder = TemporaryFolder()
        _ = try DirectoryDatabase(folder: folder.path + "/state")
        let file = folder.path + "/state/directory.sqlite"
        try await DatabaseQueue(path: file).writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 1") }
        let lines = await Self.lines(Self.subject(folder, port: try Self.freePort()))
        #expect(lines.contains { $0.hasPrefix("warning database: ") && $0.contains("schema of an earlier version") })
        let schema = try await DatabaseQueue(path: file).read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        #expect(schema == 1, "the command has not brought it up to date")
    }

    @Test func `the status has the figures of the database and of the server`() async throws {
        try await RunningDirectory.run(edit: { $0.version = "0.2.0" }) { directory in
            try directory.put("+61491570156")
            _ = try await directory.report("displayed", key: "a")
            let overview = try await DirectoryOverview(Self.subject(directory), now: directory.time.now)
            #expect(overview.isRunning && overview.isReady && overview.version == "0.2.0")
            #expect(overview.numbers == 1 && overview.eventsToday == 1 && overview.keys == 1 && overview.adminKeys == 0)
            #expect(overview.text.contains("\nkeys       1 for clients; 0 for operators\n"), "\(overview.text)")
            #expect(overview.text.hasPrefix("ready      yes\n"))
            #expect(!overview.text.contains(directory.key) && !overview.text.contains("61491570156"))
            let json = try Output.text(overview)
            #expect(json.contains("\"numbers\":1") && json.contains("\"ready\":true"))
        }
    }

    @Test func `the report of a wrong file has each problem and is an error`() throws {
        let folder = TemporaryFolder()
        let path = try folder.write("lisen: 127.0.0.1:1\nconnections: many\n", to: "herald-directory.yaml")
        let error = #expect(throws: ConfigurationError.self) { _ = try DirectoryConfiguration.load(path: path) }
        let report = DirectoryDoctor.report(of: try #require(error))
        #expect(report.hasError && report.findings.count == 2)
        #expect(report.text.contains("did you mean \"listen\"?"))
    }
}
