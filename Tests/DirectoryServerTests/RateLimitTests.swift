// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("Rate limits and client types", .timeLimit(.minutes(8)), .bothEngines)
struct RateLimitTests {
    private static let path = "/api/" + APIPath.lookup + "?e164=%2B61491570156"
    private static let limits = RateLimits(web: 2, mobileIOS: 3, mobileAndroid: 0, herald: 4, wrongKeys: 2)

    @Test(arguments: [(nil, 2), ("web", 2), ("mobile-ios", 3), ("herald", 4)] as [(String?, Int)])
    func `a client type has its own limit, counted down and over after a minute`(type: String?, limit: Int) async throws
    {
        try await RunningDirectory.run(limits: Self.limits) { directory in
            let headers = type.map { ["X-Client-Type": $0] } ?? [:]
            for left in (0..<limit).reversed() {
                let response = try await directory.ask(Self.path, headers: headers)
                #expect(response.status == 200)
                #expect(response.headers["x-ratelimit-limit"] == "\(limit)")
                #expect(response.headers["x-ratelimit-remaining"] == "\(left)")
                #expect(response.headers["x-ratelimit-reset"] == "\(ManualTime.start + 60)")
                #expect(response.headers["x-client-type"] == type ?? "web")
                #expect(response.headers["x-api-version"] == "v1")
            }
            directory.time.now += 15
            let over = try await directory.ask(Self.path, headers: headers)
            #expect(over.status == 429)
            #expect(over.isEnvelope("RATE_LIMIT_EXCEEDED"), "\(over.text)")
            #expect(over.headers["retry-after"] == "45")
            #expect(over.headers["x-ratelimit-remaining"] == "0")
            #expect(
                over.object["details"]
                    == .object(["limit": .int(limit), "window": .string("1 minute"), "retry_after": .int(45)]))
            #expect(over.object["retry_guidance"] == .string("Wait 45 seconds before retrying"))
            directory.time.now += 45
            #expect(try await directory.ask(Self.path, headers: headers).status == 200)
        }
    }

    @Test func `a limit of 0 is none, and says nothing`() async throws {
        try await RunningDirectory.run(limits: Self.limits) { directory in
            for _ in 0..<10 {
                let response = try await directory.ask(Self.path, headers: ["X-Client-Type": "mobile-android"])
                #expect(response.status == 200)
                #expect(response.headers["x-ratelimit-limit"] == nil)
            }
        }
    }

    @Test func `keys are counted apart, and errors carry the count too`() async throws {
        try await RunningDirectory.run(limits: Self.limits) { directory in
            let bad = try await directory.ask("/" + APIPath.lookup)
            #expect(bad.status == 400)
            #expect(bad.headers["x-ratelimit-remaining"] == "1")
            #expect(try await directory.ask(Self.path).headers["x-ratelimit-remaining"] == "0")
            let other = try AccountStore(directory.database).createKey(name: "other", now: 0)
            let response = try await directory.ask(Self.path, headers: ["X-API-Key": other])
            #expect(response.headers["x-ratelimit-remaining"] == "1")
        }
    }

    @Test func `an unknown client type is refused with those there are`() async throws {
        try await RunningDirectory.run { directory in
            let response = try await directory.ask(Self.path, headers: ["X-Client-Type": "mobile-web"])
            #expect(response.status == 422)
            #expect(response.isEnvelope("INVALID_CLIENT_TYPE"))
            let allowed = ["web", "mobile-ios", "mobile-android", "herald"].map { JSONValue.string($0) }
            #expect(
                response.object["details"]
                    == .object(["provided": .string("mobile-web"), "allowed": .array(allowed)]))
        }
    }

    @Test func `wrong keys from one address are counted, and a good key passes all the same`() async throws {
        try await RunningDirectory.run(limits: Self.limits) { directory in
            let near = ["X-API-Key": "wrong", "X-Forwarded-For": "192.0.2.7, 198.51.100.9"]
            #expect(try await directory.ask(Self.path, headers: near).status == 401)
            #expect(try await directory.ask(Self.path, headers: near).status == 401)
            let over = try await directory.ask(Self.path, headers: near)
            #expect(over.status == 429)
            #expect(over.isEnvelope("RATE_LIMIT_EXCEEDED"))
            #expect(over.headers["retry-after"] == "60")
            let far = ["X-API-Key": "wrong", "X-Forwarded-For": "198.51.100.10"]
            #expect(try await directory.ask(Self.path, headers: far).status == 401)
            #expect(try await directory.ask(Self.path, headers: ["X-Forwarded-For": "198.51.100.9"]).status == 200)
        }
    }

    @Test func `a crowd of addresses takes no more memory than was set aside`() {
        let windows = RequestWindows<Int>(capacity: 100)
        for key in 0..<10_000 {
            #expect(windows.count(key, limit: 1, now: 0)?.isWithin == true)
            #expect(windows.remembered <= 100)
        }
    }
}
