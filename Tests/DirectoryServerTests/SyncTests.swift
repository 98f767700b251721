// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import ConfigurationFiles
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("GET and POST mobile/branding/sync", .timeLimit(.minutes(8)), .bothEngines)
struct SyncTests {
    @Test(arguments: [false, true])
    func `a phone gets a removed number once more, without a name, if the operator wants it`(isOn: Bool) async throws {
        var clients = ClientSettings()
        clients.blanksRemovedNumbers = isOn
        try await RunningDirectory.run(clients: clients) { directory in
            try directory.put("+61491570156", "+61491570157", logo: "https://l.example/a.png", reason: "Your order")
            let phone = try AccountStore(directory.database).createKey(name: "phones", kind: .phone, now: 1)
            func sync(_ key: String, _ query: String) async throws -> [BrandingItem] {
                let response = try await directory.ask("/" + APIPath.sync + query, headers: ["X-API-Key": key])
                return try response.decoded(SyncResponse.self).branding
            }
            let cursor = try await directory.sync().syncedAt
            try directory.deactivate("+61491570156")
            let changes = try await sync(phone, "?since=\(cursor)")
            #expect(changes.map(\.phoneNumber) == (isOn ? ["+61491570156"] : []))
            for change in changes {
                #expect(change.brandName == "" && change.logoURL == nil && change.callReason == nil)
                #expect(change.isActive == nil && change.brandID == "brand-1")
            }
            // A full response never has it, and a client that asks for such entries gets them as before.
            #expect(try await sync(phone, "").map(\.phoneNumber) == ["+61491570157"])
            #expect(try await sync(phone, "?since=\(cursor)&include_inactive=true").map(\.isActive) == [false])
            #expect(try await sync(directory.key, "?since=\(cursor)").isEmpty)
        }
    }

    @Test(arguments: ["/mobile/branding/sync", "/api/mobile/branding/sync"])
    func `without since every active entry comes, with everything it has`(path: String) async throws {
        try await RunningDirectory.run { directory in
            try directory.put(
                entry("+61491570156", "Käthe & \"Co\"", logo: "https://logos.example/a.png", reason: "Your order"),
                entry("+442079460958"), entry("+12025550142"))
            try directory.deactivate("+12025550142")
            let response = try await directory.ask(path)
            #expect(response.status == 200)
            #expect(response.headers["content-type"] == "application/json; charset=utf-8")
            let sync = try response.decoded(SyncResponse.self)
            #expect(sync.success)
            let first = BrandingItem(
                phoneNumber: "+61491570156", brandName: "Käthe & \"Co\"", brandID: "acme",
                updatedAt: "2026-01-01T00:00:00Z", logoURL: "https://logos.example/a.png", callReason: "Your order")
            #expect(sync.branding.first == first)
            #expect(sync.branding.map(\.phoneNumber) == ["+61491570156", "+442079460958"])
        }
    }

    @Test func `the config says all that the contract asks for`() async throws {
        try await RunningDirectory.run { directory in
            let object = try await directory.ask("/mobile/branding/sync").decoded([String: JSONValue].self)
            guard case .object(var config) = object["config"] else {
                Issue.record("no config")
                return
            }
            guard case .string(let client) = config.removeValue(forKey: "client_id") else {
                Issue.record("no client_id")
                return
            }
            #expect(client.count == 32)
            #expect(
                config == [
                    "mode": .string("live"), "branding_enabled": .bool(true), "voip_dialer_enabled": .bool(true),
                    "account_status": .string("active"), "used_this_month": .int(0), "cap_this_month": .null,
                    "included_imprints_monthly": .int(0),
                    "debug_ui": .object([
                        "enabled": .bool(false), "request_upload": .bool(false), "expires_at": .null,
                        "allow_export": .bool(false),
                    ]),
                ])
        }
    }

    @Test func `with since only what changed comes, and what is no longer active says so`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"), entry("+61491570157"), entry("+61491570158"))
            let full = try await directory.sync()
            #expect(try await directory.sync(since: full.syncedAt).branding.isEmpty)
            // All in the same second as the cursor.
            #expect(try directory.put(entry("+61491570157", "Acme Bank & Sons")).changed == 1)
            #expect(try directory.put(entry("+61491570158")).unchanged == 1)
            try directory.deactivate("+61491570156")
            let next = try await directory.sync(since: full.syncedAt)
            #expect(next.branding.map(\.phoneNumber) == ["+61491570157", "+61491570156"])
            #expect(next.branding.map(\.isActive) == [nil, false])
            #expect(try await directory.sync(since: next.syncedAt).branding.isEmpty)
            try directory.put(entry("+61491570156"))
            let again = try await directory.sync(since: next.syncedAt)
            #expect(again.branding.map(\.isActive) == [nil])
        }
    }

    @Test func `a cursor is a time that ISO 8601 readers understand`() async throws {
        try await RunningDirectory.run { directory in
            let cursor = try await directory.sync().syncedAt
            #expect(cursor == "2026-01-01T00:00:00.000000000Z")
            #expect(Timestamp.seconds(from: cursor) == ManualTime.start)
        }
    }

    @Test(arguments: [
        ("2026-01-01T00:00:00Z", ["+61491570157"]), ("2025-12-31T23:59:59.500Z", ["+61491570156", "+61491570157"]),
        ("2026-01-01T10:00:00+10:00", ["+61491570157"]), ("2026-01-02T00:00:00Z", []),
        // Of a database that was replaced: only its time means something here.
        ("2026-01-01T00:00:00.000000009999Z", ["+61491570157"]),
    ])
    func `a time of the client's own brings what changed at or after it`(
        since: String, expected: [String]
    ) async throws {
        try await RunningDirectory.run { directory in
            directory.time.now = ManualTime.start - 1
            try directory.put(entry("+61491570156"))
            directory.time.now = ManualTime.start
            try directory.put(entry("+61491570157"))
            #expect(try await directory.sync(since: since).branding.map(\.phoneNumber) == expected)
        }
    }

    @Test func `a bare plus sign in since is still a plus sign, and an empty since is none`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            let response = try await directory.ask("/mobile/branding/sync?since=2026-02-01T10:00:00+10:00")
            #expect(response.status == 200)
            #expect(try response.decoded(SyncResponse.self).branding.isEmpty)
            let all = try await directory.ask("/mobile/branding/sync?since=&device_id=phone")
            #expect(try all.decoded(SyncResponse.self).branding.count == 1)
        }
    }

    @Test func `a change never looks older than what it replaces`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            directory.time.now = ManualTime.start - 3600
            try directory.put(entry("+61491570156", "Acme Bank & Sons"))
            #expect(try await directory.sync().branding.first?.updatedAt == "2026-01-01T00:00:00Z")
        }
    }

    @Test func `a large set comes whole, every number once`() async throws {
        try await RunningDirectory.run { directory in
            let entries = try (0..<2500).map { try entry("+6149157\(1000 + $0)", "Brand \($0)") }
            #expect(try BrandEntries(directory.database).put(entries, now: ManualTime.start).changed == 2500)
            let response = try await directory.sync()
            #expect(response.branding.map(\.phoneNumber) == entries.map(\.number.description))
            #expect(response.branding.map(\.brandName) == entries.map(\.name))
        }
    }

    @Test func `an acknowledgement gets its own time back`() async throws {
        try await RunningDirectory.run { directory in
            let response = try await directory.post(
                "/api/mobile/branding/sync",
                #"{"last_synced_at":"2026-01-01T00:00:00Z","e164_numbers":["+61491570156"]}"#)
            #expect(response.status == 200)
            #expect(
                try response.decoded([String: JSONValue].self)
                    == ["success": .bool(true), "last_synced_at": .string("2026-01-01T00:00:00Z")])
        }
    }

    // The published acknowledgement requires nothing, and a phone leaves the numbers out where none changed.
    @Test(arguments: [
        ("{}", "2026-01-01T00:00:00Z"),
        (#"{"last_synced_at":"2025-12-31T23:59:00.000000042Z"}"#, "2025-12-31T23:59:00.000000042Z"),
        (#"{"last_synced_at":null,"e164_numbers":null}"#, "2026-01-01T00:00:00Z"),
        (#"{"last_synced_at":"then","e164_numbers":7,"more":[]}"#, "2026-01-01T00:00:00Z"),
        (#"{"e164_numbers":["+61491570156","12345"]}"#, "2026-01-01T00:00:00Z"),
    ])
    func `an acknowledgement may lack anything`(body: String, time: String) async throws {
        try await RunningDirectory.run { directory in
            let response = try await directory.post("/" + APIPath.sync, body)
            #expect(response.status == 200, "\(response.text)")
            #expect(response.object == ["success": .bool(true), "last_synced_at": .string(time)])
        }
    }
}
