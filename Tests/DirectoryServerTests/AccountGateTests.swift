// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import TestFixtures
import Testing

/// `branding_enabled` of a response: phones read this gate alone.
@Suite("Branding allowed or not", .timeLimit(.minutes(8)), .bothEngines)
struct AccountGateTests {
    struct Account: Sendable, CustomTestStringConvertible {
        var isOn = true
        var status = "active"
        var cap = -1
        var isAllowed: Bool

        var testDescription: String { "switch \(isOn), \(status), cap \(cap)" }
    }

    private static let number = "+61491570156"

    // securenode-endpoint-contract §5: the operator's switch, the account's status, the cap of the month.
    @Test(arguments: [
        Account(isAllowed: true), Account(status: "trial", isAllowed: true), Account(cap: 1, isAllowed: true),
        Account(isOn: false, isAllowed: false), Account(status: "suspended", isAllowed: false),
        Account(status: "past_due", isAllowed: false), Account(cap: 0, isAllowed: false),
        Account(isOn: false, status: "suspended", cap: 0, isAllowed: false),
    ])
    func `every response has the gate for brands and its reason`(account: Account) async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            try directory.change {
                ($0.brandingEnabled, $0.status, $0.cap) = (account.isOn, account.status, account.cap)
            }
            let sync = try await directory.sync().config
            let lookup = try await directory.ask("/" + APIPath.lookup + "?e164=%2B61491570156")
                .decoded(LookupResponse.self)
            let event = try await directory.report("missed").config
            for config in [sync, lookup.config, event] {
                #expect(config?.brandingEnabled == account.isAllowed)
                #expect(config?.accountStatus == account.status)
                #expect(config?.capThisMonth == (account.cap < 0 ? .unlimited : .events(account.cap)))
            }
            #expect(lookup.brandName == (account.isAllowed ? "Acme Bank" : nil))
            let kept = try AccountStore(directory.database).config(now: directory.time.now)
            #expect(kept.brandingEnabled == account.isOn)
        }
    }

    @Test func `the event that reaches the cap closes the gate with its own response, until the month ends`()
        async throws
    {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            try directory.change { $0.cap = 2 }
            var gates: [Bool?] = []
            for _ in 0..<3 { gates.append(try await directory.report("displayed").config?.brandingEnabled) }
            #expect(gates == [true, false, false])
            #expect(try await directory.sync().config?.brandingEnabled == false)
            // 2026-02-01T00:00:00Z.
            directory.time.now = 1_769_904_000
            #expect(try await directory.sync().config?.brandingEnabled == true)
        }
    }

    @Test func `a client with the same brands learns that the account was suspended`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number))
            let tag = try #require(try await directory.ask("/" + APIPath.sync).headers["etag"])
            try directory.change { $0.status = "suspended" }
            let next = try await directory.ask("/" + APIPath.sync, headers: ["If-None-Match": tag])
            #expect(next.status == 200)
            #expect(try next.decoded(SyncResponse.self).config?.brandingEnabled == false)
        }
    }

    @Test func `a number that may not be shown is matched, without its brand`() async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(Self.number, reason: "Your order"))
            try directory.change { $0.status = "suspended" }
            let response = try await directory.ask("/" + APIPath.lookup + "?e164=%2B61491570156&format=public")
            #expect(PublishedShapes.problem(of: response, to: "GET", APIPath.lookup) == nil)
            #expect(
                response.object == [
                    "matched": .bool(true), "displayed": .bool(false), "brand": .null, "call_reason": .null,
                    "source": .string("live"),
                ])
        }
    }
}
