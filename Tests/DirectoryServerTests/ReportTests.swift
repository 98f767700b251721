// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Reports and backups", .timeLimit(.minutes(8)), .bothEngines)
struct ReportTests {
    @Test func `a month's report counts by brand, day, outcome and reason`() async throws {
        try await Operator.run { admin in
            let directory = admin.directory
            try directory.put(entry("+61491570156"))
            _ = try await directory.report("displayed", key: "1")
            _ = try await directory.report("displayed", key: "1")
            _ = try await directory.report("returned", key: "2")
            _ = try await directory.report("displayed", number: "+61491570199", key: "3")
            directory.time.now += 86_400
            _ = try await directory.report("displayed", key: "4")
            // 2026-02-01T00:00:00Z.
            directory.time.now = 1_769_904_000
            _ = try await directory.report("displayed", key: "5")
            let report = try #require(try MonthReports(directory.database).reports(month: "2026-01").first)
            #expect(report.counted == 2 && report.uncounted == 2 && report.returned == 1)
            #expect(report.reasons == ["analytics_only": 1, "no_match": 1])
            #expect(
                report.rows.map { "\($0.day) \($0.brandID ?? "-") \($0.outcome) \($0.reason ?? "-") \($0.events)" } == [
                    "2026-01-01 - displayed no_match 1", "2026-01-01 acme displayed - 1",
                    "2026-01-01 acme returned analytics_only 1", "2026-01-02 acme displayed - 1",
                ])
            let response = try await admin.ask("reports/2026-01?account=main")
            guard case .array(let reports) = response.object["reports"], case .object(let first) = reports[0] else {
                Issue.record("\(response.text)")
                return
            }
            #expect(first["time_zone"] == .string("UTC"))
            #expect(first["imprints_counted"] == .int(2) && first["deliveries"] == .int(0))
            let csv = try await admin.ask("reports/2026-01?format=csv")
            #expect(csv.text.contains("main,2026-01-02,acme,Acme Bank,displayed,yes,,1,live\r\n"))
            for path in ["reports/2026-13", "reports/2026", "reports/2026-01-01"] {
                let bad = try await admin.ask(path)
                #expect(bad.status == 400)
            }
        }
    }

    /// Events of docs/events.md: an answered call has `displayed` and `call_seen`, one that nobody took `missed`.
    @Test func `calls of a month are counted by day, brand and end, once each`() async throws {
        try await Operator.run { admin in
            let directory = admin.directory
            try directory.put(entry("+61491570156"))
            func report(_ outcome: String, _ end: String?, _ key: String, _ number: String = "+61491570156")
                async throws
            {
                var event = EventRequest(phoneNumber: number, outcome: outcome, eventKey: key)
                event.meta = end.map { ["call_outcome": .string($0)] }
                _ = try await directory.event(event)
            }
            try await report("displayed", "ANSWERED", "displayed:1")
            for _ in 0..<2 { try await report("call_seen", "ANSWERED", "call_seen:1") }
            try await report("missed", "MISSED", "missed:2")
            try await report("returned", nil, "returned:2")
            try await report("call_seen", "REJECTED", "call_seen:3")
            try await report("call_seen", "ANSWERED", "call_seen:4", "+61491570199")
            directory.time.now += 86_400
            try await report("missed", "BUSY", "missed:5")
            let report = try #require(try MonthReports(directory.database).reports(month: "2026-01").first)
            #expect(
                report.calls.map { "\($0.day) \($0.name ?? "-") \($0.answered) \($0.missed) \($0.returned)" } == [
                    "2026-01-01 - 1 0 0", "2026-01-01 Acme Bank 1 1 1", "2026-01-02 Acme Bank 0 1 0",
                ])
            #expect(MonthReport.callsCSV([report]).contains("main,2026-01-01,acme,Acme Bank,1,1,1,live\r\n"))
            let response = try await admin.ask("reports/2026-01?account=main")
            #expect(response.text.contains(#""answered":1"#))
        }
    }

    @Test func `sync responses of a month are in its report`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let deliveries = SyncDeliveries(database)
        for day in [0, 1, 30, 31] as [Int64] {
            try await deliveries.recordDelivery(entries: 5, now: 1_767_225_600 + day * 86_400)
        }
        #expect(try MonthReports(database).reports(month: "2026-01").map(\.deliveries) == [3])
        #expect(try MonthReports(database).reports(month: "2026-02").map(\.deliveries) == [1])
    }

    /// The reporting terms of securenode-endpoint-contract §7b that no event tells.
    @Test func `acknowledgements and lookups of a month are in its report`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            let ack = #"{"last_synced_at":"2026-01-01T00:00:00Z","e164_numbers":["+61491570156"]}"#
            for _ in 0..<2 { #expect(try await directory.post("/api/" + APIPath.sync, ack).status == 200) }
            for number in ["61491570156", "61491570157", "61491570158"] {
                for format in ["", "&format=public"] {
                    let path = "/" + APIPath.lookup + "?e164=%2B\(number)\(format)"
                    #expect(try await directory.ask(path).status == 200)
                }
            }
            // 2026-02-01T00:00:00Z.
            directory.time.now = 1_769_904_000
            #expect(try await directory.post("/api/" + APIPath.sync, ack).status == 200)
            let months = try ["2026-01", "2026-02"].map {
                try #require(try MonthReports(directory.database).reports(month: $0).first)
            }
            #expect(months.map(\.acknowledgements) == [2, 1])
            #expect(months.map(\.matched) == [2, 0] && months.map(\.notMatched) == [4, 0])
        }
    }

    @Test(.sqliteAlone) func `a backup is a whole database of its own that others cannot read`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put("+61491570156")
            let copy = TemporaryFolder()
            let path = copy.path + "/directory.sqlite"
            try directory.database.backUp(to: path)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let restored = try Engine.open(copy.path, creates: false)
            #expect(try BrandEntries(restored).active(limit: 9).map(\.phoneNumber) == ["+61491570156"])
            #expect(throws: DatabaseBackupError.self) { try directory.database.backUp(to: path) }
            #expect(throws: DatabaseBackupError.self) { try directory.database.backUp(to: copy.path + "/no/x") }
        }
    }
}
