// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GatewayStore
import Glibc
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("Restore of a gateway's state")
struct StateRestoreTests {
    private let gateway: StateFixture
    private let manifest: BackupManifest
    private var folder: String { gateway.path("backup") }

    /// A backup with three calls, and a stopped gateway with two more.
    init() throws {
        gateway = try StateFixture()
        try gateway.end(3)
        manifest = try StateBackup(state: gateway.state, gateway: "edge").write(to: gateway.path("backup"))
        try gateway.end(2)
        try gateway.stop()
    }

    @discardableResult
    private func restore() throws -> StateRestore.Result {
        try StateRestore(state: gateway.state, now: 1_769_860_800).run(from: folder)
    }

    /// Replaces the manifest of the backup, with a checksum of its own.
    private func write(_ files: [BackupManifest.Entry]) throws {
        let other = BackupManifest(herald: "0.2.0", gateway: "edge", at: manifest.at, files: files)
        try JSONEncoder().encode(other).write(to: URL(fileURLWithPath: folder + "/" + BackupManifest.name))
    }

    private func refused(_ part: String, _ comment: Comment? = nil) throws {
        let before = try gateway.everything()
        let error = #expect(throws: (any Error).self, comment) { try restore() }
        #expect(error.map { "\($0)" }?.contains(part) == true, "\(error.map { "\($0)" } ?? "")")
        #expect(try gateway.everything() == before, "a refused restore changes nothing")
    }

    /// The folder of the replaced files of the first restore.
    private static let kept = "replaced-20260131T120000Z"

    @Test func `the files are those of the backup`() throws {
        try gateway.put([7], "secret")
        let result = try restore()
        #expect(result.restored == manifest.files.map(\.path))
        #expect(result.at == manifest.at)
        #expect(try gateway.accounts()[0] == ["c1", "c2", "c3"])
        #expect(gateway.content("secret") == [1, 2, 3])
    }

    @Test func `the replaced files are kept, those of each restore in a folder of their own`() throws {
        let before = try gateway.accounts()
        try gateway.put([7], "secret")
        let folder = gateway.state + "/" + Self.kept
        #expect(try restore().replaced == folder)
        #expect(try StateFixture.accounts(in: folder + "/herald.sqlite") == before)
        #expect(gateway.content(Self.kept + "/secret") == [7])
        #expect(try restore().replaced == folder + "-2")
    }

    @Test func `the saved index goes with the records that it was made of`() throws {
        try gateway.put([8], "brands.index")
        try restore()
        #expect(gateway.content("brands.index") == nil)
        #expect(gateway.content(Self.kept + "/brands.index") == [8])
    }

    @Test func `the gateway goes on exactly: calls after the backup come from its ring, each once`() throws {
        let before = try gateway.accounts()
        try restore()
        try gateway.begin()
        #expect(try gateway.accounts() == before, "the ring still has the calls after the backup")
        try gateway.end(1)
        #expect(try gateway.accounts()[0] == ["c1", "c2", "c3", "c4", "c5", "c6"])
    }

    @Test func `without the ring the accounts are those of the backup, and go on`() throws {
        let copied = try StateFixture.accounts(in: folder + "/herald.sqlite")
        try restore()
        try FileManager.default.removeItem(atPath: gateway.path("signals.ring"))
        try gateway.begin()
        #expect(try gateway.accounts() == copied)
        try gateway.end(1)
        #expect(try gateway.accounts()[0] == ["c1", "c2", "c3", "c6"])
    }

    @Test func `a log of a killed gateway does not get into the restored ledger`() throws {
        try gateway.begin()
        try gateway.end(1)
        let log = try #require(gateway.content("herald.sqlite-wal"))
        #expect(!log.isEmpty)
        try gateway.stop()
        try gateway.put(log, "herald.sqlite-wal")
        try restore()
        #expect(gateway.content("herald.sqlite-wal") == nil)
        #expect(try gateway.accounts()[0] == ["c1", "c2", "c3"])
    }

    @Test func `an empty folder of a new machine is filled`() throws {
        try FileManager.default.removeItem(atPath: gateway.state)
        let missing = #expect(throws: BackupProblem.self) { try restore() }
        #expect(missing?.description.contains("install -d -m 750 -o herald -g herald \(gateway.state)") == true)
        try FileManager.default.createDirectory(atPath: gateway.state, withIntermediateDirectories: true)
        #expect(try restore().replaced == nil)
        #expect(try gateway.accounts()[0] == ["c1", "c2", "c3"])
        let mode = try FileManager.default.attributesOfItem(atPath: gateway.state + "/secret")[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func `the lock is the gateway's own after a restore by root`() throws {
        let lock = gateway.state + "/lock"
        try gateway.put([], "lock")
        try #require(chmod(lock, 0o600) == 0)
        if geteuid() == 0 { try #require(chown(gateway.state, 12_345, 12_346) == 0) }
        try restore()
        let folder = try FileManager.default.attributesOfItem(atPath: gateway.state)
        let file = try FileManager.default.attributesOfItem(atPath: lock)
        for key in [FileAttributeKey.ownerAccountID, .groupOwnerAccountID] {
            #expect(file[key] as? Int == folder[key] as? Int)
        }
        #expect(file[.posixPermissions] as? Int == 0o640)
    }

    @Test func `a running gateway refuses`() throws {
        let lock = open(gateway.state + "/lock", O_RDWR | O_CREAT, 0o640)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
        try refused("a gateway runs on \(gateway.state); stop it first: systemctl stop herald. Nothing was changed")
        // A check needs no stopped gateway.
        try StateRestore(state: gateway.state, now: 0).run(from: folder, checksOnly: true, asJSON: true)
    }

    @Test func `a ledger of a newer herald refuses`() throws {
        let file = folder + "/herald.sqlite"
        try DatabaseQueue(path: file).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('ledger of tomorrow')")
        }
        try write(manifest.files.map { try BackupManifest.entry($0.path, in: folder) })
        try refused("herald.sqlite was written by a newer herald")
    }

    @Test(arguments: ["herald.sqlite", "brands.sqlite", "secret"])
    func `a damaged, shorter or missing file refuses`(name: String) throws {
        let file = URL(fileURLWithPath: folder + "/" + name)
        let good = try Data(contentsOf: file)
        var flipped = good
        flipped[good.count / 2] ^= 1
        try flipped.write(to: file)
        try refused("\(name) is damaged: it does not fit its checksum", "one bit")
        try good.dropLast().write(to: file)
        try refused("\(name) is damaged: it does not fit its checksum", "shorter")
        try FileManager.default.removeItem(at: file)
        try refused("\(name) cannot be read: No such file or directory")
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: URL(fileURLWithPath: "/etc/hostname"))
        try refused("\(name) cannot be read: Too many levels of symbolic links")
    }

    @Test func `a folder without a whole manifest refuses`() throws {
        let file = URL(fileURLWithPath: folder + "/" + BackupManifest.name)
        let good = try Data(contentsOf: file)
        try good.dropLast(20).write(to: file)
        try refused("is no manifest of a backup")
        try Data(String(decoding: good, as: UTF8.self).replacing("\"secret\"", with: "\"device-id\"").utf8).write(
            to: file)
        try refused("its entries do not fit its checksum")
        try Data("{\"format\": 2}".utf8).write(to: file)
        try refused("has the form 2 of another herald")
        try FileManager.default.removeItem(at: file)
        try refused("cannot be read: No such file or directory; name the folder of a complete backup")
    }

    @Test(arguments: [
        "../escaped", "/etc/passwd", "customers/../../escaped", "customers/account-1f/../../x", "logos/a.png", "lock",
        "customers/account-1f/herald.sqlite", "customers/by-name/device-id", "", "herald.sqlite-wal", "secret\0",
        "a\u{1B}[2Jb",
    ])
    func `a manifest with a path that no gateway has refuses`(path: String) throws {
        try write(manifest.files + [.init(path: path, bytes: 0, sha256: "")])
        try refused("which is no file of a gateway")
    }

    @Test func `a manifest names each file once, and has a ledger`() throws {
        try write(manifest.files + manifest.files.suffix(1))
        try refused("which is no file of a gateway")
        try write(manifest.files.filter { $0.path != "herald.sqlite" })
        try refused("has no herald.sqlite")
    }

    @Test func `a link or a file in the place of a folder is refused, and gets no other owner`() throws {
        let folder = TemporaryFolder()
        let (link, file) = (folder.path + "/link", try folder.write("", to: "file"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/tmp")
        let owner = try StateOwner(folder.path)
        for path in [link, file] {
            let error = #expect(throws: BackupProblem.self) { try owner.makeFolder(path) }
            #expect(error?.description == "\(path) is no folder; move it away, and run the command again")
        }
        for _ in 0..<2 { try owner.makeFolder(folder.path + "/new") }
    }

    @Test func `a link in the place of the gateway's lock is not followed`() throws {
        let folder = TemporaryFolder()
        let target = folder.path + "/elsewhere"
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/lock", withDestinationPath: target)
        let error = #expect(throws: BackupProblem.self) { _ = try StateLock(folder.path) }
        #expect(error?.description.contains("/lock cannot be written: ") == true, "\(error.debugDescription)")
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test func `a problem escapes hostile bytes`() {
        #expect(!BackupProblem("a\u{1B}[2Jb").description.contains("\u{1B}"))
    }
}
