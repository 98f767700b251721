// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

/// mobile-api, "Batch Operations": operations of several resources in one request.
@Suite("Imprints and devices in a batch", .timeLimit(.minutes(8)), .bothEngines)
struct BatchOperationTests {
    private static let event =
        #"{"type":"create","resource":"event","data":{"phone_number_e164":"+61491570156","outcome":"displayed","event_key":"e"}}"#

    private static func imprint(_ device: String, number: String = "+61491570156") -> String {
        #"{"type":"create","resource":"imprint","data":{"phone_number_e164":"\#(number)","#
            + #""displayed_at":"2026-01-01T00:00:00Z","device_id":"\#(device)"}}"#
    }

    private static func update(_ device: String, _ version: String) -> String {
        #"{"type":"update","resource":"device","data":{"device_id":"\#(device)","app_version":"\#(version)"}}"#
    }

    private static func send(_ operations: [String], _ directory: RunningDirectory) async throws -> ReceivedResponse {
        try await directory.post(
            "/" + APIPath.batch, "{\"operations\":[\(operations.joined(separator: ","))]}")
    }

    private static func register(_ device: String, _ directory: RunningDirectory) async throws {
        let done = try await directory.post(
            "/" + APIPath.register, #"{"device_id":"\#(device)","platform":"ios"}"#)
        #expect(done.status == 200)
    }

    private static func results(_ response: ReceivedResponse) -> [[String: JSONValue]] {
        guard case .array(let results) = response.object["results"] else { return [] }
        return results.map { if case .object(let fields) = $0 { fields } else { [:] } }
    }

    @Test func `a create and an update have a result each, in order and in the seed's shape`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            try await Self.register("a", directory)
            let response = try await Self.send(
                [Self.update("a", "1"), Self.imprint("a"), Self.event, Self.update("a", "2")], directory)
            #expect(response.status == 200)
            let results = Self.results(response)
            #expect(results.count == 4)
            #expect(results.allSatisfy { $0["status"] == .string("success") && $0["status_code"] == .int(200) })
            #expect(results[0]["resource_id"] == .string("a"))
            let updated: JSONValue = .object([
                "success": .bool(true), "updated_at": .string("2026-01-01T00:00:00Z"),
            ])
            #expect(results[0]["data"] == updated)
            // Alone, the same imprint is the same one.
            let alone = try await directory.post(
                "/" + APIPath.imprint,
                #"{"phone_number_e164":"+61491570156","displayed_at":"2026-01-01T00:00:00Z","device_id":"a"}"#)
            #expect(results[1]["data"] == .object(alone.object))
            #expect(results[1]["resource_id"] == alone.object["imprint_id"])
            #expect(
                results[2]["resource_id"] == .string(try await directory.report("displayed", key: "e").eventID ?? ""))
            #expect(try DeviceList(directory.database).page(after: nil, limit: 9).map(\.appVersion) == ["2"])
        }
    }

    @Test func `a bad operation harms no other one`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156"))
            try await Self.register("a", directory)
            let operations = [
                Self.update("nobody", "1"), Self.update("a", "1"),
                #"{"type":"update","resource":"device","data":{"app_version":"1"}}"#,
                #"{"type":"create","resource":"imprint","data":{}}"#, Self.imprint("a"),
                #"{"type":"create","resource":"device","data":{"device_id":"b"}}"#,
                #"{"type":"update","resource":"imprint","data":{"device_id":"b"}}"#,
                #"{"type":"update","resource":"event","data":{}}"#,
                #"{"type":"update","resource":"device","data":[]}"#, Self.event,
            ]
            let response = try await Self.send(operations, directory)
            let results = try response.decoded(BatchResponse.self).results
            #expect(results.map(\.statusCode) == [404, 200, 400, 400, 200, 400, 400, 400, 400, 200])
            #expect(results[0].error?.code == "not_registered")
            #expect(results[2].error?.error == "Missing field device_id")
            #expect(results[5].error?.error.contains("update a device") == true)
            #expect(results.last?.data?.counted == true)
            #expect(try DeviceList(directory.database).page(after: nil, limit: 9).map(\.appVersion) == ["1"])
        }
    }

    @Test func `the day's limit refuses the imprints above it, and the others are stored`() async throws {
        try await RunningDirectory.run(storedPerDay: 2_000) { directory in
            try directory.put(entry("+61491570156"))
            let operations = (0..<12).map { Self.imprint("device-\($0)") } + [Self.event]
            let results = try await Self.send(operations, directory).decoded(BatchResponse.self).results
            let codes = results.map(\.statusCode)
            let stored = codes.prefix { $0 == 200 }.count
            #expect((1..<12).contains(stored))
            #expect(Array(codes.dropFirst(stored).dropLast()) == Array(repeating: 429, count: 12 - stored))
            #expect(results[11].error?.code == "QUOTA_REACHED")
            #expect(results.last?.data?.counted == true)
        }
    }

    @Test func `500 operations of all kinds are taken, and 501 are not`() async throws {
        try await RunningDirectory.run { directory in
            try await Self.register("a", directory)
            let operations = (0..<500).map { $0 % 2 == 0 ? Self.imprint("d\($0)") : Self.update("a", "\($0)") }
            let results = try await Self.send(operations, directory).decoded(BatchResponse.self).results
            #expect(results.count == 500 && results.allSatisfy { $0.isSuccess })
            let refused = try await Self.send(operations + [Self.event], directory)
            #expect(refused.isEnvelope("bad_request"))
            #expect(try DeviceList(directory.database).page(after: nil, limit: 9).map(\.appVersion) == ["499"])
        }
    }
}
