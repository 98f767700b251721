// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Rotating keys", .timeLimit(.minutes(8)), .bothEngines)
struct KeyRotationTests {
    private static let path = "/" + APIPath.sync

    @Test func `the new key is good at once and the old one until its grace ends`() async throws {
        try await RunningDirectory.run { directory in
            let account = AccountStore(directory.database)
            let (key, ends) = try account.rotateKey("test", grace: 100, now: directory.time.now)
            #expect(ends == ManualTime.start + 100)
            #expect(try await directory.ask(Self.path, headers: ["X-API-Key": key]).status == 200)
            directory.time.now = ends - 1
            #expect(try await directory.ask(Self.path).status == 200)
            directory.time.now = ends
            #expect(try await directory.ask(Self.path).status == 401)
            #expect(try await directory.ask(Self.path, headers: ["X-API-Key": key]).status == 200)
        }
    }

    @Test func `a grace of nothing ends the old key at once`() async throws {
        try await RunningDirectory.run { directory in
            _ = try AccountStore(directory.database).rotateKey("test", grace: 0, now: directory.time.now)
            #expect(try await directory.ask(Self.path).status == 401)
        }
    }

    @Test func `an identifier revokes one key, a name both`() throws {
        let folder = TemporaryFolder()
        let account = AccountStore(try Engine.open(folder.path))
        _ = try account.createKey(name: "gateway", now: 1)
        let old = try #require(try account.keys().first)
        _ = try account.rotateKey(old.id, now: 2)
        #expect(try account.keys().map(\.expires) == ["1970-01-02T00:00:02Z", nil])
        #expect(try account.revokeKey(name: old.id, now: 3))
        #expect(try account.keys().map(\.revoked) == ["1970-01-01T00:00:03Z", nil])
        _ = try account.rotateKey("gateway", now: 4)
        #expect(try account.revokeKey(name: "gateway", now: 5))
        #expect(try account.keys().allSatisfy { $0.revoked != nil })
        #expect(throws: AccountStoreError.noKey("gateway")) { try account.rotateKey("gateway", now: 6) }
    }

    @Test func `a rotation whose key was never seen is taken back`() throws {
        let folder = TemporaryFolder()
        let account = AccountStore(try Engine.open(folder.path))
        _ = try account.createKey(name: "gateway", now: 1)
        let before = try account.keys()
        let (key, _) = try account.rotateKey("gateway", grace: 0, now: 2)
        try account.undoRotation(to: key)
        #expect(try account.keys() == before)
    }

    @Test func `the last use of a key is known to five minutes, without a write for every request`() async throws {
        try await RunningDirectory.run { directory in
            let account = AccountStore(directory.database)
            directory.time.now = ManualTime.start + 3605
            #expect(try await directory.ask(Self.path).status == 200)
            #expect(try account.keys().map(\.lastUsed) == [nil])
            try await directory.database.keyUsage.write(to: directory.database.pool)
            #expect(try account.keys().map(\.lastUsed) == ["2026-01-01T01:00:00Z"])
            _ = try await directory.ask(Self.path, headers: ["X-API-Key": "hd_wrong"])
            directory.time.now += 300
            #expect(try await directory.ask(Self.path).status == 200)
            try await directory.database.keyUsage.write(to: directory.database.pool)
            #expect(try account.keys().map(\.lastUsed) == ["2026-01-01T01:05:00Z"])
        }
    }
}
