// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Crypto
import DirectoryFixtures
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("Tokens and signed requests", .timeLimit(.minutes(8)), .bothEngines)
struct TokenTests {
    private static let path = "/api/" + APIPath.lookup + "?e164=%2B61491570156"

    /// A directory with a device `gw`, and its first tokens.
    private static func run(
        _ body: @escaping @Sendable (RunningDirectory, TokenResponse) async throws -> Void
    ) async throws {
        try await RunningDirectory.run { directory in
            _ = try await directory.post("/" + APIPath.register, #"{"device_id":"gw","platform":"sip"}"#)
            let tokens = try await directory.post("/" + APIPath.token, #"{"device_id":"gw"}"#)
            try await body(directory, try tokens.decoded(TokenResponse.self))
        }
    }

    /// Without the key.
    private static func ask(_ directory: RunningDirectory, token: String) async throws -> ReceivedResponse {
        try await LoopbackClient.ask(
            RawRequest(path: path, headers: [("Authorization", "Bearer \(token)")]), port: directory.port)
    }

    private static func refresh(_ directory: RunningDirectory, _ token: String) async throws -> ReceivedResponse {
        try await LoopbackClient.ask(
            RawRequest(
                method: "POST", path: "/api/" + APIPath.refresh, body: Array(#"{"refresh_token":"\#(token)"}"#.utf8)),
            port: directory.port)
    }

    @Test func `an access token replaces the key until it expires, and a refresh brings the next`() async throws {
        try await Self.run { directory, tokens in
            #expect(tokens.expiresIn == 900)
            #expect(try await Self.ask(directory, token: tokens.accessToken).status == 200)
            directory.time.now += 900
            let expired = try await Self.ask(directory, token: tokens.accessToken)
            #expect(expired.status == 401)
            #expect(expired.isEnvelope("ErrAccessTokenExpired"))
            let next = try await Self.refresh(directory, tokens.refreshToken ?? "").decoded(TokenResponse.self)
            #expect(next.refreshToken != tokens.refreshToken)
            #expect(try await Self.ask(directory, token: next.accessToken).status == 200)
        }
    }

    @Test func `a lost response can be requested again, and a stolen token revokes all`() async throws {
        try await Self.run { directory, tokens in
            let old = tokens.refreshToken ?? ""
            let first = try await Self.refresh(directory, old).decoded(TokenResponse.self)
            directory.time.now += 60
            #expect(try await Self.refresh(directory, old).status == 200)
            directory.time.now += 1
            #expect(try await Self.refresh(directory, old).isEnvelope("ErrRefreshTokenExpired"))
            #expect(try await Self.refresh(directory, first.refreshToken ?? "").isEnvelope("ErrRefreshTokenExpired"))
            #expect(try await Self.ask(directory, token: first.accessToken).isEnvelope("ErrAccessTokenExpired"))
        }
    }

    @Test func `a refresh token ends after 30 days, and all tokens with their key`() async throws {
        try await Self.run { directory, tokens in
            _ = try AccountStore(directory.database).revokeKey(name: "test", now: 1)
            #expect(try await Self.ask(directory, token: tokens.accessToken).isEnvelope("ErrRefreshTokenExpired"))
        }
        try await Self.run { directory, tokens in
            directory.time.now += 30 * 86_400
            let late = try await Self.refresh(directory, tokens.refreshToken ?? "")
            #expect(late.status == 401)
            #expect(late.isEnvelope("ErrRefreshTokenExpired"))
        }
    }

    @Test func `only a registered device gets tokens, and no token makes others`() async throws {
        try await Self.run { directory, tokens in
            let stranger = try await directory.post("/" + APIPath.token, #"{"device_id":"stranger"}"#)
            #expect(stranger.status == 401)
            #expect(stranger.isEnvelope("ErrDeviceNotRegistered"))
            let response = try await LoopbackClient.ask(
                RawRequest(
                    method: "POST", path: "/" + APIPath.token,
                    headers: [("Authorization", "bearer \(tokens.accessToken)")],
                    body: Array(#"{"device_id":"gw"}"#.utf8)), port: directory.port)
            #expect(response.isEnvelope("key_required"))
        }
    }

    @Test func `neither key nor tokens nor secrets are found in the files of the database`() async throws {
        try await Self.run { directory, tokens in
            for name in ["directory.sqlite", "directory.sqlite-wal"] {
                let file = FileManager.default.contents(atPath: directory.folder.path + "/state/" + name) ?? Data()
                for secret in [directory.key, tokens.accessToken, tokens.refreshToken ?? "-"] {
                    #expect(file.range(of: Data(secret.utf8)) == nil)
                }
            }
        }
    }

    /// The headers of a signed request.
    private static func signature(
        _ secret: SigningSecrets.Secret, _ method: String, _ path: String, _ body: String, at time: Int64
    ) -> [String: String] {
        let message = RequestSignature.message(
            id: secret.id, method: method, path: path, body: Array(body.utf8), time: "\(time)")
        let code = HMAC<SHA256>.authenticationCode(
            for: message, using: SymmetricKey(data: Data(secret.secret.utf8)))
        return [
            "X-Api-Id": secret.id, "X-Nonce": "\(time)",
            "X-Signature": code.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(),
        ]
    }

    @Test func `a key with a secret takes only requests that are signed, body and all`() async throws {
        try await RunningDirectory.run { directory in
            let secret = try SigningSecrets(directory.database).create(forKey: directory.key)
            let (path, body) = ("/api/" + APIPath.register, #"{"device_id":"gw","platform":"sip"}"#)
            let now = ManualTime.start
            let good = Self.signature(secret, "POST", path, body, at: now - 300)
            #expect(try await directory.ask(path, method: "POST", headers: good, body: body).status == 200)
            var upper = good
            upper["X-Signature"] = good["X-Signature"]?.uppercased()
            #expect(try await directory.ask(path, method: "POST", headers: upper, body: body).status == 200)
            var cases: [(headers: [String: String], body: String)] = [
                ([:], body), (good, body + " "), (Self.signature(secret, "GET", path, body, at: now), body),
                (Self.signature(secret, "POST", "/" + APIPath.register, body, at: now), body),
                (Self.signature(secret, "POST", path, body, at: now - 301), body),
                (Self.signature(secret, "POST", path, body, at: now + 301), body),
            ]
            for (name, value) in [("X-Signature", "00"), ("X-Signature", "zz"), ("X-Api-Id", "x"), ("X-Nonce", "1e9")] {
                var wrong = good
                wrong[name] = value
                cases.append((wrong, body))
            }
            for (headers, body) in cases {
                let response = try await directory.ask(path, method: "POST", headers: headers, body: body)
                #expect(response.status == 401)
                #expect(response.isEnvelope("ErrInvalidSignature"), "\(headers)")
            }
        }
    }

    @Test func `the tokens of a key with a secret are refreshed by signed requests only`() async throws {
        try await Self.run { directory, tokens in
            let secret = try SigningSecrets(directory.database).create(forKey: directory.key)
            let token = tokens.refreshToken ?? ""
            #expect(try await Self.refresh(directory, token).isEnvelope("ErrInvalidSignature"))
            let (path, body) = ("/" + APIPath.refresh, #"{"refresh_token":"\#(token)"}"#)
            let headers = Self.signature(secret, "POST", path, body, at: ManualTime.start)
            let response = try await directory.ask(path, method: "POST", headers: headers, body: body)
            #expect(response.status == 200)
        }
    }

    @Test func `the successor of a key that signs takes only signed requests, with the same secret`() async throws {
        try await RunningDirectory.run { directory in
            let path = "/api/" + APIPath.sync
            let secret = try SigningSecrets(directory.database).create(forKey: directory.key)
            let account = AccountStore(directory.database)
            let (key, _) = try account.rotateKey("test", grace: 100, now: directory.time.now)
            for key in [key, directory.key] {
                let unsigned = try await directory.ask(path, headers: ["X-API-Key": key])
                #expect(unsigned.isEnvelope("ErrInvalidSignature"))
                var headers = Self.signature(secret, "GET", path, "", at: ManualTime.start)
                headers["X-API-Key"] = key
                #expect(try await directory.ask(path, headers: headers).status == 200)
            }
            #expect(try SigningSecrets(directory.database).find(forKey: key)?.id == secret.id)
            #expect(try SigningSecrets(directory.database).find(forKey: "other") == nil)
        }
    }

    @Test func `tokens go on with the successor of their key when its grace is over`() async throws {
        try await Self.run { directory, tokens in
            let account = AccountStore(directory.database)
            let (key, ends) = try account.rotateKey("test", grace: 100, now: directory.time.now)
            directory.time.now = ends
            #expect(try await Self.ask(directory, token: tokens.accessToken).status == 200)
            let next = try await Self.refresh(directory, tokens.refreshToken ?? "").decoded(TokenResponse.self)
            #expect(try await Self.ask(directory, token: next.accessToken).status == 200)
            // The name takes them all, and a new key of that name brings none of them back.
            #expect(try account.revokeKey(name: "test", now: ends))
            _ = try account.createKey(name: "test", now: ends)
            for token in [tokens.accessToken, next.accessToken] {
                #expect(try await Self.ask(directory, token: token).status == 401)
            }
            #expect(try await directory.ask(Self.path, headers: ["X-API-Key": key]).status == 401)
        }
    }

    @Test func `tokens go over two rotations, and none comes back with a new key of the name`() async throws {
        try await Self.run { directory, tokens in
            let account = AccountStore(directory.database)
            for _ in 0..<2 {
                let (_, ends) = try account.rotateKey("test", grace: 10, now: directory.time.now)
                directory.time.now = ends
            }
            #expect(try await Self.ask(directory, token: tokens.accessToken).status == 200)
            let last = try #require(account.keys().first { $0.expires == nil }).id
            #expect(try account.revokeKey(name: last, now: directory.time.now))
            #expect(try await Self.ask(directory, token: tokens.accessToken).status == 401)
            _ = try account.createKey(name: "test", now: directory.time.now)
            #expect(try await Self.ask(directory, token: tokens.accessToken).status == 401)
        }
    }

    @Test(arguments: [true, false])
    func `tokens end with a key that ends at once, or is revoked alone`(endsAtOnce: Bool) async throws {
        try await Self.run { directory, tokens in
            let account = AccountStore(directory.database)
            let old = try #require(account.keys().first).id
            _ = try account.rotateKey("test", grace: endsAtOnce ? 0 : 100, now: directory.time.now)
            if !endsAtOnce { #expect(try account.revokeKey(name: old, now: directory.time.now)) }
            #expect(try await Self.ask(directory, token: tokens.accessToken).status == 401)
            #expect(try await Self.refresh(directory, tokens.refreshToken ?? "").status == 401)
        }
    }
}
