// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GatewayStore
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("Backup of a gateway's state")
struct StateBackupTests {
    private let gateway: StateFixture
    private var folder: String { gateway.path("backup") }

    init() throws {
        gateway = try StateFixture()
        try gateway.end(3)
    }

    private func backUp() throws -> BackupManifest {
        try StateBackup(state: gateway.state, gateway: "edge").write(to: folder)
    }

    @Test func `it has the files of the gateway as they are at one moment, for its owner alone`() throws {
        try gateway.put(Array("office\n".utf8), "disabled-targets")
        try gateway.put([9], "customers/account-1f/device-id")
        try gateway.put([0], "logos/a.png")
        try gateway.put([0], "brands.index")
        try gateway.put([0], "customers/by-name/acme")
        let manifest = try backUp()
        #expect(
            manifest.files.map(\.path) == [
                "herald.sqlite", "brands.sqlite", "secret", "device-id", "disabled-targets",
                "customers/account-1f/device-id",
            ])
        #expect(try BackupManifest(ofBackup: folder) == manifest && manifest.gateway == "edge")
        // The calls are in the write-ahead log, which a plain copy of the file would lack.
        #expect(FileManager.default.fileExists(atPath: gateway.state + "/herald.sqlite-wal"))
        #expect(try StateFixture.accounts(in: folder + "/herald.sqlite") == gateway.accounts())
        #expect(try gateway.accounts()[0] == ["c1", "c2", "c3"])
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
            #expect((mode ?? 0o777) & 0o077 == 0, "\(name)")
        }
    }

    @Test func `beside a writing recorder every call of the copy has its event`() throws {
        for round in 0..<5 {
            try gateway.end(20)
            let folder = gateway.path("backup-\(round)")
            _ = try StateBackup(state: gateway.state, gateway: "edge").write(to: folder)
            try gateway.end(20)
            let accounts = try StateFixture.accounts(in: folder + "/herald.sqlite")
            #expect(accounts[0].count == 3 + 40 * round + 20 && accounts[1].count >= accounts[0].count)
        }
    }

    @Test func `a folder that exists is kept, and a failure leaves none`() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let exists = #expect(throws: BackupProblem.self) { try backUp() }
        #expect(exists?.description == "the backup \(folder) cannot be made: it exists already; name a new folder")
        try FileManager.default.removeItem(atPath: folder)
        let missing = #expect(throws: BackupProblem.self) {
            _ = try StateBackup(state: gateway.state, gateway: "edge").write(to: gateway.path("no/backup"))
        }
        #expect(missing?.description.contains("No such file or directory") == true)
        try gateway.put(Array(repeating: 0x41, count: 8_192), "signers.sqlite")
        let damaged = #expect(throws: HeraldDatabaseError.self) { try backUp() }
        #expect(damaged?.description.contains("signers.sqlite is damaged") == true)
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func `a folder without a ledger has the remedy`() throws {
        let empty = TemporaryFolder()
        let problem = #expect(throws: BackupProblem.self) {
            _ = try StateBackup(state: empty.path, gateway: "edge").write(to: folder)
        }
        #expect(problem?.description.contains("sudo -u herald") == true)
        #expect(!FileManager.default.fileExists(atPath: folder))
    }
}
