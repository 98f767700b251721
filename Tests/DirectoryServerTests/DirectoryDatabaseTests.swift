// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import DirectoryFixtures
import Foundation
import GRDB
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("The directory's database file", .timeLimit(.minutes(8)))
struct DirectoryDatabaseTests {
    private let folder: TemporaryFolder

    init() throws { folder = TemporaryFolder() }

    private var path: String { folder.path + "/directory.sqlite" }

    /// Marks the file as one that a later version has migrated.
    private func writeByLaterVersion() throws {
        try DirectoryDatabase(folder: folder.path).file.write { database in
            try database.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('of the future 9')")
        }
    }

    /// All tables, accounts and migrations, as text.
    private var content: [String] {
        get throws {
            try DatabaseQueue(path: path).read { database in
                try ["sqlite_master", "account", "grdb_migrations"].flatMap { table in
                    try Row.fetchAll(database, sql: "SELECT * FROM \(table)").map(\.description)
                }
            }
        }
    }

    @Test(arguments: [
        ["run", "--listen", "192.0.2.1:1"], ["import", "/dev/null"], ["export"], ["backup", "/nowhere/copy"],
        ["brands", "list"], ["numbers", "list"], ["logos", "list"], ["events"], ["report", "2026-01"],
        ["accounts", "list"], ["keys", "list"], ["admin-keys", "list"], ["devices", "list"],
        ["uploads", "list"],
    ])
    func `no command touches a database of a later version`(arguments: [String]) async throws {
        try writeByLaterVersion()
        let before = try content
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let refused = try await ChildProgram.run(
            tests.appendingPathComponent("herald-directory").path, arguments + ["--state", folder.path])
        #expect(refused.code == 1)
        #expect(
            refused.errors
                == "Error: \(path) was written by a newer herald-directory; install that version again\n")
        #expect(try content == before)
    }

    @Test(.enabled(if: geteuid() == 0, "files of two users are made by root only"))
    func `what root makes in another user's folder belongs to that user`() throws {
        #expect(chown(folder.path, 65534, 65534) == 0)
        let database = try DirectoryDatabase(folder: folder.path)
        try LogoStore(database).add(Data([0xFF, 0xD8, 0xFF, 1]), name: "a.jpg", now: 1)
        let files = FileManager.default
        let names = try files.subpathsOfDirectory(atPath: folder.path)
        #expect(names.contains("directory.sqlite-wal") && names.contains("logos"))
        for name in names {
            let owner = try files.attributesOfItem(atPath: folder.path + "/" + name)[.ownerAccountID] as? Int
            #expect(owner == 65534, "\(name)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "files of two users are made by root only"))
    func `a file of another user is named with its owner and the remedy`() async throws {
        _ = try DirectoryDatabase(folder: folder.path)
        #expect(chmod(folder.path, 0o755) == 0 && chmod(path, 0o600) == 0)
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("herald-directory").path
        let refused = try await ChildProgram.run(
            "/usr/bin/setpriv",
            [
                "--reuid", "65534", "--regid", "65534", "--clear-groups", program, "keys", "list", "--state",
                folder.path,
            ])
        #expect(refused.code == 1)
        #expect(refused.errors.contains("\(path) belongs to root, and this is nobody."), "\(refused.errors)")
        #expect(refused.errors.contains("chown -R nobody: \(folder.path)"))
    }
}
