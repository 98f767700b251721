// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import GRDB
import Glibc
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Restore of a directory", .timeLimit(.minutes(8)))
struct DirectoryRestoreTests {
    private let folder = TemporaryFolder()
    private var state: String { folder.path + "/state" }
    private var backup: String { folder.path + "/backup/directory.sqlite" }

    /// The folder of the replaced database of the first restore.
    private var kept: String { state + "/replaced-20260131T120000Z" }

    /// A backup with one number, and a stopped directory with two.
    init() throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/backup", withIntermediateDirectories: true)
        let database = try DirectoryDatabase(folder: state)
        _ = try BrandEntries(database).put([entry("+61491570156")], now: 1)
        try database.backUp(to: backup)
        _ = try BrandEntries(database).put([entry("+61491570157")], now: 2)
    }

    private var restore: DirectoryRestore { DirectoryRestore(folder: state, now: 1_769_860_800) }

    private func numbers(in folder: String) throws -> Int {
        try BrandEntries(try DirectoryDatabase(folder: folder, creates: false)).active(limit: 9).count
    }

    /// Names and contents of all files of the state folder, to see that nothing has changed.
    private func everything() throws -> [String: Data] {
        try FileManager.default.subpathsOfDirectory(atPath: state).reduce(into: [:]) { files, name in
            if name != "lock" { files[name] = FileManager.default.contents(atPath: state + "/" + name) }
        }
    }

    /// Expects a refusal of both the check and the restore, which change nothing.
    private func refused(_ part: String, _ comment: Comment? = nil) throws {
        let before = try everything()
        let check = #expect(throws: RestoreProblem.self, comment) { _ = try restore.check(backup) }
        #expect(check?.description.contains(part) == true, "\(check?.description ?? "")")
        let error = #expect(throws: RestoreProblem.self, comment) { _ = try restore.run(from: backup) }
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
        #expect(try everything() == before)
    }

    /// Changes the backup by statements.
    private func edit(_ sql: String) throws {
        let file = try DatabaseQueue(path: backup)
        try file.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = OFF; " + sql) }
        try file.close()
    }

    // MARK: A good backup

    @Test func `the brands are those of the backup, and the replaced database is kept as a directory of its own`()
        throws
    {
        let result = try restore.run(from: backup)
        #expect(result.contents.numbers == 1 && result.contents.text.hasPrefix("1 accounts, "))
        #expect(result.replaced == kept)
        #expect(try numbers(in: state) == 1 && numbers(in: kept) == 2)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: state).contains { $0.contains("restored") })
        let mode = try FileManager.default.attributesOfItem(atPath: state + "/directory.sqlite")[.posixPermissions]
        #expect(mode as? Int == 0o640)
    }

    @Test func `a check changes nothing and has the figures`() throws {
        let before = try everything()
        #expect(try restore.check(backup).contents.numbers == 1)
        #expect(try everything() == before)
    }

    @Test func `a second restore keeps the first one too`() throws {
        _ = try restore.run(from: backup)
        #expect(try restore.run(from: backup).replaced == kept + "-2")
        #expect(try numbers(in: state) == 1 && numbers(in: kept) == 2 && numbers(in: kept + "-2") == 1)
    }

    @Test func `a client that has seen later changes receives the whole set, after each restore again`() async throws {
        func cursor() async throws -> SyncCursor {
            let database = try DirectoryDatabase(folder: state, creates: false)
            return try await database.pool.read { try ChangeFeed(.init(account: .first, now: 9), $0).cursor }
        }
        func head() async throws -> ChangeCounter.Head {
            let database = try DirectoryDatabase(folder: state, creates: false)
            return try await database.pool.read { try ChangeCounter.head(.first, $0) }
        }
        let before = try await cursor()
        for epoch in 1...2 {
            let seen = try await cursor()
            _ = try restore.run(from: backup)
            let present = try await head()
            #expect(present.epoch == Int64(epoch) && seen.isOfOtherEpoch(than: present))
            #expect(before.isOfOtherEpoch(than: present))
        }
    }

    @Test func `an empty folder of a new machine is filled, and a missing one has the remedy`() throws {
        try FileManager.default.removeItem(atPath: state)
        let missing = #expect(throws: RestoreProblem.self) { _ = try restore.run(from: backup) }
        #expect(missing?.description.contains("install -d -m 750 -o herald -g herald \(state)") == true)
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        #expect(try restore.run(from: backup).replaced == nil)
        #expect(try numbers(in: state) == 1)
    }

    @Test(.enabled(if: geteuid() == 0, "files of two users are made by root only"))
    func `what root restores belongs to the server's user`() throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: state) + [""] {
            try #require(chown(state + "/" + name, 65534, 65534) == 0)
        }
        _ = try restore.run(from: backup)
        for name in [
            "directory.sqlite", "lock", "replaced-20260131T120000Z", "replaced-20260131T120000Z/directory.sqlite",
        ] {
            let owner = try FileManager.default.attributesOfItem(atPath: state + "/" + name)[.ownerAccountID] as? Int
            #expect(owner == 65534, "\(name)")
        }
    }

    @Test func `a backup of version 0_2_0 is brought up to date`() throws {
        try FileManager.default.removeItem(atPath: backup)
        let file = try DatabaseQueue(path: backup)
        try file.write { try $0.execute(sql: EarlierDirectories.version020) }
        try file.close()
        #expect(try restore.check(backup).contents.events == 1)
        #expect(try restore.run(from: backup).contents.events == 1)
        let database = try DirectoryDatabase(folder: state, creates: false)
        #expect(try BrandEntries(database).active(limit: 9).map(\.brandName) == ["Acme"])
        #expect(try database.pool.read { try ChangeCounter.head(.first, $0) }.epoch == 1)
    }

    // MARK: The present database

    @Test func `a log that a killed server left goes with the replaced database`() throws {
        let other = TemporaryFolder()
        let files = ["directory.sqlite", "directory.sqlite-wal"]
        let database = try DirectoryDatabase(folder: state)
        _ = try BrandEntries(database).put([entry("+61491570158")], now: 3)
        for name in files {
            try FileManager.default.copyItem(atPath: state + "/" + name, toPath: other.path + "/" + name)
        }
        withExtendedLifetime(database) {}
        let killed = DirectoryRestore(folder: other.path, now: 1_769_860_800)
        let result = try killed.run(from: backup)
        #expect(try numbers(in: other.path) == 1 && numbers(in: #require(result.replaced)) == 3)
    }

    @Test(arguments: [0, 4_096]) func `a damaged database is replaced and kept`(place: UInt64) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: state + "/directory.sqlite"))
        try file.seek(toOffset: place)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4_096))
        try file.close()
        #expect(try restore.run(from: backup).replaced == kept)
        #expect(try numbers(in: state) == 1)
        let damaged = try Data(contentsOf: URL(fileURLWithPath: kept + "/directory.sqlite"))
        #expect(damaged[Int(place)...].prefix(64) == Data(repeating: 0xA5, count: 64))
    }

    @Test func `an import that was interrupted does not go on in the restored database`() throws {
        for name in ["import-1.rows", "import-1.merge", "import-1.rows-journal"] { try put([1], name) }
        _ = try restore.run(from: backup)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: state).contains { $0.hasPrefix("import-") })
        #expect(FileManager.default.contents(atPath: kept + "/import-1.merge") == Data([1]))
    }

    @Test func `a begun import is away before the database is replaced, so that a kill lets none go on`() throws {
        for name in ["import-1.rows", "import-1.merge"] { try put([1], name) }
        try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: false)
        var names: [String] = []
        try PresentDatabase(folder: state).keep(in: kept, &names)
        #expect(names == ["directory.sqlite", "import-1.rows", "import-1.merge"])
        let files = FileManager.default
        #expect(
            !files.fileExists(atPath: state + "/import-1.merge") && files.fileExists(atPath: kept + "/import-1.rows"))
        #expect(files.contents(atPath: kept + "/import-1.merge") == Data([1]))
        #expect(try numbers(in: state) == 2, "the earlier database is in its place")
    }

    @Test func `a killed restore leaves a draft that the next one replaces`() throws {
        for ending in ["", "-journal", "-wal"] { try put([1, 2, 3], "directory.sqlite.restored" + ending) }
        _ = try restore.run(from: backup)
        #expect(try numbers(in: state) == 1)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: state).contains { $0.contains("restored") })
    }

    @Test func `a place that cannot be taken leaves the database as it was`() throws {
        let before = try everything()
        try FileManager.default.removeItem(atPath: state + "/directory.sqlite")
        try FileManager.default.createDirectory(
            atPath: state + "/directory.sqlite", withIntermediateDirectories: false)
        let error = #expect(throws: RestoreProblem.self) { _ = try restore.run(from: backup) }
        #expect(
            error?.description.hasSuffix("The database of \(state) is as before") == true, "\(error.debugDescription)")
        let names = try FileManager.default.contentsOfDirectory(atPath: state)
        #expect(!names.contains { $0.hasPrefix("replaced") || $0.contains("restored") }, "\(names)")
        #expect(before["directory.sqlite"] != nil)
    }

    @Test func `a rename that fails puts log and imports back`() throws {
        for name in ["directory.sqlite-wal", "import-1.rows", "import-1.merge"] { try put([1], name) }
        let before = try everything()
        let present = PresentDatabase(folder: state)
        let error = #expect(throws: RestoreProblem.self) {
            _ = try present.replace(by: state + "/missing", keepingIn: kept)
        }
        #expect(error?.description == "\(state)/directory.sqlite cannot be replaced: No such file or directory")
        #expect(try everything() == before)
        #expect(!FileManager.default.fileExists(atPath: kept))
    }

    private func put(_ bytes: [UInt8], _ name: String) throws {
        let url = URL(fileURLWithPath: state + "/" + name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    // MARK: Programs that use the database

    @Test func `a running server refuses a restore, and not a check`() async throws {
        let server = try await RunningDirectory(folder: folder)
        let error = #expect(throws: RestoreProblem.self) { _ = try restore.run(from: backup) }
        #expect(
            error?.description.contains("stop it first: systemctl stop herald-directory. Nothing was changed") == true)
        #expect(try restore.check(backup).contents.numbers == 1)
        try await server.stop()
        withExtendedLifetime(server) {}
    }

    @Test func `a program of an earlier version, which has no lock, refuses a restore`() throws {
        let other = try DatabasePool(path: state + "/directory.sqlite")
        #expect(try other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM account") } == 1)
        let error = #expect(throws: RestoreProblem.self) { _ = try restore.run(from: backup) }
        #expect(error?.description.contains("a program has the database of \(state) open") == true)
        try other.close()
        _ = try restore.run(from: backup)
    }

    @Test func `no program opens the database during a restore`() throws {
        let use = try StateUse.alone(in: state)
        let error = #expect(throws: DirectoryDatabaseError.self) { _ = try DirectoryDatabase(folder: state) }
        #expect(error?.description.contains("is being restored by herald-directory restore") == true)
        withExtendedLifetime(use) {}
    }

    @Test func `a mistyped folder gets no lock`() throws {
        #expect(throws: DirectoryDatabaseError.self) { _ = try DirectoryDatabase(folder: folder.path, creates: false) }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/lock"))
    }

    // MARK: Other files

    @Test func `damage at any page is found`() throws {
        let good = try Data(contentsOf: URL(fileURLWithPath: backup))
        for page in stride(from: 4_096, to: good.count, by: 4_096) {
            var bad = good
            bad.replaceSubrange(page..<page + 64, with: Data(repeating: 0xA5, count: 64))
            try bad.write(to: URL(fileURLWithPath: backup))
            try refused("\(backup) is damaged: ", "page at \(page)")
        }
        try good.dropLast(4_096).write(to: URL(fileURLWithPath: backup))
        try refused("\(backup) is damaged: ", "shorter")
    }

    @Test(arguments: [
        "", "SQLite format 3", "PK\u{3}\u{4}" + String(repeating: "x", count: 200), "-- PostgreSQL database dump\n",
    ])
    func `a file that is no database is refused`(text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: backup))
        try refused("\(backup) is no SQLite database; name a file of herald-directory backup")
    }

    @Test func `a missing file, a folder, a link and a pipe are refused`() throws {
        try FileManager.default.removeItem(atPath: backup)
        try refused("\(backup) cannot be read: No such file or directory")
        try #require(mkfifo(backup, 0o600) == 0)
        try refused("\(backup) is no regular file")
        unlink(backup)
        try #require(symlink("/etc/hostname", backup) == 0)
        try refused("\(backup) cannot be read: Too many levels of symbolic links")
        unlink(backup)
        try #require(mkdir(backup, 0o700) == 0)
        try refused("\(backup) is no regular file")
    }

    @Test func `a database of a gateway or of another program is refused`() throws {
        try FileManager.default.removeItem(atPath: backup)
        try edit(
            "CREATE TABLE call (id INTEGER); CREATE TABLE grdb_migrations (identifier TEXT PRIMARY KEY);"
                + "INSERT INTO grdb_migrations VALUES ('ledger 1')")
        try refused("\(backup) is no database of herald-directory")
        try FileManager.default.removeItem(atPath: backup)
        try edit("CREATE TABLE places (id INTEGER)")
        try refused("\(backup) is no database of herald-directory")
    }

    @Test(arguments: [
        ("INSERT INTO grdb_migrations VALUES ('tomorrow 1')", "was written by a newer herald-directory"),
        ("PRAGMA user_version = 999", "was written by a newer herald-directory"),
        ("DELETE FROM grdb_migrations WHERE identifier <> 'v1'", "was written by a herald-directory before 0.2.0"),
        (
            "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM account; END",
            "has the trigger t, which no directory has"
        ),
        ("CREATE VIEW v AS SELECT 1", "has the view v, which no directory has"),
        ("CREATE TABLE more (id INTEGER)", "has other tables than a directory: more table_xinfo"),
        ("ALTER TABLE event ADD COLUMN more TEXT", "has other tables than a directory: event table_xinfo"),
        ("DROP INDEX event_received", "has other tables than a directory: event index_list"),
        ("DELETE FROM account", "names a missing row"),
    ])
    func `tables and versions that do not fit are refused`(sql: String, text: String) throws {
        try edit(sql)
        try refused(text)
    }

    @Test func `the file of an open database is refused with the way to a backup`() throws {
        try edit("PRAGMA journal_mode = WAL")
        try refused("is the file of an open database, which lacks the changes of its log")
        try edit("PRAGMA journal_mode = DELETE")
        try Data([1]).write(to: URL(fileURLWithPath: backup + "-journal"))
        try refused("run herald-directory backup NEW-FILE --state FOLDER, and restore the new file")
    }

    @Test func `a problem escapes hostile bytes`() throws {
        try edit("CREATE VIEW \"a\u{1B}[2Jb\" AS SELECT 1")
        let error = #expect(throws: RestoreProblem.self) { _ = try restore.check(backup) }
        #expect(error?.description.contains("\u{1B}") == false)
    }
}
