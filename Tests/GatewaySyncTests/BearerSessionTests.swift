// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Synchronization
import Testing

@testable import GatewaySync

@Suite("Signing in with tokens, api-client-networking 401 Handling", .timeLimit(.minutes(1)))
struct BearerSessionTests {
    private static let event = #"{"success":true,"event_id":"e-1"}"#

    /// A directory with one access token that is good at a time.
    private final class TokenPeer: Sendable {
        struct State {
            var good = "access-1"
            var isRegistered = true
            var refreshes = 0
            var refreshAnswer: FaultyPeer.Answer?
        }

        let state = Mutex(State())

        func answer(_ request: FaultyPeer.Request) -> FaultyPeer.Answer {
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
                    if let answer = state.refreshAnswer { return answer }
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

        static func tokens(_ access: String) -> FaultyPeer.Answer {
            .json(#"{"success":true,"access_token":"\#(access)","refresh_token":"refresh","expires_in":60}"#)
        }

        static func refusal(_ code: String) -> FaultyPeer.Answer {
            .status(401, body: #"{"success":false,"error":"no","code":"\#(code)"}"#)
        }
    }

    private static func client(_ peer: FaultyPeer, _ folder: TemporaryFolder, signedOut: Flag = Flag()) throws
        -> DirectoryClient
    {
        let device = DeviceIdentity(id: "gateway-1", platform: "linux", systemVersion: "Debian", version: "1.2.3")
        return try GatewaySyncTests.client(at: peer.url, time: ManualTime(passesByItself: true)) { settings in
            var bearer = BearerSettings(device: device, tokenFile: folder.path + "/tokens")
            bearer.onSignedOut = { signedOut.set() }
            settings.bearer = bearer
        }
    }

    private static func send(_ client: DirectoryClient) async throws(DirectoryError) {
        _ = try await client.send(EventRequest(phoneNumber: "+61412345678", outcome: "displayed", eventKey: "k"))
    }

    private static func last(_ peer: FaultyPeer) -> [String] {
        peer.requests.map { $0.path.split(separator: "/").suffix(2).joined(separator: "/") }
    }

    @Test func `the first request signs in, the others use the token and show no key`() async throws {
        let directory = TokenPeer()
        let peer = try FaultyPeer { request, _ in directory.answer(request) }
        let folder = TemporaryFolder()
        let client = try Self.client(peer, folder)
        try await Self.send(client)
        try await Self.send(client)
        #expect(Self.last(peer) == ["auth/token", "branding/event", "branding/event"])
        #expect(peer.requests[0].headers["authorization"] == nil)
        #expect(peer.requests[1].headers["authorization"] == "Bearer access-1")
        #expect(peer.requests[1].headers["x-api-key"] == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/tokens")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        await client.shutdown()
        // The next start goes on with what was kept.
        let next = try Self.client(peer, folder)
        try await Self.send(next)
        #expect(Self.last(peer).filter { $0 == "auth/token" }.count == 1)
        await next.shutdown()
    }

    @Test func `a device the directory does not know is registered before it signs in`() async throws {
        let directory = TokenPeer()
        directory.state.withLock { $0.isRegistered = false }
        let peer = try FaultyPeer { request, _ in directory.answer(request) }
        let client = try Self.client(peer, TemporaryFolder())
        try await Self.send(client)
        #expect(Self.last(peer) == ["auth/token", "device/register", "auth/token", "branding/event"])
        #expect(peer.requests[1].headers["x-api-key"] == testKey)
        await client.shutdown()
    }

    @Test(arguments: 1...10)
    func `requests that meet an expired token refresh it once and are each repeated once`(round: Int) async throws {
        let directory = TokenPeer()
        let peer = try FaultyPeer { request, _ in directory.answer(request) }
        let client = try Self.client(peer, TemporaryFolder())
        try await Self.send(client)
        directory.state.withLock { $0.good = "another" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 { group.addTask { try await Self.send(client) } }
            try await group.waitForAll()
        }
        #expect(Self.last(peer).filter { $0 == "auth/refresh" }.count == 1)
        #expect(Self.last(peer).filter { $0 == "auth/token" }.count == 1)
        #expect(peer.requests.count <= 2 + 1 + 80)
        await client.shutdown()
    }

    @Test(arguments: 1...5)
    func `many first requests sign in once`(round: Int) async throws {
        let directory = TokenPeer()
        let peer = try FaultyPeer { request, _ in directory.answer(request) }
        let client = try Self.client(peer, TemporaryFolder())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 { group.addTask { try await Self.send(client) } }
            try await group.waitForAll()
        }
        #expect(Self.last(peer).filter { $0 == "auth/token" }.count == 1)
        #expect(peer.requests.count == 41)
        await client.shutdown()
    }

    @Test(arguments: [AuthenticationCode.refreshTokenExpired, AuthenticationCode.deviceNotRegistered])
    func `these codes sign the gateway out, and no request is made until the next start`(code: String) async throws {
        let directory = TokenPeer()
        let isRefused = Flag()
        let peer = try FaultyPeer { request, _ in
            request.path.hasSuffix("/event") && isRefused.isSet ? TokenPeer.refusal(code) : directory.answer(request)
        }
        let (folder, signedOut) = (TemporaryFolder(), Flag())
        let client = try Self.client(peer, folder, signedOut: signedOut)
        try await Self.send(client)
        isRefused.set()
        await #expect(throws: DirectoryError.self) { try await Self.send(client) }
        #expect(signedOut.isSet)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/tokens"))
        let before = peer.requests.count
        let error = await #expect(throws: DirectoryError.self) { try await Self.send(client) }
        #expect(error?.description.contains("restart herald to sign in again") == true)
        #expect(peer.requests.count == before)
        await client.shutdown()
        let next = try Self.client(peer, folder)
        _ = try? await Self.send(next)
        #expect(Self.last(peer).filter { $0 == "auth/token" }.count == 2)
        await next.shutdown()
    }

    @Test func `a refresh the directory refuses, and a second 401, sign out`() async throws {
        for isRefreshed in [false, true] {
            let directory = TokenPeer()
            let peer = try FaultyPeer { request, _ in directory.answer(request) }
            let signedOut = Flag()
            let client = try Self.client(peer, TemporaryFolder(), signedOut: signedOut)
            try await Self.send(client)
            directory.state.withLock { state in
                state.good = "never"
                state.refreshAnswer =
                    isRefreshed
                    ? TokenPeer.tokens("access-9") : TokenPeer.refusal(AuthenticationCode.refreshTokenExpired)
            }
            await #expect(throws: DirectoryError.self) { try await Self.send(client) }
            #expect(signedOut.isSet)
            await client.shutdown()
        }
    }

    @Test func `a refresh that fails for the network signs nobody out`() async throws {
        let directory = TokenPeer()
        let peer = try FaultyPeer { request, _ in directory.answer(request) }
        let signedOut = Flag()
        let client = try Self.client(peer, TemporaryFolder(), signedOut: signedOut)
        try await Self.send(client)
        directory.state.withLock { state in
            state.good = "another"
            state.refreshAnswer = .status(503)
        }
        let error = await #expect(throws: DirectoryError.self) { try await Self.send(client) }
        guard case .unavailable = error else { Issue.record("\(String(describing: error))"); return }
        #expect(!signedOut.isSet)
        directory.state.withLock { $0.refreshAnswer = nil }
        try await Self.send(client)
        await client.shutdown()
    }

    @Test func `no token is in an error`() async throws {
        let peer = try FaultyPeer { request, _ in
            request.path.hasSuffix("/token")
                ? TokenPeer.tokens("secret-token") : .status(400, body: #"{"error":"bad secret-token"}"#)
        }
        let client = try Self.client(peer, TemporaryFolder())
        let error = await #expect(throws: DirectoryError.self) { try await Self.send(client) }
        #expect(error?.description.contains("secret-token") == false)
        await client.shutdown()
    }
}
