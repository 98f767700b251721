// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryFixtures
import Foundation
import NIOCore
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

/// Many clients of one key: each has its own limit, and all together a higher one.
@Suite("Rate limits of a fleet", .timeLimit(.minutes(8)), .bothEngines)
struct FleetLimitTests {
    private static let limits = RateLimits(
        web: 2, mobileIOS: 0, mobileAndroid: 0, herald: 0, key: 7, wrongKeys: 0)

    private static func event(_ device: String) -> String {
        #"{"phone_number_e164":"+61491570156","outcome":"missed","device_id":"\#(device)"}"#
    }

    private static let lookup = "/" + APIPath.lookup + "?e164=%2B61491570156&device_id="

    @Test func `each device has its own count, wherever the request names it`() async throws {
        try await RunningDirectory.run(limits: Self.limits) { directory in
            #expect(
                try await directory.post("/" + APIPath.event, Self.event("a")).headers["x-ratelimit-remaining"] == "1")
            #expect(try await directory.ask(Self.lookup + "a").headers["x-ratelimit-remaining"] == "0")
            let over = try await directory.post("/api/" + APIPath.event, Self.event("a"))
            #expect(over.status == 429)
            #expect(over.headers["x-ratelimit-limit"] == "2")
            #expect(try await directory.post("/" + APIPath.event, Self.event("b")).status == 200)
            #expect(try await directory.ask(Self.lookup + "b").status == 200)
        }
    }

    @Test func `clients that name no device are counted by their address`() async throws {
        try await RunningDirectory.run(limits: Self.limits) { directory in
            let path = "/" + APIPath.lookup + "?e164=%2B61491570156"
            for (address, status) in [("198.51.100.1", 200), ("198.51.100.1", 200), ("198.51.100.1", 429)] {
                let response = try await directory.ask(path, headers: ["X-Forwarded-For": address])
                #expect(response.status == status)
            }
            #expect(try await directory.ask(path, headers: ["X-Forwarded-For": "198.51.100.2"]).status == 200)
        }
    }

    @Test func `all clients of a key are bounded together, whatever they call themselves`() async throws {
        try await RunningDirectory.run(limits: Self.limits) { directory in
            for (place, type) in ["web", "mobile-ios", "herald", "mobile-android", "herald", "herald"].enumerated() {
                let response = try await directory.ask(Self.lookup + "d\(place)", headers: ["X-Client-Type": type])
                #expect(response.status == 200)
            }
            let last = try await directory.ask(Self.lookup + "d6")
            #expect(last.headers["x-ratelimit-limit"] == "7" && last.headers["x-ratelimit-remaining"] == "0")
            let over = try await directory.ask(Self.lookup + "d7", headers: ["X-Client-Type": "herald"])
            #expect(over.status == 429)
            #expect(over.isEnvelope("RATE_LIMIT_EXCEEDED"))
            #expect(over.headers["retry-after"] == "60")
            let other = try AccountStore(directory.database).createKey(name: "other", now: 0)
            #expect(try await directory.ask(Self.lookup + "d8", headers: ["X-API-Key": other]).status == 200)
        }
    }

    @Test func `a sync is refused last, and not without end`() async throws {
        try await RunningDirectory.run(limits: Self.limits) { directory in
            let sync = "/api/" + APIPath.sync + "?device_id=a"
            for place in 0..<52 {
                let response = try await directory.ask(Self.lookup + "a")
                #expect(response.status == (place < 2 ? 200 : 429))
            }
            // As many again as the limit of the device, whatever else it had refused.
            #expect(try await directory.ask(sync).status == 200)
            #expect(try await directory.ask(sync).status == 200)
            #expect(try await directory.ask(sync).status == 429)
            directory.time.now += 60
            #expect(try await directory.ask(sync).status == 200)
        }
    }

    @Test func `a key over its limit still syncs`() async throws {
        try await RunningDirectory.run(limits: Self.limits) { directory in
            for place in 0..<8 {
                let response = try await directory.ask(Self.lookup + "d\(place)")
                #expect(response.status == (place < 7 ? 200 : 429))
            }
            for place in 0..<7 {
                #expect(try await directory.ask("/" + APIPath.sync + "?device_id=d\(place)").status == 200)
            }
            #expect(try await directory.ask("/" + APIPath.sync + "?device_id=d8").status == 429)
        }
    }

    @Test(
        arguments: [
            (#"{"device_id":"a"}"#, "a"), (#"{ "x" : 1, "device_id" :\#n "b" }"#, "b"),
            (#"{"operations":[{"data":{"meta":{"device_id":"c"}}}]}"#, "c"), (#"{"device_id":7}"#, nil),
            (#"{"message":"\"device_id\":\"d\""}"#, nil), (#"{"x":"device_id"}"#, nil), (#"{"device_id""#, nil),
            (#"{"device_id":""}"#, nil), ("", nil), (#"{"device_id":"e"#, "e"),
        ] as [(String, String?)])
    func `the device of a body is found without parsing it`(body: String, device: String?) {
        #expect(RequestDevice.id(in: ByteBuffer(string: body)) == device)
    }

    @Test func `a crowd beyond the memory set aside is forgotten by halves, not looked through each time`() {
        let windows = RequestWindows<Int>(capacity: 100)
        for key in 0..<99 { _ = windows.count(key, limit: 1, now: 0) }
        _ = windows.count(99, limit: 1, now: 30)
        // At 60 all but the last are over; at 61 a newcomer finds room.
        _ = windows.count(100, limit: 1, now: 60)
        #expect(windows.remembered == 2)
        for key in 101..<1_000 { _ = windows.count(key, limit: 1, now: 61) }
        #expect(windows.remembered <= 100)
    }
}
