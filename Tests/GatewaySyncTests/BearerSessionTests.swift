// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import GatewaySync

@Suite("Signing in with tokens, api-client-networking 401 Handling", .timeLimit(.minutes(8)))
struct BearerSessionTests {
    private static let event = #"{"success":true,"event_id":"e-1"}"#

    /// A directory with one access token that is good at a time.
    private final class TokenPeer: Sendable {
        struct State {
            var good = "access-1"
            var isRegistered = true
            var refreshes = 0
            var refreshResponse: FaultyPeer.Response?
        }

        let state = Mutex(State())

        func response(_ request: FaultyPeer.Request) -> FaultyPeer.Response {
            state.withLock { state in
                let path = request.path.split(separator: "/").suffix(2).joined(separator: "/")
                switch path {
                case "device/register":
                    state.isRegistered = true
                    return .json(#"{"success":true}"#)
                case "auth/token":
                    guard request.headers["x-api-key"] == testKey else { return Self.refusal("ErrNoKey") }
                    guard state.isRegistered else { return Self.refusal(AuthenticationCode.deviceNotRegistered) }
                    return Self.tokens(state.good)
                case "auth/refresh":
                    state.refreshes += 1
                    if let response = state.refreshResponse { return response }
                    state.good = "access-\(state.refreshes + 1)"
                    return Self.tokens(state.good)
                default:
                    guard request.headers["authorization"] == "Bearer \(state.good)" else {
                        return Self.refusal(AuthenticationCode.accessTokenExpired)
                    }
                    return .json(BearerSessionTests.event)
                }
            }
        }

        static func tokens(_ access: String) -> FaultyPeer.Response {
            .json(#"{"success":true,"access_token":"\#(access)","refresh_token":"refresh","expires_in":60}"#)
        }

        static func refusal(_ code: String) -> FaultyPeer.Response {
            .status(401, body: #"{"success":false,"error":"no","code":"\#(code)"}"#)
        }
    }

    /// A directory with tokens, and the state folder of the gateway that signs in to it.
    private struct House {
        let directory = TokenPeer()
        let peer: FaultyPeer
        let folder = TemporaryFolder()
        let signedOut = Flag()

        /// - Parameter instead: the response in the place of the directory; nil for the directory's own.
        init(instead: @escaping @Sendable (FaultyPeer.Request) -> FaultyPeer.Response? = { _ in nil }) throws {
            peer = try FaultyPeer { [directory] request, _ in instead(request) ?? directory.response(request) }
        }

        /// One start of the gateway, which ends after `body`.
        func start(key: String = testKey, _ body: (DirectoryClient) async throws -> Void) async throws {
            let device = DeviceIdentity(id: "gateway-1", platform: "linux", systemVersion: "Debian", version: "1.2.3")
            try await withClient(
                of: peer,
                configure: { settings in
                    var bearer = BearerSettings(device: device, tokenFile: folder.path + "/tokens")
                    bearer.onSignedOut = { [signedOut] in signedOut.set() }
                    settings.bearer = bearer
                    settings.key = APIKey(key) ?? settings.key
                }, body)
        }

        /// The last two parts of every path that was asked for.
        var asked: [String] {
            peer.requests.map { $0.path.split(separator: "/").suffix(2).joined(separator: "/") }
        }

        func count(of path: String) -> Int { asked.filter { $0 == path }.count }
    }

    private static func send(_ client: DirectoryClient) async throws(DirectoryError) {
        _ = try await client.send(EventRequest(phoneNumber: "+61412345678", outcome: "displayed", eventKey: "k"))
    }

    @Test func `the first request signs in, the others use the token and show no key`() async throws {
        let house = try House()
        try await house.start { client in
            try await Self.send(client)
            try await Self.send(client)
        }
        let requests = house.peer.requests
        #expect(house.asked == ["auth/token", "branding/event", "branding/event"])
        #expect(requests[0].headers["authorization"] == nil)
        #expect(requests[1].headers["authorization"] == "Bearer access-1")
        #expect(requests[1].headers["x-api-key"] == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: house.folder.path + "/tokens")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        // The next start goes on with what was kept.
        try await house.start { try await Self.send($0) }
        #expect(house.count(of: "auth/token") == 1)
    }

    @Test(arguments: [
        (#"{"access_token":"access-1"}"#, true), (#"{"access_token":"access-1","expires_in":"60"}"#, true),
        (#"{"success":false,"access_token":"access-1"}"#, false), ("{}", false),
    ]) func `a token is all that signing in needs`(body: String, isEnough: Bool) async throws {
        let house = try House { $0.path.hasSuffix("/token") ? .json(body) : nil }
        try await house.start { client in
            let isSent = (try? await Self.send(client)) != nil
            #expect(isSent == isEnough)
        }
    }

    @Test func `a device the directory does not know is registered before it signs in`() async throws {
        let house = try House()
        house.directory.state.withLock { $0.isRegistered = false }
        try await house.start { try await Self.send($0) }
        #expect(house.asked == ["auth/token", "device/register", "auth/token", "branding/event"])
        #expect(house.peer.requests[1].headers["x-api-key"] == testKey)
    }

    @Test(arguments: 1...10)
    func `requests with an expired token refresh it once and are each repeated once`(round: Int) async throws {
        let house = try House()
        try await house.start { client in
            try await Self.send(client)
            house.directory.state.withLock { $0.good = "another" }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 { group.addTask { try await Self.send(client) } }
                try await group.waitForAll()
            }
        }
        #expect(house.count(of: "auth/refresh") == 1)
        #expect(house.count(of: "auth/token") == 1)
        #expect(house.asked.count <= 2 + 1 + 80)
    }

    @Test(arguments: 1...5)
    func `many first requests sign in once`(round: Int) async throws {
        let house = try House()
        try await house.start { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 { group.addTask { try await Self.send(client) } }
                try await group.waitForAll()
            }
        }
        #expect(house.count(of: "auth/token") == 1)
        #expect(house.asked.count == 41)
    }

    @Test(arguments: [AuthenticationCode.refreshTokenExpired, AuthenticationCode.deviceNotRegistered])
    func `these codes sign the gateway out, and no request is made until the next start`(code: String) async throws {
        let isRefused = Flag()
        let house = try House { request in
            request.path.hasSuffix("/event") && isRefused.isSet ? TokenPeer.refusal(code) : nil
        }
        try await house.start { client in
            try await Self.send(client)
            isRefused.set()
            await #expect(throws: DirectoryError.self) { try await Self.send(client) }
            #expect(house.signedOut.isSet)
            #expect(!FileManager.default.fileExists(atPath: house.folder.path + "/tokens"))
            let before = house.asked.count
            let error = await #expect(throws: DirectoryError.self) { try await Self.send(client) }
            #expect(error?.description.contains("restart herald to sign in again") == true)
            #expect(house.asked.count == before)
        }
        try await house.start { _ = try? await Self.send($0) }
        #expect(house.count(of: "auth/token") == 2)
    }

    @Test(arguments: [TokenPeer.tokens("access-9"), TokenPeer.refusal(AuthenticationCode.refreshTokenExpired)])
    func `a refresh the directory refuses, and a second 401, sign out`(response: FaultyPeer.Response) async throws {
        let house = try House()
        try await house.start { client in
            try await Self.send(client)
            house.directory.state.withLock { state in
                state.good = "never"
                state.refreshResponse = response
            }
            await #expect(throws: DirectoryError.self) { try await Self.send(client) }
        }
        #expect(house.signedOut.isSet)
    }

    @Test(arguments: [
        FaultyPeer.Response.status(503), .status(404), .status(403), .status(401),
        .status(401, body: "<h1>Log in</h1>"),
        .refusal(403), .status(400, body: #"{"error":"no","code":"X"}"#),
    ]) func `a refresh that fails for anything but the directory's 401 signs nobody out`(response: FaultyPeer.Response)
        async throws
    {
        let house = try House()
        try await house.start { client in
            try await Self.send(client)
            house.directory.state.withLock { state in
                state.good = "another"
                state.refreshResponse = response
            }
            let error = await #expect(throws: DirectoryError.self) { try await Self.send(client) }
            guard case .unavailable = error else { Issue.record("\(String(describing: error))"); return }
            #expect(!house.signedOut.isSet)
            house.directory.state.withLock { $0.refreshResponse = nil }
            try await Self.send(client)
        }
    }

    @Test func `tokens of another key are not used`() async throws {
        let house = try House { request in
            // The old key's tokens have gone with it.
            request.headers["x-api-key"] == "another-key" ? TokenPeer.tokens("access-1") : nil
        }
        try await house.start { try await Self.send($0) }
        try await house.start(key: "another-key") { try await Self.send($0) }
        #expect(house.asked == ["auth/token", "branding/event", "auth/token", "branding/event"])
        #expect(!house.signedOut.isSet)
    }

    @Test func `no token is in an error`() async throws {
        let house = try House { request in
            request.path.hasSuffix("/token")
                ? TokenPeer.tokens("secret-token") : .status(400, body: #"{"error":"bad secret-token"}"#)
        }
        try await house.start { client in
            let error = await #expect(throws: DirectoryError.self) { try await Self.send(client) }
            #expect(error?.description.contains("secret-token") == false)
        }
    }
}
