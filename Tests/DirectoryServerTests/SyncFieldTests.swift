// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

/// mobile-api, "List Stories with Field Filtering" and "Lightweight List Mode".
@Suite("Fields of a sync", .timeLimit(.minutes(8)), .bothEngines)
struct SyncFieldTests {
    private static let always: Set = ["phone_number_e164", "brand_name", "brand_id", "updated_at"]

    private static func run(_ body: @escaping @Sendable (RunningDirectory) async throws -> Void) async throws {
        try await RunningDirectory.run { directory in
            try directory.put("+61491570156", logo: "https://l.example/a.png", reason: "Your order")
            try await body(directory)
        }
    }

    private static func fields(_ response: ReceivedResponse) -> [Set<String>] {
        guard case .array(let entries) = response.object["branding"] else { return [] }
        return entries.map { if case .object(let fields) = $0 { Set(fields.keys) } else { [] } }
    }

    @Test(
        arguments: [
            ("", ["logo_url", "call_reason"]), ("?fields=logo_url", ["logo_url"]),
            ("?fields=brand_name,call_reason", ["call_reason"]), ("?fields=phone_number_e164", []),
            ("?fields=call_reason,logo_url,call_reason", ["logo_url", "call_reason"]),
            ("?fields=logo_url&fields=call_reason", ["logo_url", "call_reason"]),
            ("?fields=logo%5Furl", ["logo_url"]), ("?lightweight=true", []),
            ("?lightweight=true&fields=logo_url", ["logo_url"]), ("?lightweight=false", ["logo_url", "call_reason"]),
            ("?fields=is_active", []),
        ] as [(String, [String])])
    func `an entry has the fields asked for, and those that are always there`(
        query: String, optional: [String]
    ) async throws {
        try await Self.run { directory in
            let response = try await directory.ask("/" + APIPath.sync + query)
            #expect(response.status == 200)
            #expect(Self.fields(response) == [Self.always.union(optional)])
            #expect(PublishedShapes.problem(of: response, to: "GET", APIPath.sync) == nil)
        }
    }

    // The published examples have a link with either parameter, for X-Client-Type mobile-ios and mobile-android.
    @Test(arguments: ["", "?fields=brand_name", "?fields=deep_link", "?fields=deep_link,logo_url", "?lightweight=true"])
    func `mobile clients have a link with any fields, and no other client has one`(query: String) async throws {
        try await Self.run { directory in
            for (type, hasLink) in [("mobile-ios", true), ("mobile-android", true), ("web", false), ("herald", false)] {
                let response = try await directory.ask(
                    "/" + APIPath.sync + query, headers: [ClientType.header: type])
                #expect(response.status == 200)
                #expect(Self.fields(response).map { $0.contains("deep_link") } == [hasLink], "\(type)")
            }
            let plain = try await directory.ask("/" + APIPath.sync + query)
            #expect(!plain.text.contains("deep_link"))
            #expect(PublishedShapes.problem(of: plain, to: "GET", APIPath.sync) == nil)
        }
    }

    @Test(arguments: [
        "fields=title", "fields=", "fields=logo_url,", "fields=,logo_url", "fields=Logo_URL", "fields=logo_url,%00",
        "lightweight=yes", "fields=logo_url&fields=",
    ])
    func `an unknown name is refused, and the known ones are named`(query: String) async throws {
        try await Self.run { directory in
            let response = try await directory.ask("/" + APIPath.sync + "?" + query)
            #expect(response.status == 400 && response.isEnvelope("bad_request"), "\(response.text)")
            guard !query.contains("lightweight") else { return }
            #expect(
                response.text.contains("brand_name, brand_id, updated_at, logo_url, call_reason, is_active, deep_link"))
        }
    }

    @Test func `the fields are part of the entity tag, in any order`() async throws {
        try await Self.run { directory in
            func tag(_ query: String) async throws -> String? {
                try await directory.ask("/" + APIPath.sync + query).headers["etag"]
            }
            let all = try await tag("")
            let logos = try await tag("?fields=logo_url")
            let light = try await tag("?lightweight=true")
            #expect(Set([all, logos, light]).count == 3)
            #expect(try await tag("?fields=brand_id,logo_url,logo_url") == logos)
            #expect(try await tag("?fields=brand_id") == light)
            #expect(try await tag("?fields=logo_url,call_reason") == all)
            // Without a link the name of the link selects nothing.
            #expect(try await tag("?fields=deep_link") == light)
            for (query, held, status) in [("?fields=logo_url", logos, 304), ("?fields=call_reason", logos, 200)] {
                let response = try await directory.ask(
                    "/" + APIPath.sync + query, headers: ["If-None-Match": try #require(held)])
                #expect(response.status == status, "\(query)")
            }
        }
    }

    @Test func `a deactivated entry is known as such with any fields, also on later pages`() async throws {
        try await Self.run { directory in
            let numbers = (0..<1500).map { "+6149158\(String(10_000 + $0).dropFirst())" }
            let entries = try numbers.map { try entry($0, reason: "Your order") }
            _ = try BrandEntries(directory.database).put(entries, now: directory.time.now)
            let cursor = try await directory.sync().syncedAt
            for number in numbers.prefix(3) { try directory.deactivate(number) }
            let removed = try await directory.ask(
                "/" + APIPath.sync + "?include_inactive=true&fields=logo_url&since=\(cursor)")
            #expect(Self.fields(removed) == Array(repeating: Self.always.union(["is_active"]), count: 3))
            let full = try await directory.ask("/" + APIPath.sync + "?fields=logo_url")
            let kept = Self.fields(full)
            #expect(kept.count == 1498 && kept.count { $0 == Self.always } == 1497)
        }
    }
}
