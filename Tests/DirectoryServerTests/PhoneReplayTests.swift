// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Foundation
import TestFixtures
import Testing

/// The published SDKs' requests, as the SDKs send them: no phone loses data, none shows what it must not show.
@Suite("Phones with the published SDKs", .timeLimit(.minutes(8)), .bothEngines)
struct PhoneReplayTests {
    private static let number = "+61491570156"
    /// The limits of Config/herald-directory.yaml.
    private static let usual = RateLimits(
        web: 200, mobileIOS: 300, mobileAndroid: 300, herald: 600_000, key: 600_000, wrongKeys: 30)

    private static func run(_ body: @escaping @Sendable (RunningDirectory) async throws -> Void) async throws {
        try await RunningDirectory.run(logos: true, limits: usual) { directory in
            try directory.put(
                entry(number, "Acme Bank", logo: "acme.png", reason: "Your order"), entry("+61491570157", "Acme Shop"))
            try await body(directory)
        }
    }

    /// Nothing was refused, nothing waits, nothing was thrown away, every response has its published shape.
    private static func isWell(_ phone: PhoneModel, _ location: SourceLocation = #_sourceLocation) async {
        #expect(await phone.problems == [], sourceLocation: location)
        #expect(await phone.refusals == [], sourceLocation: location)
        #expect(await phone.resets == 0, sourceLocation: location)
        #expect(await phone.waitingEvents == [], sourceLocation: location)
        #expect(await phone.waitingLines == [], sourceLocation: location)
    }

    @Test(arguments: [["/api/", "/"], ["/"]])
    func `a phone lives: launch, syncs, calls, lookups, upload, presence`(mounts: [String]) async throws {
        try await Self.run { directory in
            let phone = PhoneModel(directory, mounts: mounts)
            try await phone.launch()
            #expect(await phone.brands == [Self.number: "Acme Bank", "+61491570157": "Acme Shop"])
            #expect(try await phone.ring(Self.number) == "Acme Bank")
            #expect(try await phone.ring("+61491570199") == nil)
            #expect(try await phone.lookUp("+61491570199") == nil)
            // Nothing changed: the acknowledgement goes without numbers.
            try await phone.sync()
            directory.time.now += 1
            try directory.put(entry("+61491570158", "Acme Club"))
            try DebugRequests(directory.database).request(
                device: phone.device, expires: directory.time.now + 600, now: directory.time.now)
            try await phone.sync()
            try await phone.sync()
            #expect(await phone.brands.count == 3)
            try await phone.presence()
            await Self.isWell(phone)
            #expect(try DebugUploads(directory.database).latest(limit: 5).map(\.device) == [phone.device])
            let lines = try DeviceLog(directory.database).lines(of: phone.device)
            #expect(lines?.map(\.message).filter { $0 == "sync:success" }.count == 4)
            let device = try DeviceList(directory.database).page(after: nil, limit: 1).first
            #expect(device?.customerName == "Example Pty Ltd")
            #expect(device?.capabilities == ["background_refresh": .bool(true)])
        }
    }

    // The first failure stops a phone's queue for a week.
    @Test(arguments: ["12345", "61491570156", "", "anonymous", "+61 491 570 156"])
    func `a call from no number of the world does not hold up the calls behind it`(odd: String) async throws {
        try await Self.run { directory in
            let phone = PhoneModel(directory)
            try await phone.launch()
            await phone.reportOffline(odd, "displayed", key: "odd")
            await phone.reportOffline(Self.number, "displayed", key: "good")
            try await phone.sync()
            await Self.isWell(phone)
            let kept = try EventLedger(directory.database).page(.init(), limit: 5).events
            #expect(kept.map(\.eventKey) == ["good", "odd"])
            #expect(kept.map(\.counted) == [true, false])
            #expect(kept.map(\.reason) == [nil, "event_dropped"])
        }
    }

    @Test func `six phones of one key are launched again and again at once`() async throws {
        try await Self.run { directory in
            let phones = (0..<6).map { _ in PhoneModel(directory) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for phone in phones {
                    group.addTask {
                        for round in 0..<5 {
                            await phone.reportOffline(Self.number, "displayed", key: "\(phone.device) \(round)")
                            try await phone.launch()
                        }
                    }
                }
                try await group.waitForAll()
            }
            for phone in phones {
                await Self.isWell(phone)
                #expect(await phone.brands.count == 2)
            }
            #expect(try await directory.sync().config?.usedThisMonth == 30)
        }
    }

    @Test func `a phone that repeats itself too fast loses its turn, never its brands`() async throws {
        let narrow = RateLimits(web: 20, mobileIOS: 20, mobileAndroid: 20, herald: 20, key: 1_000, wrongKeys: 30)
        try await RunningDirectory.run(limits: narrow) { directory in
            try directory.put(entry(Self.number))
            let phone = PhoneModel(directory)
            try await phone.launch()
            for round in 0..<15 { try await phone.report(Self.number, "displayed", key: "\(round)") }
            #expect(await phone.refusals.contains(429))
            try await phone.sync()
            #expect(await phone.resets == 0)
            #expect(await phone.brands.count == 1)
            // The queue goes out in the next minute, whole.
            directory.time.now += 60
            try await phone.sync()
            directory.time.now += 60
            try await phone.sync()
            #expect(await phone.waitingEvents.isEmpty)
            #expect(try await directory.sync().config?.usedThisMonth == 15)
        }
    }

    @Test(arguments: ["suspended", "capped", "switched off"])
    func `a phone of an account that may not brand shows nothing, and loses nothing`(gate: String) async throws {
        try await Self.run { directory in
            let phone = PhoneModel(directory)
            try await phone.launch()
            #expect(try await phone.ring(Self.number) == "Acme Bank")
            try directory.change {
                switch gate {
                case "suspended": $0.status = "suspended"
                case "capped": $0.cap = 0
                default: $0.brandingEnabled = false
                }
            }
            // Between two syncs the next response to a report closes the gate.
            try await phone.report(Self.number, "missed", key: "missed")
            #expect(try await phone.ring(Self.number) == nil)
            let fresh = PhoneModel(directory)
            try await fresh.launch()
            #expect(try await fresh.ring(Self.number) == nil)
            #expect(try await fresh.lookUp(Self.number) == nil)
            try directory.change { ($0.status, $0.cap, $0.brandingEnabled) = ("active", -1, true) }
            try await phone.sync()
            #expect(try await phone.ring(Self.number) == "Acme Bank")
            await Self.isWell(phone)
            await Self.isWell(fresh)
        }
    }

    /// A request of the Android SDKs that differs from what an iPhone sends.
    struct Android: Sendable, CustomTestStringConvertible {
        var method = "POST"
        var path: String
        var query = ""
        var body = ""

        var testDescription: String { "\(method) \(path)\(query)" }
    }

    // securenode-android-sdk: network/ApiClient.kt, branding/net/ApiModels.kt, debug/DebugUploader.kt.
    @Test(
        arguments: [
            Android(method: "GET", path: APIPath.sync, query: "?since=2025-12-31T23%3A59%3A59.123Z&device_id=and-1"),
            Android(method: "GET", path: APIPath.lookup, query: "?e164=%252B61491570156&device_id=and-1"),
            Android(
                path: APIPath.register, body: #"{"device_id":"and-1","platform":"android","device_type":"Pixel 8"}"#),
            Android(
                path: APIPath.update,
                body:
                    #"{"device_id":"and-1","platform":"android","app_version":null,"capabilities":{"contacts_enabled":true,"call_directory_enabled":null}}"#
            ),
            Android(
                path: APIPath.imprint,
                body: #"{"phone_number_e164":"+61491570156","device_id":"and-1","platform":"android"}"#),
            Android(
                path: APIPath.event,
                body:
                    #"{"phone_number_e164":"+61491570156","outcome":"displayed","surface":"call_screening","device_id":"and-1","branding_request_id":null,"displayed_at":"2026-01-01T00:00:00.123Z","idempotency_key":"9f86d081","event_key":"9f86d081","meta":{"call_id":"1"}}"#
            ),
            Android(path: APIPath.sync, body: #"{"e164_numbers":null,"last_synced_at":null}"#),
        ], ["/api/", "/"])
    func `an Android phone gets responses in the published shapes`(request: Android, mount: String) async throws {
        try await Self.run { directory in
            _ = try await directory.post("/" + APIPath.register, #"{"device_id":"and-1","platform":"android"}"#)
            let response = try await directory.ask(
                mount + request.path + request.query, method: request.method,
                headers: ["Content-Type": "application/json; charset=utf-8"], body: request.body)
            #expect(response.status == 200, "\(response.text)")
            #expect(PublishedShapes.problem(of: response, to: request.method, request.path) == nil)
            if request.path == APIPath.lookup { #expect(response.object["brand_name"] == .string("Acme Bank")) }
        }
    }
}
