// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import TestFixtures
import Testing

@Suite("GET mobile/branding/lookup", .timeLimit(.minutes(8)), .bothEngines)
struct LookupTests {
    // Encoded, with a bare plus, encoded twice, and below both mounts.
    @Test(arguments: [
        "/mobile/branding/lookup?e164=%2B61491570156", "/api/mobile/branding/lookup?e164=+61491570156&device_id=phone",
        // Encoded twice, as one of the published SDKs has it.
        "/mobile/branding/lookup?e164=%252B61491570156&device_id=phone",
    ])
    func `a known number has its brand`(path: String) async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156", logo: "https://logos.example/a.png", reason: "Your order"))
            let response = try await directory.ask(path)
            #expect(response.status == 200)
            var found = try response.decoded([String: JSONValue].self)
            guard case .object(let config) = found.removeValue(forKey: "config") else {
                Issue.record("no config")
                return
            }
            #expect(config["branding_enabled"] == .bool(true))
            #expect(
                found == [
                    "success": .bool(true), "e164": .string("+61491570156"), "brand_name": .string("Acme Bank"),
                    "brand_id": .string("acme"), "logo_url": .string("https://logos.example/a.png"),
                    "call_reason": .string("Your order"), "updated_at": .string("2026-01-01T00:00:00Z"),
                ])
        }
    }

    @Test(arguments: [true, false])
    func `an unknown number and one out of use have nulls`(wasKnown: Bool) async throws {
        try await RunningDirectory.run { directory in
            if wasKnown {
                try directory.put(entry("+61491570156"))
                try directory.deactivate("+61491570156")
            }
            let response = try await directory.ask("/mobile/branding/lookup?e164=%2B61491570156")
            #expect(response.status == 200)
            let found = try response.decoded([String: JSONValue].self)
            #expect(found["success"] == .bool(true))
            for field in ["brand_name", "logo_url", "call_reason", "brand_id"] { #expect(found[field] == .null) }
        }
    }

    @Test func `the public form says matched or not`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry("+61491570156", reason: "Your order"))
            let hit = try await directory.ask("/mobile/branding/lookup?e164=%2B61491570156&format=public")
            #expect(
                try hit.decoded([String: JSONValue].self) == [
                    "matched": .bool(true), "displayed": .bool(true), "source": .string("live"),
                    "call_reason": .string("Your order"),
                    "brand": .object(["name": .string("Acme Bank"), "logo": .null]),
                ])
            let miss = try await directory.ask("/mobile/branding/lookup?e164=%2B61491570199&format=public")
            #expect(
                try miss.decoded([String: JSONValue].self) == [
                    "matched": .bool(false), "displayed": .bool(false), "source": .string("none"), "call_reason": .null,
                    "brand": .null,
                ])
        }
    }
}
