// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import SeededRandom
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("The feed of changes", .timeLimit(.minutes(8)), .bothEngines)
struct ChangeFeedTests {
    @Test func `changes while the feed is read are not in this response but in the next`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let entries = BrandEntries(database)
        let all = try (0..<1500).map { try entry("+6149157\(1000 + $0)", "before") }
        _ = try entries.put(all, now: 1)
        let state = try database.pool.snapshot()
        let (feed, first) = try await state.read { try Self.start(since: nil, $0) }
        #expect(first.entries == 1000)
        _ = try entries.put([entry("+61491572499", "after"), entry("+61491570999", "new")], now: 3)
        #expect(try entries.deactivate(#require(E164Number("+61491572400")), now: 3))
        let second = try await state.read { try feed.page(after: first, logos: LogoURLs(), $0) }
        #expect(second.entries == 500)
        let walked = try Self.items(first) + Self.items(second)
        #expect(walked.allSatisfy { $0.brandName == "before" && $0.isActive == nil })
        #expect(second.last == nil)

        let changed = try Self.items(
            await database.pool.read {
                try Self.start(since: SyncCursor(feed.cursor.text), includesInactive: true, $0).page
            })
        #expect(changed.map(\.phoneNumber) == ["+61491570999", "+61491572499", "+61491572400"])
        #expect(changed.map(\.isActive) == [nil, nil, false])
    }

    @Test func `a change between the state and the page of a poll is in this response, and not in the next`()
        async throws
    {
        let database = try Engine.open(TemporaryFolder().path)
        let entries = BrandEntries(database)
        _ = try entries.put([entry("+61491570001", "one"), entry("+61491570002", "two")], now: 1)
        let parameters = ChangeFeed.Parameters(account: .first, since: SyncCursor(seconds: 1, change: 1), now: 2)
        let polled = try await database.pool.read { try PolledAccount(.first, since: parameters.since, now: 2, $0) }
        _ = try entries.put([entry("+61491570001", "later"), entry("+61491570003", "three")], now: 2)
        let start = try await database.pool.read { try FeedStart(parameters, polled, logos: LogoURLs(), $0) }
        #expect(try Self.items(start.page).map(\.brandName) == ["two", "later", "three"])
        let next = try await database.pool.read { try Self.start(since: start.feed.cursor, $0) }
        #expect(next.page.entries == 0)
        #expect(next.feed.cursor.text == start.feed.cursor.text)
    }

    @Test func `a change in the second after the begin of its poll is delivered once`() async throws {
        let database = try Engine.open(TemporaryFolder().path)
        let entries = BrandEntries(database)
        _ = try entries.put([entry("+61491570001", "one")], now: 100)
        // The poll began at 100 and reads what was written at 101, at its head and again before its page.
        _ = try entries.put([entry("+61491570002", "two")], now: 101)
        let parameters = ChangeFeed.Parameters(account: .first, since: SyncCursor(seconds: 100, change: 1), now: 100)
        let polled = try await database.pool.read { try PolledAccount(.first, since: parameters.since, now: 100, $0) }
        _ = try entries.put([entry("+61491570003", "three")], now: 102)
        let first = try await database.pool.read { try FeedStart(parameters, polled, logos: LogoURLs(), $0) }
        #expect(try Self.items(first.page).map(\.brandName) == ["two", "three"])
        for now in [103, 110, 100_000] as [Int64] {
            let next = try await database.pool.read {
                try Self.items(Self.start(since: SyncCursor(first.feed.cursor.text), now: now, $0).page)
            }
            #expect(next.isEmpty, "at \(now)")
        }
        // The clock of the change was an hour ahead; its time says nothing about the cursor.
        _ = try entries.put([entry("+61491570004", "four")], now: 3_700)
        let ahead = try await database.pool.read { try Self.start(since: first.feed.cursor, now: 104, $0) }
        #expect(ahead.feed.cursor.seconds == 104)
    }

    @Test func `a renewed feed sends everything to clients of the epoch before`() async throws {
        let database = try Engine.open(TemporaryFolder().path)
        let entries = BrandEntries(database)
        _ = try entries.put([entry("+61491570001", "kept"), entry("+61491570002", "restored")], now: 50)
        #expect(try entries.deactivate(#require(E164Number("+61491570001")), now: 50))
        // The client has seen another value of the second number, which the restore undid.
        let client = SyncCursor(seconds: 90, change: 4)
        try AccountStore(database).renewFeed()
        let start = try await database.pool.read { try Self.start(since: client, includesInactive: true, now: 100, $0) }
        #expect(try Self.items(start.page).map(\.brandName) == ["restored", "kept"])
        #expect(try Self.items(start.page).map(\.isActive) == [nil, false])
        let next = try await database.pool.read {
            try Self.start(since: SyncCursor(start.feed.cursor.text), includesInactive: true, now: 110, $0)
        }
        #expect(next.page.entries == 0)
        // A time from elsewhere still means "changed at or after it".
        let time = try #require(SyncCursor("1970-01-01T00:00:51Z"))
        #expect(try await database.pool.read { try Self.start(since: time, now: 110, $0) }.page.entries == 0)
    }

    /// Backed up at change 2, put back when clients stood at 4, changed again since.
    @Test func `a database that was put back sends what came after, though it counts the same numbers again`()
        async throws
    {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let entries = BrandEntries(database)
        _ = try entries.put((1...2).map { try entry("+6149157000\($0)", "before") }, now: 50)
        let later = try (3...6).map { try entry("+6149157000\($0)", "after") }
        _ = try entries.put(later, now: 200)
        let client = SyncCursor(seconds: 100, change: 4)
        let missed = try await database.pool.read { try Self.items(Self.start(since: client, now: 300, $0).page) }
        #expect(missed.map(\.phoneNumber) == later.map(\.number.description))
        let usual = SyncCursor(seconds: 200, change: 4)
        let next = try await database.pool.read { try Self.items(Self.start(since: usual, now: 300, $0).page) }
        #expect(next.map(\.phoneNumber) == ["+61491570005", "+61491570006"])
        // Made while the clock was ahead: the cursor's number counts.
        let ahead = try await database.pool.read { try Self.items(Self.start(since: client, now: 150, $0).page) }
        #expect(ahead.map(\.phoneNumber) == ["+61491570005", "+61491570006"])
    }

    @Test func `other changes of the same number have another tag, after a database was put back`() async throws {
        let tags = try [50 as Int64, 60].map { time in
            let folder = TemporaryFolder()
            let database = try Engine.open(folder.path)
            try database.pool.write { try $0.execute("UPDATE account SET client_id = 'same'") }
            _ = try BrandEntries(database).put([entry("+61491570001", "Name \(time)")], now: time)
            return try database.pool.read {
                try FeedState.current(.first, logoBase: nil, now: 100, $0).tag(query: [])
            }
        }
        #expect(tags[0] != tags[1])
    }

    private static func start(
        since: SyncCursor?, includesInactive: Bool = false, now: Int64 = 2, _ database: any SQLConnection
    ) throws -> (feed: ChangeFeed, page: ChangeFeed.Page) {
        let parameters = ChangeFeed.Parameters(
            account: .first, since: since, includesInactive: includesInactive, now: now)
        let start = try FeedStart(parameters, logos: LogoURLs(), database)
        return (start.feed, start.page)
    }

    private static func items(_ page: ChangeFeed.Page) throws -> [BrandingItem] {
        try JSONDecoder().decode([BrandingItem].self, from: Data(Array("[".utf8) + page.text + Array("]".utf8)))
    }

    @Test(arguments: [
        ("Acme \"Bank\" \\ \u{1}\u{1f}\n\t", "https://logos.example/a.png", "Grüße 🏦 \u{2028} / \u{7f}"),
        ("", "acme.png", ""), ("e\u{301}\u{fffd}", nil, nil),
    ])
    func `an entry is written as JSON that means its row`(name: String, logo: String?, reason: String?) throws {
        let database = try Engine.open(TemporaryFolder().path)
        _ = try BrandEntries(database).put([entry("+61491570156", name, logo: logo, reason: reason)], now: 951_782_399)
        let start = try database.pool.read {
            try FeedStart(
                .init(account: .first, now: 2),
                logos: LogoURLs(base: "https://brands.example", endings: ["acme.png": ""]), $0)
        }
        let resolved = logo.map { $0.contains("://") ? $0 : "https://brands.example/logos/\($0)" }
        #expect(
            try Self.items(start.page) == [
                BrandingItem(
                    phoneNumber: "+61491570156", brandName: name, brandID: "acme", updatedAt: "2000-02-28T23:59:59Z",
                    logoURL: resolved, callReason: reason)
            ])
    }

    @Test(.sqliteAlone) func `the place after which changes are asked for is where the index is entered`() throws {
        let database = try Engine.open(TemporaryFolder().path)
        let plan = try database.pool.read { database in
            try database.rows("EXPLAIN QUERY PLAN " + ChangeFeed.pageQuery("AND active"), [1, 5])
                .map { $0["detail"] as String }
        }
        #expect(plan.first?.contains("brand_number_change (account=? AND change>?)") == true, "\(plan)")
        #expect(plan.count == 1)
    }

    @Test func `with writers at work no version of an entry comes twice and none is missed`() async throws {
        try await RunningDirectory.run { directory in
            let copy = SyncedCopy(directory)
            let writers = Writers()
            try await withThrowingTaskGroup { group in
                for writer in 0..<4 {
                    group.addTask {
                        defer { writers.left.withLock { $0 -= 1 } }
                        var generator = RepeatableRandom(seed: UInt64(writer) + 1)
                        for version in 0..<60 {
                            try Self.change(directory, "writer \(writer), version \(version)", &generator)
                            await Task.yield()
                        }
                    }
                }
                group.addTask {
                    while writers.left.withLock({ $0 }) > 0 { try await copy.sync() }
                }
                try await group.waitForAll()
            }
            _ = try await copy.sync()
            let truth = try BrandEntries(directory.database).active(limit: 1000)
            #expect(await copy.held == Dictionary(uniqueKeysWithValues: truth.map { ($0.phoneNumber, $0.brandName) }))
            #expect(await copy.repeated == [])
            #expect(try await copy.sync() == 0)
        }
    }

    /// Writes or removes one of twenty entries; the name tells versions apart.
    private static func change(
        _ directory: RunningDirectory, _ name: String, _ generator: inout RepeatableRandom
    ) throws {
        let number = try #require(E164Number("+614915701\(Int.random(in: 10..<30, using: &generator))"))
        let entries = BrandEntries(directory.database)
        if Int.random(in: 0..<4, using: &generator) == 0 {
            _ = try entries.deactivate(number, now: ManualTime.start)
        } else {
            _ = try entries.put(
                [BrandEntries.Entry(number: number, name: name, brandID: "b")], now: ManualTime.start)
        }
    }

    @Test(arguments: ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-31", "000000000001"])
    func `what is no time is no cursor`(text: String) {
        #expect(SyncCursor(text) == nil)
    }

    // java.time and others read at most nine digits of a fraction (java.time.format.DateTimeFormatter.ISO_INSTANT).
    @Test(arguments: [(0, 0), (1, 1), (42, 100_000_041), (99_999_999, 99_999_999), (2_000_000_007, 2_000_000_009)])
    func `a cursor is read as it was written`(change: Int64, last: Int64) throws {
        let text = SyncCursor(seconds: ManualTime.start, change: change).text
        #expect(text.wholeMatch(of: /2026-01-01T00:00:00\.[0-9]{9}Z/) != nil)
        #expect(try #require(SyncCursor(text)).change(in: .init(epoch: 0, last: last)) == change)
    }

    @Test func `a cursor with the whole number in twelve digits is read`() {
        #expect(
            SyncCursor("2026-01-01T00:00:00.002000000007Z")?.change(in: .init(epoch: 0, last: 5_000_000_000))
                == 2_000_000_007)
    }

    @Test(arguments: ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.000000001+00:00"])
    func `a time of somebody else names no change`(text: String) throws {
        #expect(try #require(SyncCursor(text)).change(in: .init(epoch: 0, last: 100)) == nil)
    }

    @Test func `a change that was not made yet is none`() {
        #expect(SyncCursor("2026-01-01T00:00:00.000000101Z")?.change(in: .init(epoch: 0, last: 100)) == nil)
    }

    @Test func `a cursor of a newer state is ahead, also where its last digits read as an old change`() {
        let (older, newer) = (199_999_999 as Int64, 200_000_001 as Int64)
        #expect(SyncCursor(seconds: 20, change: newer).isAhead(of: .init(epoch: 0, last: older)))
        #expect(!SyncCursor(seconds: 20, change: older).isAhead(of: .init(epoch: 0, last: newer)))
        #expect(!SyncCursor(seconds: 20, change: newer).isAhead(of: .init(epoch: 0, last: newer)))
    }

    @Test func `a client a hundred million changes behind gets by time what it lacks`() throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let entries = BrandEntries(database)
        _ = try entries.put([try entry("+61491570156")], now: 10)
        let cursor = SyncCursor(seconds: 20, change: try database.pool.read { try ChangeCounter.last(.first, $0) }).text
        _ = try entries.put([try entry("+61491570157")], now: 30)
        try database.pool.write { try ChangeCounter.advance(.first, by: 100_000_000, $0) }
        let page = try database.pool.read {
            try Self.start(since: SyncCursor(cursor), now: 40, $0).page
        }
        #expect(page.entries == 1)
    }
}

/// How many writers are not done yet.
private final class Writers: Sendable {
    let left = Mutex(4)
}

/// What a client holds that syncs by the cursor it was given.
private actor SyncedCopy {
    private let directory: RunningDirectory
    private var cursor: String?
    private var delivered: Set<String> = []
    private(set) var held: [String: String?] = [:]
    private(set) var repeated: [String] = []

    init(_ directory: RunningDirectory) { self.directory = directory }

    /// Returns how many entries came.
    @discardableResult
    func sync() async throws -> Int {
        let response = try await directory.sync(since: cursor)
        cursor = response.syncedAt
        for item in response.branding {
            if item.isActive == false {
                held[item.phoneNumber] = nil
            } else {
                held.updateValue(item.brandName, forKey: item.phoneNumber)
                // A name is written once, so a second delivery is a repetition; a number switched on again has a new one.
                let version = "\(item.phoneNumber) \(item.brandName ?? "-")"
                if !delivered.insert(version).inserted { repeated.append(version) }
            }
        }
        return response.branding.count
    }
}
