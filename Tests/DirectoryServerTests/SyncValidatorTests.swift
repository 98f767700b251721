// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ChildPrograms
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Conditional and compressed sync", .timeLimit(.minutes(8)), .bothEngines)
struct SyncValidatorTests {
    private static let path = "/api/" + APIPath.sync

    @Test func `the tag that was sent brings 304 without a body, until something changes`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            let first = try await directory.ask(Self.path)
            let tag = try #require(first.headers["etag"])
            let again = try await directory.ask(Self.path, headers: ["If-None-Match": "\"x\", \(tag)"])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
            #expect(again.headers["etag"] == tag)
            try directory.put(entry("+61491570157"))
            let changed = try await directory.ask(Self.path, headers: ["If-None-Match": tag])
            #expect(changed.status == 200)
            #expect(changed.headers["etag"] != tag)
        }
    }

    @Test(arguments: [
        "branding_enabled", "voip_dialer_enabled", "account_status", "cap_this_month", "cap_reached", "debug_ui",
    ])
    func `a gate that moves changes the tag and the time`(gate: String) async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            try directory.change { $0.cap = 1 }
            let first = try await directory.ask(Self.path)
            let (tag, time) = try (#require(first.headers["etag"]), #require(first.headers["last-modified"]))
            switch gate {
            case "branding_enabled": try directory.change { $0.brandingEnabled = false }
            case "voip_dialer_enabled": try directory.change { $0.voipDialerEnabled = false }
            case "account_status": try directory.change { $0.status = "suspended" }
            case "cap_this_month": try directory.change { $0.cap = 5 }
            case "cap_reached": _ = try await directory.report("displayed")
            default: try DebugRequests(directory.database).request(device: nil, expires: directory.time.now + 60)
            }
            // All within the second of the first response.
            #expect(try await directory.ask(Self.path, headers: ["If-None-Match": tag]).status == 200)
            #expect(try await directory.ask(Self.path, headers: ["If-Modified-Since": time]).status == 200)
        }
    }

    @Test func `an event that moves no gate leaves the tag`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            try directory.change { $0.cap = 10 }
            let tag = try #require(try await directory.ask(Self.path).headers["etag"])
            #expect(try await directory.report("displayed").counted == true)
            #expect(try await directory.ask(Self.path, headers: ["If-None-Match": tag]).status == 304)
        }
    }

    @Test func `the time that was sent brings 304, but a tag decides where both are`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            let time = try #require(try await directory.ask(Self.path).headers["last-modified"])
            #expect(time == "Thu, 01 Jan 2026 00:00:00 GMT")
            let headers = ["If-Modified-Since": time]
            #expect(try await directory.ask(Self.path, headers: headers).status == 304)
            let both = ["If-Modified-Since": time, "If-None-Match": "\"other\""]
            #expect(try await directory.ask(Self.path, headers: both).status == 200)
            for other in ["yesterday", "Thu, 01 Jan 2026 00:00:05 GMT", "Thu, 32 Foo 2026 99:00:00 GMT"] {
                #expect(try await directory.ask(Self.path, headers: ["If-Modified-Since": other]).status == 200)
            }
        }
    }

    // RFC 9110 §13.1.3: a state that is not newer than the time is unchanged. A time in the future says nothing.
    @Test(arguments: [
        ("Wed, 31 Dec 2025 23:59:59 GMT", 200), ("Thu, 01 Jan 2026 00:00:00 GMT", 304),
        ("Thu, 01 Jan 2026 00:00:05 GMT", 304), ("Thu, 01 Jan 2026 00:01:00 GMT", 304),
        ("Thu, 01 Jan 2026 00:01:01 GMT", 200), ("Fri, 01 Jan 2027 00:00:00 GMT", 200),
    ])
    func `a time after the state brings 304 until now`(time: String, status: Int) async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            #expect(try await directory.ask(Self.path).status == 200)
            directory.time.now += 60
            #expect(try await directory.ask(Self.path, headers: ["If-Modified-Since": time]).status == status)
            // A change after that time is never missed.
            directory.time.now += 2
            try directory.put(entry("+61491570157"))
            #expect(try await directory.ask(Self.path, headers: ["If-Modified-Since": time]).status == 200)
        }
    }

    @Test func `a whole body has its size in a header, and a stream has none`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            for path in [Self.path, "/api/mobile/config", "/api/mobile/branding/lookup?e164=%2B61491570156"] {
                let response = try await directory.ask(path)
                #expect(response.headers["x-response-size"] == "\(response.body.count)", "\(path)")
            }
            let bad = try await directory.ask("/api/mobile/branding/lookup")
            #expect(bad.status == 400 && bad.headers["x-response-size"] == "\(bad.body.count)")
            let tag = try #require(try await directory.ask(Self.path).headers["etag"])
            let unchanged = try await directory.ask(Self.path, headers: ["If-None-Match": tag])
            #expect(unchanged.status == 304 && unchanged.headers["x-response-size"] == nil)
            _ = try BrandEntries(directory.database).put(
                (0..<1_500).map { try entry("+6149157\(1_000 + $0)") }, now: directory.time.now)
            let long = try await directory.ask(Self.path)
            #expect(long.headers["x-response-size"] == nil && long.body.count > 100_000)
        }
    }

    @Test func `a disk that takes no writes turns no sync down, unchanged or not`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            let first = try await directory.ask(Self.path)
            let (tag, time) = try (#require(first.headers["etag"]), #require(first.headers["last-modified"]))
            try await directory.refuseWrites(to: "sync_delivery", "sync_state")
            for known in [["If-None-Match": tag], ["If-Modified-Since": time]] {
                let unchanged = try await directory.ask(Self.path, headers: known)
                #expect(unchanged.status == 304 && unchanged.headers["etag"] == tag)
            }
            try directory.change { $0.brandingEnabled = false }
            let changed = try await directory.ask(Self.path, headers: ["If-None-Match": tag])
            #expect(changed.status == 200)
            #expect(try changed.decoded(SyncResponse.self).config?.brandingEnabled == false)
            // Nobody keeps the time, so that the next state might get the same.
            #expect(changed.headers["last-modified"] == nil)
            let next = try #require(changed.headers["etag"])
            #expect(try await directory.ask(Self.path, headers: ["If-None-Match": next]).status == 304)
            try await directory.allowWrites(to: "sync_delivery", "sync_state")
            directory.time.now += 5
            let healed = try await directory.ask(Self.path, headers: ["If-None-Match": next])
            #expect(healed.status == 304 && healed.headers["last-modified"] != nil)
        }
    }

    @Test func `counts of unchanged responses wait while the database takes no writes`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            let tag = try #require(try await directory.ask(Self.path).headers["etag"])
            try await directory.refuseWrites(to: "sync_delivery")
            for _ in 0..<2 {
                #expect(try await directory.ask(Self.path, headers: ["If-None-Match": tag]).status == 304)
            }
            await #expect(throws: (any Error).self) { try await directory.database.writeUnchangedResponses() }
            try await directory.allowWrites(to: "sync_delivery")
            #expect(try await directory.ask(Self.path, headers: ["If-None-Match": tag]).status == 304)
            try await directory.database.writeUnchangedResponses()
            let unchanged = try await directory.database.pool.read {
                try $0.value(Int.self, "SELECT unchanged FROM sync_delivery")
            }
            #expect(unchanged == 3)
        }
    }

    @Test func `each query has a tag of its own`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            let cursor = try await directory.sync().syncedAt
            var tags: Set<String?> = []
            let queries = ["", "?since=\(cursor)", "?since=\(cursor)&include_inactive=true", "?device_id=a"]
            for query in queries { tags.insert(try await directory.ask(Self.path + query).headers["etag"]) }
            #expect(tags.count == queries.count)
        }
    }

    @Test func `deactivated entries are delivered on request only, and never in a full response`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"), entry("+61491570157"))
            let cursor = try await directory.sync().syncedAt
            try directory.deactivate("+61491570156")
            let plain = try await directory.ask(Self.path + "?since=\(cursor)")
            #expect(try plain.decoded(SyncResponse.self).branding.isEmpty)
            #expect(!plain.text.contains("is_active"))
            let asked = try await directory.ask(Self.path + "?include_inactive=true&since=\(cursor)")
            #expect(try asked.decoded(SyncResponse.self).branding.map(\.isActive) == [false])
            let full = try await directory.ask(Self.path + "?include_inactive=true")
            #expect(try full.decoded(SyncResponse.self).branding.count == 1)
            #expect(!full.text.contains("is_active"))
            #expect(try await directory.ask(Self.path + "?include_inactive=perhaps").status == 400)
        }
    }

    @Test(arguments: [
        ("gzip", true), ("deflate, GZIP;q=0.5", true), ("*", true), ("x-gzip", true), ("deflate", false),
        ("gzip;q=0", false), ("gzip;q=0, *", false), ("identity", false),
    ])
    func `a client that takes gzip gets it`(accept: String, isCompressed: Bool) async throws {
        try await RunningDirectory.run { directory in
            let entries = try (0..<2500).map { try entry("+6149157\(1000 + $0)", "Brand \($0)") }
            _ = try BrandEntries(directory.database).put(entries, now: ManualTime.start)
            let plain = try await directory.ask(Self.path)
            let response = try await directory.ask(Self.path, headers: ["Accept-Encoding": accept])
            #expect(response.status == 200)
            #expect(response.headers["content-encoding"] == (isCompressed ? "gzip" : nil))
            #expect(response.headers["vary"]?.contains("Accept-Encoding") == true)
            #expect((response.body.count < plain.body.count / 4) == isCompressed)
            var unpacked = response
            if isCompressed { unpacked.body = try await Gunzip.data(response.body) }
            #expect(try unpacked.decoded(SyncResponse.self) == plain.decoded(SyncResponse.self))
        }
    }

    @Test func `each delivered response counts once for its day, and an unchanged one separately`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"), entry("+61491570157"))
            let first = try await directory.ask(Self.path)
            let tag = try #require(first.headers["etag"])
            _ = try await directory.ask(Self.path, headers: ["If-None-Match": tag])
            _ = try await directory.ask(Self.path + "?since=yesterday")
            directory.time.now += 86_400
            _ = try await directory.ask("/" + APIPath.sync, headers: ["Accept-Encoding": "gzip"])
            let deliveries = SyncDeliveries(directory.database)
            let expected = [
                SyncDeliveries.Day(day: "2026-01-01", delivered: 1, entries: 2, unchanged: 1),
                SyncDeliveries.Day(day: "2026-01-02", delivered: 1, entries: 2, unchanged: 0),
            ]
            // The last byte is counted after it was sent.
            var days = try deliveries.days(from: "2026-01-01", through: "2026-12-31")
            for _ in 0..<500 where days != expected {
                try await Task.sleep(for: .milliseconds(10))
                days = try deliveries.days(from: "2026-01-01", through: "2026-12-31")
            }
            #expect(days == expected)
        }
    }
}

extension RunningDirectory {
    /// Lets every row that is written to the tables fail, as on a full disk.
    fileprivate func refuseWrites(to tables: String...) async throws {
        for table in tables {
            for deed in ["INSERT", "UPDATE"] { try database.refuse(deed, on: table) }
        }
    }

    fileprivate func allowWrites(to tables: String...) async throws {
        for table in tables {
            for deed in ["INSERT", "UPDATE"] { try database.allow(deed, on: table) }
        }
    }
}

enum Gunzip {
    static func data(_ bytes: [UInt8]) async throws -> [UInt8] {
        let folder = TemporaryFolder()
        try folder.write(bytes, to: "body.gz")
        _ = try await ChildProgram.run("gzip", ["-d", folder.path + "/body.gz"])
        return Array(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/body")))
    }
}
