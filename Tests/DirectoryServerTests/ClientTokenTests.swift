// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Foundation
import TestFixtures
import Testing

/// Tokens by client credentials (RFC 6749 §4.4).
@Suite("Tokens of registrars", .timeLimit(.minutes(8)), .bothEngines)
struct ClientTokenTests {
    private static let grant = "grant_type=client_credentials"

    @Test func `a token has the wanted scopes, all without a wish, and is never cached`() async throws {
        try await CamaraClient.run { client in
            let all = try await client.tokenRequest(Self.grant, authorization: client.basic)
            #expect(all.status == 200 && all.headers["cache-control"] == "no-store")
            #expect(all.headers["pragma"] == "no-cache" && all.headers["content-type"] == "application/json")
            #expect(all.object["token_type"] == .string("Bearer") && all.object["expires_in"] == .int(900))
            #expect(
                all.object["scope"]
                    == .string(
                        "brand-registration:create brand-registration:read brand-registration:update brand-registration:delete"
                    ))
            let one = try await client.tokenRequest(
                Self.grant + "&scope=brand-registration%3Aread", authorization: client.basic)
            #expect(one.object["scope"] == .string("brand-registration:read"))
            // The secret may come in the form instead.
            let form = Self.grant + "&client_id=\(client.id)&client_secret=\(client.secret)"
            #expect(try await client.tokenRequest(form, authorization: nil).status == 200)
        }
    }

    @Test func `a refusal has the code of RFC 6749 §5.2`() async throws {
        try await CamaraClient.run { client in
            let basic = client.basic
            func base64(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }
            let gateway = try AccountStore(client.directory.database).createKey(name: "gw", now: 0)
            let keys = try AccountStore(client.directory.database).keys()
            let gatewayID = try #require(keys.first { $0.name == "gw" }).id
            let rows: [(name: String, form: String, authorization: String?, status: Int, code: String)] = [
                ("no grant", "scope=", basic, 400, "invalid_request"),
                ("empty", "", basic, 400, "invalid_request"),
                ("other grant", "grant_type=password&username=a", basic, 400, "unsupported_grant_type"),
                ("twice", Self.grant + "&" + Self.grant, basic, 400, "invalid_request"),
                ("broken escape", Self.grant + "&scope=%F", basic, 400, "invalid_request"),
                ("two methods", Self.grant + "&client_id=\(client.id)", basic, 400, "invalid_request"),
                ("no client", Self.grant, nil, 401, "invalid_client"),
                ("wrong secret", Self.grant, base64("\(client.id):hd_0"), 401, "invalid_client"),
                ("wrong id", Self.grant, base64("0123456789ab:\(client.secret)"), 401, "invalid_client"),
                ("no colon", Self.grant, base64("abc"), 401, "invalid_client"),
                ("no base64", Self.grant, "Basic ##", 401, "invalid_client"),
                ("bearer", Self.grant, "Bearer \(client.secret)", 401, "invalid_client"),
                (
                    "a long secret", Self.grant, base64("\(client.id):" + String(repeating: "a", count: 5000)), 401,
                    "invalid_client"
                ),
                ("a gateway's key", Self.grant, base64("\(gatewayID):\(gateway)"), 400, "unauthorized_client"),
                ("unknown scope", Self.grant + "&scope=brand-registration:read+openid", basic, 400, "invalid_scope"),
                (
                    "a long body", Self.grant + "&a=" + String(repeating: "a", count: 9000), basic, 400,
                    "invalid_request"
                ),
            ]
            for row in rows {
                let response = try await client.tokenRequest(row.form, authorization: row.authorization)
                #expect(response.status == row.status, "\(row.name): \(response.text)")
                #expect(response.object["error"] == .string(row.code), "\(row.name): \(response.text)")
                #expect(response.headers["cache-control"] == "no-store", "\(row.name)")
                let challenge = response.headers["www-authenticate"]
                #expect((challenge?.hasPrefix("Basic ") == true) == (row.status == 401), "\(row.name)")
                #expect(!response.text.contains(client.secret))
            }
            let json = try await client.tokenRequest(
                #"{"grant_type":"client_credentials"}"#, authorization: basic, type: "application/json")
            #expect(json.status == 400 && json.object["error"] == .string("invalid_request"))
        }
    }

    @Test func `a token of a rotated key ends with the key, not with its successor`() async throws {
        try await CamaraClient.run { client in
            let store = AccountStore(client.directory.database)
            let token = try await client.token()
            _ = try store.rotateKey("shop", grace: 60, now: client.directory.time.now)
            client.directory.time.now += 59
            #expect(try await client.ask("GET", token: token).status == 200)
            client.directory.time.now += 1
            #expect(try await client.ask("GET", token: token).isErrorInfo(401, "UNAUTHENTICATED"))
            let secret = try await client.tokenRequest(Self.grant, authorization: client.basic)
            #expect(secret.status == 401, "the old key has ended")
        }
    }

    @Test(arguments: [false, true])
    func `a token is worth nothing once its key was removed, even if it was issued later`(isRotated: Bool)
        async throws
    {
        try await CamaraClient.run { client in
            let (database, now) = (client.directory.database, client.directory.time.now)
            let (store, tokens) = (AccountStore(database), ClientTokens(database))
            let early = try await client.token()
            #expect(try await client.ask("GET", token: early).status == 200)
            // A request for a token that has read its key before the removal, and writes after it.
            let caller = try #require(try await tokens.client(client.id, secret: client.secret, now: now))
            if isRotated {
                _ = try store.rotateKey("shop", grace: 0, now: now)
            } else {
                #expect(try store.revokeKey(name: "shop", now: now))
            }
            let late = try await tokens.issue(["brand-registration:read"], to: caller, now: now)
            for token in [early, late] {
                #expect(try await client.ask("GET", token: token).isErrorInfo(401, "UNAUTHENTICATED"))
            }
        }
    }

    @Test func `a registrar's key does not open the contract, and a gateway's key or token no registration`()
        async throws
    {
        try await CamaraClient.run { client in
            let path = "/api/" + APIPath.lookup + "?e164=%2B61491570156"
            #expect(try await client.directory.ask(path, headers: ["X-API-Key": client.secret]).status == 401)
            let token = try await client.token()
            let byToken = try await LoopbackClient.ask(
                RawRequest(path: path, headers: [("Authorization", "Bearer \(token)")]), port: client.directory.port)
            #expect(byToken.status == 401)
            #expect(try await client.directory.ask(CamaraClient.registrations).isErrorInfo(401, "UNAUTHENTICATED"))
        }
    }

    @Test func `the routes exist only where the configuration has them`() async throws {
        try await RunningDirectory.run { directory in
            for (method, path) in [("POST", "/oauth2/token"), ("GET", CamaraClient.registrations)] {
                let response = try await directory.ask(path, method: method)
                #expect(response.status == 404, "\(path)")
            }
        }
    }

    @Test func `a client and an address with wrong secrets are limited`() async throws {
        let limits = RateLimits(web: 3, mobileIOS: 0, mobileAndroid: 0, herald: 0, wrongKeys: 2)
        try await RunningDirectory.run(limits: limits, edit: { $0.offersRegistrations = true }) { directory in
            let client = try CamaraClient(directory)
            let token = try await client.token()
            for _ in 0..<2 { #expect(try await client.ask("GET", token: token).status == 200) }
            let over = try await client.ask("GET", token: token)
            #expect(over.isErrorInfo(429, "TOO_MANY_REQUESTS") && over.headers["retry-after"] == "60")
            for status in [401, 401, 429] {
                let wrong = try await client.tokenRequest(Self.grant, authorization: "Basic YTpi")
                #expect(wrong.status == status, "\(wrong.text)")
            }
        }
    }
}
