// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("POST mobile/sync/batch, mobile/branding/imprint and GET mobile/config", .timeLimit(.minutes(8)), .bothEngines)
struct BatchTests {
    private static let number = "+61491570156"

    private static func operation(_ key: String, outcome: String = "displayed", number: String = number) -> String {
        #"{"type":"create","resource":"event","data":{"phone_number_e164":"\#(number)","outcome":"\#(outcome)","#
            + #""event_key":"\#(key)"}}"#
    }

    private static func batch(_ operations: [String]) -> String {
        "{\"operations\":[\(operations.joined(separator: ","))]}"
    }

    @Test func `each operation is judged alone, and the good ones are stored`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            let bad = [
                Self.operation("b", number: "0491"), "7", #"{"type":"delete","resource":"event","data":{}}"#,
                #"{"type":"create","resource":"event"}"#,
                #"{"type":"create","resource":"event","data":{"outcome":"x","phone_number_e164":"+1202","z":1}}"#,
            ]
            let response = try await directory.post(
                "/api/" + APIPath.batch,
                Self.batch([Self.operation("a")] + bad + [Self.operation("c", outcome: "missed")]))
            #expect(response.status == 200)
            let results = try response.decoded(BatchResponse.self).results
            #expect(results.map(\.statusCode) == [200, 202, 400, 400, 400, 202, 200])
            #expect(results.first?.data?.counted == true)
            #expect(results.last?.data?.reason == "analytics_only")
            #expect(results[1].data?.reason == "event_dropped")
            #expect(results[1].data?.warningCode == "invalid_phone_number_e164")
            #expect(results[3].error?.error.contains("create an event") == true)
            #expect(results[0].resourceID == results[0].data?.eventID)
            let kept = try EventLedger(directory.database).page(.init(), limit: 10).events
            #expect(kept.map(\.eventKey) == ["c", nil, "b", "a"])
        }
    }

    @Test func `a key counts once, in one batch, in two, and alone`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            let batch = Self.batch([Self.operation("a"), Self.operation("a")])
            let first = try await directory.post("/" + APIPath.batch, batch).decoded(BatchResponse.self)
            let second = try await directory.post("/" + APIPath.batch, batch).decoded(BatchResponse.self)
            let alone = try await directory.report("displayed", key: "a")
            #expect(Set((first.results + second.results).map(\.resourceID)) == [alone.eventID])
            #expect(alone.config?.usedThisMonth == 1)
        }
    }

    @Test func `the cap holds within a batch`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            try directory.change { $0.cap = 2 }
            let batch = Self.batch((0..<4).map { Self.operation("\($0)") })
            let results = try await directory.post("/" + APIPath.batch, batch).decoded(BatchResponse.self).results
            #expect(results.map(\.data?.counted) == [true, true, false, false])
            #expect(results.last?.data?.reason == "cap_reached")
        }
    }

    @Test(arguments: [0, 501]) func `a batch has 1 to 500 operations`(count: Int) async throws {
        try await RunningDirectory.run { directory in
            let body = Self.batch([String](repeating: "1", count: count))
            let response = try await directory.post("/" + APIPath.batch, body)
            #expect(response.isEnvelope("bad_request"))
        }
    }

    @Test func `500 operations are taken`() async throws {
        try await RunningDirectory.run { directory in
            let body = Self.batch((0..<500).map { Self.operation("\($0)", outcome: "missed") })
            let results = try await directory.post("/" + APIPath.batch, body).decoded(BatchResponse.self).results
            #expect(results.count == 500)
            #expect(results.allSatisfy { $0.isSuccess })
        }
    }

    @Test func `an imprint is kept once for a device, number and time`() async throws {
        try await RunningDirectory.run { directory in
            let body = #"{"phone_number_e164":"+61491570156","displayed_at":"2026-01-01T00:00:00Z","device_id":"a"}"#
            let first = try await directory.post("/" + APIPath.imprint, body)
            let again = try await directory.post("/api/" + APIPath.imprint, body)
            #expect(first.status == 200)
            #expect(first.object == again.object)
            let other = try await directory.post("/" + APIPath.imprint, body.replacing("\"a\"", with: "\"b\""))
            let ids = try [first, other].map { try $0.decoded(ImprintResponse.self).imprintID }
            #expect(ids[0] != ids[1])
            #expect(try await directory.sync().config?.usedThisMonth == 0)
        }
    }

    // One of the published SDKs leaves the time out; no phone sends an imprint again.
    @Test(arguments: [
        #"{"phone_number_e164":"+61491570156","device_id":"a"}"#,
        #"{"phone_number_e164":"+61491570156","displayed_at":null,"device_id":"a","platform":"android"}"#,
        #"{"phone_number_e164":"+61491570156","displayed_at":"now","device_id":"a"}"#,
        #"{"phone_number_e164":"12345","device_id":"a"}"#, #"{"device_id":"a","x":1}"#,
    ])
    func `an imprint without its time has the server's`(body: String) async throws {
        try await RunningDirectory.run { directory in
            let response = try await directory.post("/" + APIPath.imprint, body)
            #expect(response.status == 200, "\(response.text)")
            #expect(try response.decoded(ImprintResponse.self).displayedAt == "2026-01-01T00:00:00Z")
        }
    }

    @Test func `the remote configuration says what the operator set and what the server offers`() async throws {
        var clients = ClientSettings()
        clients.herald = .init(minimum: "1.0.0", latest: "1.2.0")
        try await RunningDirectory.run(clients: clients) { directory in
            let path = "/api/" + APIPath.configuration
            let response = try await directory.ask(path + "?platform=sip&app_version=1.1").decoded(
                RemoteConfiguration.self)
            #expect(response.platform == "sip")
            #expect(response.minimumVersion == "1.0.0")
            #expect(response.latestVersion == "1.2.0")
            #expect(response.forceUpdate == false)
            #expect(response.features.eventBatch == true && response.features.tombstones == true)
            #expect(response.settings.maxBatchSize == 500)
            #expect(response.settings.syncIntervalMinutes == 15)
            #expect(try await directory.ask(path).isEnvelope("bad_request"))
        }
    }

    /// Mobile API, "Mobile Configuration": versions are those of the platform that asks.
    @Test(
        arguments: [
            ("ios", "mobile-ios", "1.0.0", "1.2.0", true), ("iOS", "web", "1.0.0", "1.2.0", true),
            ("android", "mobile-android", nil, "3.1", true), ("linux", "herald", nil, nil, false),
            ("sip", "web", nil, nil, false), ("ios", "herald", nil, nil, false), ("windows", "web", nil, nil, false),
        ] as [(String, String, String?, String?, Bool)])
    func `a platform gets its own versions, or none`(
        platform: String, type: String, minimum: String?, latest: String?, isForced: Bool
    ) async throws {
        var clients = ClientSettings()
        clients.ios = .init(minimum: "1.0.0", latest: "1.2.0")
        clients.android = .init(latest: "3.1")
        clients.forceUpdate = true
        try await RunningDirectory.run(clients: clients) { directory in
            let response = try await directory.ask(
                "/" + APIPath.configuration + "?platform=\(platform)", headers: ["X-Client-Type": type]
            ).decoded(RemoteConfiguration.self)
            #expect(response.platform == platform)
            #expect(response.minimumVersion == minimum && response.latestVersion == latest)
            #expect(response.forceUpdate == isForced)
        }
    }

    @Test func `an event of an entry without a brand is kept and not counted`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(.init(number: entry(Self.number).number, name: "Nobody", brandID: ""))
            let nobody = try await directory.event(EventRequest(phoneNumber: Self.number, outcome: "displayed"))
            #expect(nobody.reason == "owner_unresolved")
            #expect(try EventLedger(directory.database).page(.init(), limit: 10).events.count == 1)
        }
    }
}
