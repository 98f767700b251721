// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("What an account may store, and what a key may ask", .timeLimit(.minutes(8)), .bothEngines)
struct AccountQuotaTests {
    private static let number = "+61491570156"

    private static func run(_ body: @escaping @Sendable (RunningDirectory) async throws -> Void) async throws {
        try await RunningDirectory.run(storedPerDay: 2_000) { directory in
            try directory.put(entry(number))
            try await body(directory)
        }
    }

    /// Reports telemetry until the day's bound is reached.
    private static func fill(_ directory: RunningDirectory) async throws -> [String?] {
        var reasons: [String?] = []
        for key in 0..<12 { reasons.append(try await directory.report("missed", key: "missed-\(key)").reason) }
        return reasons
    }

    @Test func `events that do not count are dropped above the bound, and counted ones are stored`() async throws {
        try await Self.run { directory in
            let reasons = try await Self.fill(directory)
            let stored = reasons.count { $0 == "analytics_only" }
            #expect((2...11).contains(stored))
            #expect(
                reasons == Array(repeating: "analytics_only", count: stored)
                    + Array(repeating: "event_dropped", count: 12 - stored))
            let displayed = try await directory.report("displayed", key: "displayed-1")
            #expect(displayed.counted == true)
            // What is stored has its first response, whatever has happened since.
            #expect(try await directory.report("missed", key: "missed-0").reason == "analytics_only")
            #expect(try EventLedger(directory.database).page(.init(), limit: 100).events.count == stored + 1)
            let report = try #require(try MonthReports(directory.database).reports(month: "2026-01").first)
            #expect(report.counted == 1 && report.reasons["event_dropped"] == 12 - stored)
            directory.time.now += 86_400
            #expect(try await directory.report("missed", key: "next day").reason == "analytics_only")
        }
    }

    @Test func `a batch of events is held to the bound too`() async throws {
        try await Self.run { directory in
            let events = (0..<20).map { number in
                #"{"type":"create","resource":"event","data":{"phone_number_e164":"+61491570156","outcome":"missed","event_key":"\#(number)"}}"#
            }
            let response = try await directory.post(
                "/" + APIPath.batch, #"{"operations":[\#(events.joined(separator: ","))]}"#)
            #expect(response.status == 200 && response.text.contains("event_dropped"))
            #expect(try EventLedger(directory.database).page(.init(), limit: 100).events.count < 12)
        }
    }

    @Test func `new devices and imprints are refused above the bound, known devices are not`() async throws {
        try await Self.run { directory in
            func register(_ device: String) async throws -> ReceivedResponse {
                try await directory.post("/" + APIPath.register, #"{"device_id":"\#(device)","platform":"ios"}"#)
            }
            #expect(try await register("first").status == 200)
            _ = try await Self.fill(directory)
            let device = try await register("second")
            #expect(device.status == 429 && device.isEnvelope("QUOTA_REACHED"))
            // The manual clock stands at midnight.
            #expect(device.headers["retry-after"] == "86400")
            #expect(try await register("first").status == 200)
            let imprint = try await directory.post(
                "/" + APIPath.imprint,
                #"{"phone_number_e164":"+61491570156","displayed_at":"2026-01-01T00:00:00Z","device_id":"first"}"#)
            #expect(imprint.status == 429)
            directory.time.now += 86_400
            #expect(try await register("second").status == 200)
        }
    }

    @Test func `the key of a phone has no limits of a gateway, whatever it calls itself`() async throws {
        let limits = RateLimits(web: 2, mobileIOS: 2, mobileAndroid: 2, herald: 0, wrongKeys: 0)
        try await RunningDirectory.run(limits: limits) { directory in
            let accounts = AccountStore(directory.database)
            // No sync: it is the last request that a limit refuses.
            let path = "/" + APIPath.lookup + "?e164=%2B61491570156"
            let phone = try accounts.createKey(name: "phones", kind: .phone, now: 1)
            let rotated = try accounts.rotateKey("phones", now: directory.time.now).key
            for (key, isLimited) in [(phone, true), (rotated, true), (directory.key, false)] {
                var statuses: [Int] = []
                for _ in 0..<3 {
                    let headers = ["X-API-Key": key, "X-Client-Type": "herald"]
                    statuses.append(try await directory.ask(path, headers: headers).status)
                }
                #expect(statuses == [200, 200, isLimited ? 429 : 200])
            }
            #expect(try accounts.keys().filter { $0.name == "phones" }.map(\.kind) == [.phone, .phone])
        }
    }

    @Test func `keys of a database without kinds are those of gateways`() throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        try database.pool.write { database in
            try database.execute(
                "INSERT INTO api_key (hash, account, name, created) VALUES (?, 1, 'old', 1)", [Data([0])])
        }
        #expect(try AccountStore(database).keys().map(\.kind) == [.gateway])
    }

    @Test(arguments: [("-2", false), ("-1", true), ("0", true)])
    func `a cap is a number of events, or -1 for none`(cap: String, isTaken: Bool) async throws {
        try await Operator.run { admin in
            let response = try await admin.ask("accounts/main", method: "PATCH", #"{"cap_this_month":\#(cap)}"#)
            #expect(response.status == (isTaken ? 200 : 400), "\(response.text)")
        }
    }
}
