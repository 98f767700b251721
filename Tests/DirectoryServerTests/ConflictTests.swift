// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

extension Operator {
    /// Sends a change with conditions.
    func change(
        _ method: String, _ path: String, _ body: String = "", headers: [(name: String, value: String)]
    ) async throws -> ReceivedResponse {
        try await LoopbackClient.ask(
            RawRequest(
                method: method, path: "/admin/v1/" + path, headers: [("X-Admin-Key", key)] + headers,
                body: Array(body.utf8)), port: directory.port)
    }

    func change(_ method: String, _ path: String, _ body: String = "", ifMatch: String) async throws
        -> ReceivedResponse
    {
        try await change(method, path, body, headers: [("If-Match", ifMatch)])
    }

    func tag(of path: String) async throws -> String {
        let response = try await ask(path)
        return try #require(response.headers["etag"], "\(response.status) \(response.text)")
    }
}

/// Two clients that change one object (RFC 9110 §13.1, mobile-api `SYNC_CONFLICT`).
@Suite("Changes from a version", .timeLimit(.minutes(8)), .bothEngines)
struct ConflictTests {
    private static let account = "accounts/main"
    private static let brand = "accounts/main/brands/acme"
    private static let number = "accounts/main/numbers/%2B61491570156"

    /// A brand `acme` with one number, and a brand `other`.
    private static func run(_ body: @escaping @Sendable (Operator) async throws -> Void) async throws {
        try await Operator.run { admin in
            for (id, name) in [("acme", "Acme Bank"), ("other", "Other")] {
                let made = try await admin.ask(
                    "accounts/main/brands", method: "POST", #"{"brand_id":"\#(id)","brand_name":"\#(name)"}"#)
                #expect(made.status == 201 && made.headers["etag"] != nil)
            }
            let put = try await admin.ask(number, method: "PUT", #"{"brand_id":"acme"}"#)
            #expect(put.status == 200)
            try await body(admin)
        }
    }

    /// A path, a change to it, and another one.
    private static let changes = [
        (account, "PATCH", #"{"mode":"testing"}"#, #"{"cap_this_month":5}"#, "account", "main", ["mode"]),
        (
            brand, "PATCH", #"{"brand_name":"First"}"#, #"{"call_reason":"Your card"}"#, "brand", "acme",
            ["brand_name"]
        ),
        (
            number, "PUT", #"{"brand_id":"acme","call_reason":"Now"}"#, #"{"brand_id":"other"}"#, "number",
            "+61491570156", ["call_reason"]
        ),
    ]

    @Test(arguments: changes)
    func `the second of two changes from one version is a conflict in the seed's shape`(
        path: String, method: String, first: String, second: String, type: String, id: String, fields: [String]
    ) async throws {
        try await Self.run { admin in
            let seen = try await admin.tag(of: path)
            #expect(seen.hasPrefix("\"") && seen.hasSuffix("\"") && seen.count > 20)
            let done = try await admin.change(method, path, first, ifMatch: seen)
            #expect(done.status == 200, "\(done.text)")
            let present = try await admin.tag(of: path)
            #expect(done.headers["etag"] == present && present != seen)
            let refused = try await admin.change(method, path, second, ifMatch: seen)
            #expect(refused.status == 409)
            let expected: [String: JSONValue] = [
                "success": .bool(false), "code": .string("SYNC_CONFLICT"),
                "error": .string("The data you're trying to update has been modified by another client"),
                "details": .object([
                    "resource_type": .string(type), "resource_id": .string(id),
                    "client_version": .string(String(seen.dropFirst().dropLast())),
                    "server_version": .string(String(present.dropFirst().dropLast())),
                    "conflicting_fields": .array(fields.map { .string($0) }),
                ]), "retry_guidance": .string("Fetch the latest version and reapply your changes"),
            ]
            #expect(refused.object == expected)
            #expect(try await admin.tag(of: path) == present, "nothing was saved")
            // The client follows the guidance.
            let again = try await admin.change(method, path, second, ifMatch: present)
            #expect(again.status == 200)
        }
    }

    /// The condition, with `TAG` for the present entity tag, and the status of a change under it.
    private static let conditions: [(String, Int)] = [
        ("TAG", 200), ("\"0\", TAG", 200), (" , TAG ,", 200), ("\"a,b\",TAG", 200), ("*", 200), ("\"0\"", 409),
        ("W/TAG", 409), ("W/\"0\"", 409), ("\"\"", 409), ("TAG\"", 400), ("0", 400), ("", 400), ("*, TAG", 400),
        ("w/TAG", 400), ("TAG TAG", 400), ("\"a", 400),
    ]

    @Test(arguments: conditions)
    func `If-Match is read as RFC 9110 has it`(condition: String, status: Int) async throws {
        try await Self.run { admin in
            for (path, method, body, _, _, _, _) in Self.changes {
                let tag = try await admin.tag(of: path)
                let response = try await admin.change(
                    method, path, body, ifMatch: condition.replacing("TAG", with: tag))
                #expect(response.status == status, "\(path): \(response.text)")
                #expect(try await (admin.tag(of: path) == tag) == (status != 200))
            }
        }
    }

    @Test func `If-None-Match creates a number and never changes one`() async throws {
        try await Self.run { admin in
            let (body, new) = (#"{"brand_id":"other"}"#, "accounts/main/numbers/%2B61491570157")
            let never: [(name: String, value: String)] = [("If-None-Match", "*")]
            let refused = try await admin.change("PUT", Self.number, body, headers: never)
            #expect(refused.status == 409 && refused.isEnvelope("SYNC_CONFLICT"))
            #expect(refused.text.contains(#""client_version":null"#))
            #expect(refused.text("error") == "The data you're trying to create exists already")
            #expect(try await admin.change("PUT", new, body, headers: never).status == 200)
            #expect(try await admin.change("PUT", new, body, headers: never).status == 409)
            // A number out of use exists too.
            #expect(try await admin.ask(new, method: "DELETE").status == 200)
            #expect(try await admin.change("PUT", new, body, headers: never).status == 409)
        }
    }

    @Test func `a condition on a missing object is a conflict where the change creates, else 404`() async throws {
        try await Self.run { admin in
            let new = "accounts/main/numbers/%2B61491570158"
            let refused = try await admin.change("PUT", new, #"{"brand_id":"other"}"#, ifMatch: "*")
            #expect(refused.status == 409 && refused.text.contains(#""server_version":null"#))
            #expect(try await admin.ask(new).status == 404)
            // RFC 9110 §13.2.1: a condition does not hide another refusal.
            #expect(try await admin.change("DELETE", new, ifMatch: "\"0\"").status == 404)
            let path = "accounts/main/brands/nobody"
            #expect(try await admin.change("PATCH", path, #"{"brand_name":"X"}"#, ifMatch: "\"0\"").status == 404)
            let bad = try await admin.change("PATCH", Self.brand, #"{"brand_name":""}"#, ifMatch: "\"0\"")
            #expect(bad.status == 400)
        }
    }

    @Test func `a number is shown, taken out of use and closed under a condition`() async throws {
        try await Self.run { admin in
            let (shown, seen) = (try await admin.ask(Self.number), try await admin.tag(of: Self.number))
            #expect(shown.text("brand_id") == "acme" && shown.text("state") == "active")
            #expect(try await admin.change("DELETE", Self.number, ifMatch: "\"0\"").status == 409)
            let gone = try await admin.change("DELETE", Self.number, ifMatch: seen)
            #expect(gone.status == 200 && gone.object["changed"] == .int(1))
            #expect(try await gone.headers["etag"] == admin.tag(of: Self.number))
            #expect(try await admin.ask(Self.number).text("state") == "inactive")
            #expect(try await admin.change("POST", Self.account + "/close", ifMatch: "\"0\"").status == 409)
            let closed = try await admin.change(
                "POST", Self.account + "/close", ifMatch: try await admin.tag(of: Self.account))
            #expect(closed.status == 200 && closed.text("status") == "closed")
        }
    }

    @Test func `a client with the present version gets 304, and counts are no part of a version`() async throws {
        try await Self.run { admin in
            for path in [Self.account, Self.brand, Self.number] {
                let tag = try await admin.tag(of: path)
                let same = try await admin.change("GET", path, headers: [("If-None-Match", tag)])
                #expect(same.status == 304 && same.body.isEmpty && same.headers["etag"] == tag, "\(path)")
                #expect(same.headers["cache-control"] == "no-store")
                let other = try await admin.change("GET", path, headers: [("If-None-Match", "\"0\"")])
                #expect(other.status == 200)
            }
            let before = [try await admin.tag(of: Self.account), try await admin.tag(of: Self.brand)]
            _ = try await admin.directory.report("displayed")
            let put = try await admin.ask(
                "accounts/main/numbers/%2B61491570159", method: "PUT", #"{"brand_id":"acme"}"#)
            #expect(put.status == 200)
            let after = [try await admin.tag(of: Self.account), try await admin.tag(of: Self.brand)]
            #expect(before == after)
        }
    }

    @Test(arguments: changes)
    func `of many changes from one version at the same moment exactly one is made`(
        path: String, method: String, first: String, second: String, type: String, id: String, fields: [String]
    ) async throws {
        try await Self.run { admin in
            let seen = try await admin.tag(of: path)
            let statuses = try await withThrowingTaskGroup { group in
                for place in 0..<8 {
                    group.addTask {
                        try await admin.change(method, path, place % 2 == 0 ? first : second, ifMatch: seen).status
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 1 && statuses.count { $0 == 409 } == 7, "\(statuses)")
        }
    }
}
