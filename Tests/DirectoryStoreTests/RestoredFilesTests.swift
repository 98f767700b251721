// SPDX-License-Identifier: Apache-2.0

import DirectoryFixtures
import Foundation
import Glibc
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Logos and logs of a restored directory", .timeLimit(.minutes(8)))
struct RestoredFilesTests {
    private let folder = TemporaryFolder()
    private var state: String { folder.path + "/state" }
    private var backup: String { folder.path + "/backup" }
    private var restore: DirectoryRestore { DirectoryRestore(folder: state, now: 1_769_860_800) }
    /// The logo's file and the log's file, relative to either folder.
    private let files: [String]

    /// A backup with a logo and the log of a device, and an empty state folder.
    init() async throws {
        let database = try DirectoryDatabase(folder: folder.path + "/before")
        let logo = try LogoStore(database).add(Data([0xFF, 0xD8, 0xFF, 1]), name: "a.jpg", now: 1)
        let upload = try await database.receive(logs: [7, 0, 9], now: ManualTime.start).file
        files = ["logos/" + logo.hash, "uploads/" + upload]
        for path in [folder.path + "/state", folder.path + "/backup"] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try database.backUp(to: folder.path + "/backup/directory.sqlite")
        for name in ["logos", "uploads"] {
            try FileManager.default.copyItem(
                atPath: folder.path + "/before/" + name, toPath: folder.path + "/backup/" + name)
        }
    }

    private func run() throws -> DirectoryRestore.Result { try restore.run(from: backup + "/directory.sqlite") }

    @Test func `both are restored from the folders beside the backup`() async throws {
        #expect(try restore.check(backup + "/directory.sqlite").files == 2)
        let result = try run()
        #expect(result.files == 2 && result.missingLogos.isEmpty && result.missingLogs == 0)
        let database = try DirectoryDatabase(folder: state, creates: false)
        let logo = try #require(FileManager.default.contents(atPath: backup + "/" + files[0]))
        #expect(try await LogoStore(database).find("a.jpg")?.data == logo)
        let upload = String(files[1].dropFirst("uploads/".count))
        #expect(try UploadedLogs(upload, in: database).read(at: 0) == [7, 0, 9])
    }

    @Test func `files that are there stay, and are not counted`() throws {
        _ = try run()
        #expect(try run().files == 0)
    }

    @Test func `a damaged file of the state folder is replaced`() throws {
        let path = state + "/" + files[0]
        try FileManager.default.createDirectory(atPath: state + "/logos", withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: path))
        #expect(try run().files == 2)
        #expect(FileManager.default.contentsEqual(atPath: path, andPath: backup + "/" + files[0]))
    }

    @Test(arguments: ["missing", "another", "link", "long"])
    func `bytes that do not fit are left out and named`(kind: String) throws {
        for file in files.map({ backup + "/" + $0 }) {
            unlink(file)
            switch kind {
            case "another": try Data([0xFF, 0xD8, 0xFF, 2, 5]).write(to: URL(fileURLWithPath: file))
            case "link": try #require(symlink("/etc/hostname", file) == 0)
            case "long": try Data(repeating: 7, count: 2 << 20).write(to: URL(fileURLWithPath: file))
            default: break
            }
        }
        let result = try run()
        #expect(result.files == 0 && result.missingLogos == ["a.jpg"] && result.missingLogs == 1)
        #expect(!files.contains { FileManager.default.fileExists(atPath: state + "/" + $0) })
    }
}
