// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("Accounts and keys", .timeLimit(.minutes(8)), .bothEngines)
struct AccountStoreTests {
    private let folder: TemporaryFolder
    private let database: DirectoryDatabase
    private let accounts: AccountStore

    init() throws {
        folder = TemporaryFolder()
        database = try Engine.open(folder.path)
        accounts = AccountStore(database)
    }

    @Test(.sqliteAlone) func `a key has 256 random bits and is nowhere in the files`() throws {
        let keys = try (0..<20).map { try accounts.createKey(name: "key \($0)", now: 1) }
        #expect(Set(keys).count == 20)
        let plain = try Regex("^hd_[0-9a-f]{64}$")
        for key in keys { #expect(key.wholeMatch(of: plain) != nil) }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.contains("directory.sqlite"))
        for file in files {
            let data = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + file))
            for key in keys {
                #expect(data.range(of: Data(key.utf8)) == nil)
                #expect(data.range(of: Data(key.dropFirst(3).utf8)) == nil)
            }
        }
    }

    @Test func `a name is taken until its key is revoked`() throws {
        _ = try accounts.createKey(name: "gateway", now: 1)
        #expect(throws: AccountStoreError.nameTaken("gateway")) { try accounts.createKey(name: "gateway", now: 2) }
        #expect(try accounts.revokeKey(name: "gateway", now: 3))
        #expect(try !accounts.revokeKey(name: "gateway", now: 4))
        _ = try accounts.createKey(name: "gateway", now: 5)
        #expect(try accounts.keys().map(\.created) == ["1970-01-01T00:00:01Z", "1970-01-01T00:00:05Z"])
        #expect(try accounts.keys().map(\.revoked) == ["1970-01-01T00:00:03Z", nil])
    }

    @Test(arguments: ["", "new\nline", "esc\u{1B}[31m", String(repeating: "n", count: 65)])
    func `a name that would spoil a list is refused`(name: String) {
        #expect(throws: AccountStoreError.badName) { try accounts.createKey(name: name, now: 1) }
    }

    @Test func `a change leaves alone what it does not name`() throws {
        var change = AccountStore.Change()
        change.cap = 10
        try accounts.change(change)
        change = AccountStore.Change()
        change.voipDialerEnabled = false
        try accounts.change(change)
        let config = try accounts.config(now: ManualTime.start)
        #expect(config.capThisMonth == .events(10))
        #expect(config.voipDialerEnabled == false)
        #expect(config.brandingEnabled == true)
        #expect(config.accountStatus == "active")
        change = AccountStore.Change()
        change.cap = -1
        try accounts.change(change)
        #expect(try accounts.config(now: ManualTime.start).capThisMonth == .unlimited)
    }

    @Test func `an account keeps its identifier when the file is opened again`() throws {
        let before = try accounts.config(now: 1).clientID
        let again = try Engine.open(folder.path, creates: false)
        #expect(try AccountStore(again).config(now: 1).clientID == before)
        #expect(before?.isEmpty == false)
    }

    @Test(.sqliteAlone) func `a mistyped folder is an error and stays as it is`() throws {
        let error = #expect(throws: DirectoryDatabaseError.self) {
            try Engine.open(folder.path + "/typo", creates: false)
        }
        #expect(error?.description.contains("there is no such file") == true)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/typo"))
    }

    @Test(.sqliteAlone) func `a file that is no database is named`() throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/bad", withIntermediateDirectories: false)
        try folder.write(Array(String(repeating: "no database ", count: 100).utf8), to: "bad/directory.sqlite")
        let error = #expect(throws: DirectoryDatabaseError.self) { try Engine.open(folder.path + "/bad") }
        #expect(error?.description.contains("/bad/directory.sqlite") == true)
    }

    @Test(.sqliteAlone) func `others on the machine cannot read the file`() throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/directory.sqlite")
        #expect(try #require(attributes[.posixPermissions] as? Int) & 0o007 == 0)
    }
}
