// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("POST mobile/device/log", .timeLimit(.minutes(8)), .bothEngines)
struct DeviceLogTests {
    private static func line(_ message: String, device: String = "phone", more: String = "") -> String {
        #"{"device_id":"\#(device)","level":"info","message":"\#(message)","occurred_at":"2026-01-01T00:00:00Z"\#(more)}"#
    }

    private static func run(_ body: @escaping @Sendable (RunningDirectory) async throws -> Void) async throws {
        try await RunningDirectory.run { directory in
            _ = try await directory.post("/" + APIPath.register, #"{"device_id":"phone","platform":"ios"}"#)
            try await body(directory)
        }
    }

    @Test(arguments: ["/", "/api/"])
    func `a line is kept with its device`(mount: String) async throws {
        try await Self.run { directory in
            let more = #","meta":{"event":"sync","success":true,"latency_ms":41}"#
            let response = try await directory.post(mount + APIPath.deviceLog, Self.line("sync:success", more: more))
            #expect(response.status == 200)
            #expect(response.object == ["success": .bool(true)])
            let lines = try DeviceLog(directory.database).lines(of: "phone")
            #expect(
                lines == [
                    DeviceLog.Line(
                        level: "info", message: "sync:success",
                        meta: .object(["event": .string("sync"), "success": .bool(true), "latency_ms": .int(41)]),
                        occurredAt: "2026-01-01T00:00:00Z", receivedAt: "2026-01-01T00:00:00Z")
                ])
        }
    }

    @Test func `the newest fifty stay, whatever a device sends`() async throws {
        try await Self.run { directory in
            for number in 1...120 {
                _ = try await directory.post("/" + APIPath.deviceLog, Self.line("line \(number)"))
            }
            let lines = try #require(try DeviceLog(directory.database).lines(of: "phone"))
            #expect(lines.map(\.message) == (71...120).map { "line \($0)" })
            #expect(try DeviceList(directory.database).page(after: nil, limit: 1).first?.logLines == 120)
        }
    }

    // The published description knows no refusal of a line but 401 and 429; a phone's queue stops at one.
    @Test(arguments: [
        "{}", #"{"device_id":7}"#, #"{"device_id":"phone"}"#, #"{"device_id":"phone","level":9,"message":{}}"#,
        line("of nobody", device: "unknown"), line("x", more: #","meta":"text","more":1"#),
        line("x", more: ",\"meta\":{\"a\":\"\(String(repeating: "x", count: 3_000))\"}"),
    ])
    func `an odd line is accepted`(body: String) async throws {
        try await Self.run { directory in
            let response = try await directory.post("/" + APIPath.deviceLog, body)
            #expect(response.status == 200, "\(response.text)")
            #expect(response.object == ["success": .bool(true)])
        }
    }

    @Test func `a line is cut and cleaned before it is kept`() async throws {
        try await Self.run { directory in
            let hostile = #"a\u001b[2J\r\nb\u202e"# + String(repeating: "x", count: 5_000)
            _ = try await directory.post("/" + APIPath.deviceLog, Self.line(hostile))
            let line = try #require(try DeviceLog(directory.database).lines(of: "phone")?.first)
            #expect(line.message.hasPrefix("a[2Jbx"))
            #expect(line.message.unicodeScalars.count == DeviceLog.longestMessage)
        }
    }

    @Test func `the operator reads the lines, and others than devices have none`() async throws {
        try await Self.run { directory in
            _ = try await directory.post("/" + APIPath.deviceLog, Self.line("sync:success"))
            let key = try AdminKeys(directory.database).create(name: "portal", now: 0)
            let path = "/admin/v1/accounts/main/devices/"
            let response = try await directory.ask(path + "phone/log", headers: ["X-Admin-Key": key])
            guard case .array(let items) = response.object["items"], case .object(let line) = items.first else {
                Issue.record("\(response.text)")
                return
            }
            #expect(line["message"] == .string("sync:success"))
            #expect(try await directory.ask(path + "other/log", headers: ["X-Admin-Key": key]).status == 404)
        }
    }

    @Test func `lines go with their time and with their device`() async throws {
        try await Self.run { directory in
            _ = try await directory.post("/" + APIPath.deviceLog, Self.line("old"))
            let retention = Retention(database: directory.database, keepDays: 1)
            directory.time.now += 86_400
            _ = try await directory.post("/" + APIPath.deviceLog, Self.line("new"))
            while try await retention.removeBatch(now: directory.time.now + 1) {}
            #expect(try DeviceLog(directory.database).lines(of: "phone")?.map(\.message) == ["new"])
            try await directory.database.pool.write { try $0.execute("DELETE FROM device") }
            #expect(try DeviceLog(directory.database).lines(of: "phone") == nil)
        }
    }
}
