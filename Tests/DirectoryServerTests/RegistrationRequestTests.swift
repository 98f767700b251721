// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@Suite("Bodies and lists of registrations", .timeLimit(.minutes(8)), .bothEngines)
struct RegistrationRequestTests {
    /// Properties that are put behind the required ones, each with the code of its refusal.
    private static let refused: [(more: String, code: String)] = [
        (#","quota":5"#, "INVALID_ARGUMENT"),
        (#","\u0007":5"#, "INVALID_ARGUMENT"),
        (#","customerId":null"#, "INVALID_ARGUMENT"),
        (#","customerId":["a"]"#, "INVALID_ARGUMENT"),
        (#","customerId":"a\nb""#, "INVALID_ARGUMENT"),
        (#","campaignName":"\u202Egpj""#, "INVALID_ARGUMENT"),
        (#","campaignName":"\#(String(repeating: "a", count: 65))""#, "INVALID_ARGUMENT"),
        (#","displayName":"\#(String(repeating: "a", count: 33))""#, "INVALID_ARGUMENT"),
        (#","displayName":"Acme\u0000Bank""#, "INVALID_ARGUMENT"),
        (#","phoneNumber":"+0491570156""#, "INVALID_ARGUMENT"),
        (#","phoneNumber":"61491570156""#, "INVALID_ARGUMENT"),
        (#","phoneNumber":"+6149157015600000""#, "INVALID_ARGUMENT"),
        (#","phoneNumber":"+6149157015\u0661""#, "INVALID_ARGUMENT"),
        (#","phoneNumberAlternate":"+61491570156""#, "INVALID_ARGUMENT"),
        (#","terminatingCountryCode":0"#, "INVALID_ARGUMENT"),
        (#","terminatingCountryCode":1000"#, "INVALID_ARGUMENT"),
        (#","terminatingCountryCode":61.5"#, "INVALID_ARGUMENT"),
        (#","terminatingCountryCode":1e400"#, "INVALID_ARGUMENT"),
        (#","terminatingCountryCode":"61""#, "INVALID_ARGUMENT"),
        (#","expiresAt":"2026-02-30""#, "INVALID_ARGUMENT"),
        (#","expiresAt":"2026-01-01""#, "INVALID_ARGUMENT"),
        (#","expiresAt":"2027-01-31T00:00:00Z""#, "INVALID_ARGUMENT"),
        (#","expiresAt":"next year""#, "INVALID_ARGUMENT"),
        (#","displayAsset":"logo.png""#, "INVALID_ARGUMENT"),
        (#","displayAsset":"https://example.com/a b""#, "INVALID_ARGUMENT"),
        (#","displayAsset":"https://example.com/\#(String(repeating: "a", count: 2048))""#, "INVALID_ARGUMENT"),
        (#","verifyCallerAction":"block""#, "INVALID_ARGUMENT"),
        (#","callPurpose":"Sales""#, "INVALID_ARGUMENT"),
        (#","deep":\#(String(repeating: "[", count: 5000))"#, "INVALID_ARGUMENT"),
        (#","sink":"https://customer.example/sink""#, "INVALID_SINK"),
        (#","sink":"https://169.254.169.254/latest""#, "INVALID_SINK"),
        (#","sinkCredential":{"credentialType":"PRIVATE_KEY_JWT"}"#, "INVALID_SINK"),
    ]

    @Test func `a body outside the definition is refused with its published code`() async throws {
        try await CamaraClient.run { client in
            let token = try await client.token()
            let path = try await client.register(CamaraClient.body(CamaraClient.second))
            for (more, code) in Self.refused {
                for (method, target) in [("POST", CamaraClient.registrations), ("PUT", path)] {
                    let response = try await client.ask(method, target, CamaraClient.body(more: more), token: token)
                    #expect(response.isErrorInfo(400, code), "\(more.prefix(80)): \(response.text)")
                    #expect(response.text.utf8.allSatisfy { $0 >= 0x20 }, "\(more.prefix(80))")
                }
            }
            for body in ["[]", "null", "\"a\"", "{", "{\"phoneNumber\":", "\u{feff}{}", "{}"] {
                let response = try await client.ask("POST", CamaraClient.registrations, body, token: token)
                #expect(response.isErrorInfo(400, "INVALID_ARGUMENT"), "\(body): \(response.text)")
            }
            let long = CamaraClient.body(more: #","customerId":"\#(String(repeating: "a", count: 1 << 20))""#)
            let response = try await client.ask("POST", CamaraClient.registrations, long, token: token)
            #expect(response.isErrorInfo(413, "PAYLOAD_TOO_LARGE"), "\(response.text)")
            #expect(try client.names()[CamaraClient.acme] == "Acme Bank")
        }
    }

    @Test func `a name with quotes and markup is a text and nothing else`() async throws {
        try await CamaraClient.run { client in
            let name = "<b>'\"); DROP TABLE brand;--"
            try client.directory.put(try entry(CamaraClient.second, name))
            let body = try #require(
                String(
                    bytes: try JSONEncoder().encode([
                        "phoneNumber": JSONValue.string(CamaraClient.second), "displayName": .string(name),
                        "terminatingCountryCode": .int(61), "customerId": .string(name),
                    ]), encoding: .utf8))
            let made = try await client.ask("POST", CamaraClient.registrations, body)
            #expect(made.status == 201 && made.object["customerId"] == .string(name), "\(made.text)")
        }
    }

    @Test func `a list has pages, and conditions that all hold`() async throws {
        try await CamaraClient.run { client in
            let empty = try await client.ask("GET")
            #expect(empty.status == 200 && empty.object["registrations"] == .array([]))
            _ = try await client.register(
                CamaraClient.body(more: #","customerId":"a","callPurpose":"Survey","expiresAt":"2026-01-05""#))
            client.directory.time.now += 1
            _ = try await client.register(CamaraClient.body(CamaraClient.second, name: "Acme Bank"))
            let rows: [(query: String, numbers: [String])] = [
                ("", [CamaraClient.acme, CamaraClient.second]), ("?customerId=a", [CamaraClient.acme]),
                ("?customerId=a&callPurpose=Charity", []), ("?callPurpose=Survey", [CamaraClient.acme]),
                ("?displayName=Acme%20Bank", [CamaraClient.second]), ("?displayName=Acme+Bank", [CamaraClient.second]),
                ("?displayName=Acme%2BBank", []), ("?customerId=", []), ("?expiresAt=2026-01-05", [CamaraClient.acme]),
                ("?terminatingCountryCode=61", [CamaraClient.acme, CamaraClient.second]),
                ("?terminatingCountryCode=62", []), ("?status=pending", []),
                ("?status=active", [CamaraClient.acme, CamaraClient.second]), ("?customerId=%00%27", []),
                ("?other=1", [CamaraClient.acme, CamaraClient.second]),
            ]
            let token = try await client.token()
            for row in rows {
                let response = try await client.ask("GET", CamaraClient.registrations + row.query, token: token)
                #expect(response.status == 200, "\(row.query): \(response.text)")
                #expect(Self.numbers(response) == row.numbers, "\(row.query)")
                #expect(response.headers["x-total-count"] == "\(row.numbers.count)")
            }
            for (page, numbers) in [(1, [CamaraClient.acme]), (2, [CamaraClient.second]), (3, []), (2_147_483_647, [])]
            {
                let response = try await client.ask(
                    "GET", CamaraClient.registrations + "?perPage=1&page=\(page)", token: token)
                #expect(response.status == 206 && Self.numbers(response) == numbers, "\(response.text)")
                #expect(
                    response.object["pagination"]
                        == .object([
                            "page": .int(page), "perPage": .int(1), "totalCount": .int(2), "totalPages": .int(2),
                        ]))
            }
            for query in [
                "page=0", "page=a", "perPage=101", "perPage=0", "status=on", "expiresAt=soon", "callPurpose=x",
                "terminatingCountryCode=1000", "status=", "status=active&status=inactive", "customerId=a&customerId=a",
                "customerId=a&customer%49d=b", "customerId=%F", "customerId=%FF", "page=1&page=2",
            ] {
                let response = try await client.ask("GET", CamaraClient.registrations + "?" + query, token: token)
                #expect(response.isErrorInfo(400, "INVALID_ARGUMENT"), "\(query): \(response.text)")
            }
        }
    }

    private static func numbers(_ response: ReceivedResponse) -> [String] {
        guard case .array(let list) = response.object["registrations"] else { return ["no list"] }
        return list.compactMap { item in
            guard case .object(let record) = item else { return nil }
            return record["phoneNumber"]?.asText
        }
    }
}
