// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Several accounts", .timeLimit(.minutes(8)), .bothEngines)
struct AccountListTests {
    private let folder: TemporaryFolder
    private let database: DirectoryDatabase
    private let accounts: AccountList

    init() throws {
        folder = TemporaryFolder()
        database = try Engine.open(folder.path)
        accounts = AccountList(database)
    }

    @Test func `a new database has one account named main`() throws {
        #expect(try accounts.all(now: 1).map(\.name) == ["main"])
        #expect(try accounts.find("main") == .first)
    }

    @Test func `an account is found by its name and its identifier`() throws {
        let made = try accounts.create(name: "acme", now: ManualTime.start)
        let summary = try accounts.summary(of: made, now: ManualTime.start)
        #expect(summary.name == "acme")
        #expect(summary.created == "2026-01-01T00:00:00Z")
        #expect(try accounts.find("acme") == made)
        #expect(try accounts.find(summary.id) == made)
        let unknown = #expect(throws: AccountStoreError.self) { try accounts.find("acm") }
        #expect(unknown == .noAccount("acm", similar: "acme"))
        #expect(
            unknown?.description
                == "there is no account \"acm\"; did you mean \"acme\"?; list the accounts to see their names")
        #expect(throws: AccountStoreError.noAccount("zzzzzz")) { try accounts.find("zzzzzz") }
        #expect(throws: AccountStoreError.accountTaken("acme")) { try accounts.create(name: "acme", now: 1) }
    }

    @Test(arguments: ["", "a b", "../x", ".hidden", "-x", "ümlaut", String(repeating: "a", count: 65)])
    func `a name that cannot be in a path is refused`(name: String) {
        #expect(throws: AccountStoreError.badAccountName) { try accounts.create(name: name, now: 1) }
    }

    @Test func `an account is opened with its settings, and a bad one is not opened`() throws {
        var change = AccountStore.Change()
        (change.mode, change.cap, change.includedImprints, change.status) = ("testing", 5, 3, "trial")
        let made = try accounts.create(name: "acme", change, now: 1)
        let config = try AccountStore(database, account: made).config(now: 1)
        #expect(config.mode == "testing" && config.capThisMonth == .events(5))
        #expect(config.includedImprintsMonthly == 3 && config.accountStatus == "trial")
        change.mode = "demo"
        #expect(throws: AccountStoreError.badMode) { try accounts.create(name: "other", change, now: 1) }
        (change.mode, change.includedImprints) = (nil, -1)
        #expect(throws: AccountStoreError.badIncluded) { try accounts.create(name: "other", change, now: 1) }
        (change.includedImprints, change.status) = (nil, "not a word")
        #expect(throws: AccountStoreError.badStatus("not a word")) {
            try accounts.create(name: "other", change, now: 1)
        }
        #expect(try accounts.all(now: 1).count == 2)
    }

    @Test func `accounts see their own brands, keys and counts only`() async throws {
        try await RunningDirectory.run { directory in
            let other = try AccountList(directory.database).create(name: "other", now: 1)
            let key = try AccountStore(directory.database, account: other).createKey(name: "test", now: 1)
            try directory.put(entry("+61491570156"))
            let response = try await directory.ask("/mobile/branding/sync", headers: ["X-API-Key": key])
            let sync: SyncResponse = try response.decoded()
            #expect(sync.branding.isEmpty)
            #expect(try await directory.sync().branding.count == 1)
            #expect(try AccountStore(directory.database).keys().count == 1)
        }
    }

    @Test func `a closed account's keys are refused, and it takes no new ones until it is active`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            try AccountList(directory.database).close(.first, now: directory.time.now)
            #expect(try await directory.ask("/mobile/branding/sync").status == 401)
            let account = AccountStore(directory.database)
            #expect(throws: AccountStoreError.isClosed) { try account.createKey(name: "new", now: 1) }
            #expect(try BrandEntries(directory.database).active(limit: 10).count == 1)
            try directory.change { $0.status = "active" }
            let key = try account.createKey(name: "new", now: 1)
            #expect(try await directory.ask("/mobile/branding/sync", headers: ["X-API-Key": key]).status == 200)
        }
    }
}
