// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import TestFixtures
import Testing

/// The scenarios that CAMARA publishes for Brand Registration, by their tags (camaraproject/VerifiedCaller dd0f9d6).
@Suite("Scenarios of CAMARA Brand Registration", .timeLimit(.minutes(8)), .bothEngines)
struct CamaraScenarioTests {
    private static let correlator = "b4333c46-49c0-4f62-80d7-f0ef930f1c46"

    private static let all = """
        , "phoneNumberAlternate": "+61491570157", "expiresAt": "2027-12-31", "customerId": "customer-1",
        "displayAsset": "https://ims.example.com/logo.bmp;purpose=icon", "verifyCallerAction": "DO_NOT_BRAND",
        "campaignName": "Claims in winter", "callPurpose": "Customer-Service"
        """

    /// The operations with their tag, method and needed scope.
    private static let operations = [
        ("POST", "POST", "create"), ("GET", "GET", "read"), ("PUT", "PUT", "update"), ("DEL", "DELETE", "delete"),
    ]

    /// A record for callees in Australia.
    private static func record(_ id: JSONValue, _ texts: [String: String]) -> [String: JSONValue] {
        var record = texts.mapValues { JSONValue.string($0) }
        (record["registrationId"], record["terminatingCountryCode"]) = (id, .int(61))
        return record
    }

    private static func isMirrored(_ response: ReceivedResponse) -> Bool {
        response.headers["x-correlator"] == correlator
    }

    @Test func `POST_201.01, GET_200.01, PUT_200.01 and DEL_204.01: one registration from its begin to its end`()
        async throws
    {
        try await CamaraClient.run { client in
            let made = try await client.ask("POST", CamaraClient.registrations, CamaraClient.body(more: Self.all))
            #expect(made.status == 201 && Self.isMirrored(made), "\(made.text)")
            #expect(made.headers["content-type"] == "application/json")
            let id = try #require(made.object["registrationId"])
            let wanted = Self.record(
                id,
                [
                    "phoneNumber": "+61491570156", "phoneNumberAlternate": "+61491570157", "expiresAt": "2027-12-31",
                    "displayName": "Acme Claims", "customerId": "customer-1", "verifyCallerAction": "DO_NOT_BRAND",
                    "displayAsset": "https://ims.example.com/logo.bmp;purpose=icon", "status": "active",
                    "campaignName": "Claims in winter", "callPurpose": "Customer-Service",
                ])
            #expect(made.object == wanted)

            let path = CamaraClient.registrations + "/" + (id.asText ?? "")
            let read = try await client.ask("GET", path)
            #expect(read.status == 200 && Self.isMirrored(read) && read.object == wanted)

            let changed = try await client.ask("PUT", path, CamaraClient.body(name: "Acme Bank"))
            #expect(changed.status == 200 && Self.isMirrored(changed), "\(changed.text)")
            #expect(
                changed.object
                    == Self.record(
                        id, ["phoneNumber": "+61491570156", "displayName": "Acme Bank", "status": "active"]))

            let removed = try await client.ask("DELETE", path)
            #expect(removed.status == 204 && Self.isMirrored(removed) && removed.body.isEmpty)
            #expect(try await client.ask("GET", path).isErrorInfo(404, "NOT_FOUND"))
        }
    }

    @Test func `400.1 and 400.2: a body or identifier that the definition excludes`() async throws {
        try await CamaraClient.run { client in
            let path = try await client.register()
            let no = CamaraClient.registrations + "/no-uuid"
            let rows = [
                ("POST_400.1", "POST", CamaraClient.registrations, #"{"phoneNumber":"123"}"#),
                ("POST_400.2", "POST", CamaraClient.registrations, ""),
                ("GET_400.1", "GET", no, ""),
                ("PUT_400.1", "PUT", path, #"{"displayName":7}"#),
                ("PUT_400.2", "PUT", path, ""),
                ("DEL_400.1", "DELETE", no, ""),
            ]
            for (tag, method, path, body) in rows {
                let response = try await client.ask(method, path, body)
                #expect(response.isErrorInfo(400, "INVALID_ARGUMENT"), "\(tag): \(response.text)")
                #expect(Self.isMirrored(response), "\(tag)")
            }
        }
    }

    @Test func `401.1, 401.2 and 401.3: no token, an expired one and a wrong one`() async throws {
        try await CamaraClient.run { client in
            let path = try await client.register()
            let old = try await client.token()
            client.directory.time.now += 900
            for (tag, method, _) in Self.operations {
                let target = method == "POST" ? CamaraClient.registrations : path
                // RFC 6750 §3.1: a request without a token gets no error code.
                let long = String(repeating: "a", count: 300)
                for (number, token) in [(1, nil), (2, old), (3, "hdc_wrong"), (3, long)] as [(Int, String?)] {
                    let response = try await client.ask(method, target, CamaraClient.body(), token: token)
                    #expect(response.isErrorInfo(401, "UNAUTHENTICATED"), "\(tag)_401.\(number): \(response.text)")
                    #expect(Self.isMirrored(response))
                    #expect(
                        response.headers["www-authenticate"]
                            == (token == nil ? "Bearer" : #"Bearer error="invalid_token""#))
                }
            }
            #expect(try await client.status(path) == "active")
        }
    }

    @Test func `403.1: a token without the scope of the operation`() async throws {
        try await CamaraClient.run { client in
            let path = try await client.register()
            for (tag, method, scope) in Self.operations {
                let others = Self.operations.map(\.2).filter { $0 != scope }.map { "brand-registration:" + $0 }
                let token = try await client.token(others.joined(separator: "+"))
                let target = method == "POST" ? CamaraClient.registrations : path
                let response = try await client.ask(method, target, CamaraClient.body(), token: token)
                #expect(response.isErrorInfo(403, "PERMISSION_DENIED"), "\(tag)_403.1: \(response.text)")
                #expect(Self.isMirrored(response))
            }
            #expect(try await client.status(path) == "active")
        }
    }

    @Test func `a header x-correlator that the definition excludes is refused, and not returned`() async throws {
        try await CamaraClient.run { client in
            let token = try await client.token()
            for text in ["two words", "<script>alert('x')</script>", String(repeating: "a", count: 257)] {
                let response = try await client.ask("GET", token: token, correlator: text)
                #expect(response.isErrorInfo(400, "INVALID_ARGUMENT"), "\(response.text)")
                #expect(response.headers["x-correlator"] == nil)
            }
            let longest = String(repeating: "a", count: 250) + "-_:;./"
            #expect(
                try await client.ask("GET", token: token, correlator: longest).headers["x-correlator"] == longest)
            #expect(try await client.ask("GET", token: token, correlator: nil).headers["x-correlator"] == nil)
        }
    }

    @Test func `other methods of a path get 405 with the ones that it has`() async throws {
        try await CamaraClient.run { client in
            let response = try await client.ask("PATCH", CamaraClient.registrations, "{}")
            #expect(response.isErrorInfo(405, "METHOD_NOT_ALLOWED"))
            #expect(response.headers["allow"] == "GET, POST")
        }
    }
}
