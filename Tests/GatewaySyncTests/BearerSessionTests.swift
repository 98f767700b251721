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
            /// The response to a sign-in in the place of tokens.
            var signInResponse: FaultyPeer.Response?
            /// The code of the refusal of a wrong token.
            var code = AuthenticationCode.accessTokenExpired
            /// Seconds of a token's life.
            var life = 3600
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
                    return state.signInResponse ?? Self.tokens(state.good, life: state.life)
                case "auth/refresh":
                    state.refreshes += 1
                    if let response = state.refreshResponse { return response }
                    state.good = "access-\(state.refreshes + 1)"
                    return Self.tokens(state.good, life: state.life)
                default:
                    guard request.headers["authorization"] == "Bearer \(state.good)" else {
                        return Self.refusal(state.code)
                    }
                    return .json(BearerSessionTests.event)
                }
            }
        }

        static func tokens(_ access: String, life: Int = 3600) -> FaultyPeer.Response {
            .json(#"{"success":true,"access_token":"\#(access)","refresh_token":"refresh","expires_in":\#(life)}"#)
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
        let time = ManualTime(passesByItself: true)

        /// - Parameter instead: the response in the place of the directory; nil for the directory's own.
        init(instead: @escaping @Sendable (FaultyPeer.Request) -> FaultyPeer.Response? = { _ in nil }) throws {
            peer = try FaultyPeer { [directory] request, _ in instead(request) ?? directory.response(request) }
        }

        /// One start of the gateway, which ends after `body`.
        func start(key: String = testKey, _ body: (DirectoryClient) async throws -> Void) async throws {
            let device = DeviceIdentity(id: "gateway-1", platform: "linux", systemVersion: "Debian", version: "1.2.3")
            try await withClient(
                of: peer, time: time,
                configure: { settings in
                    settings.bearer = BearerSettings(device: device, tokenFile: folder.path + "/tokens")
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

    @Test(arguments: [
        AuthenticationCode.refreshTokenExpired, AuthenticationCode.deviceNotRegistered, "SESSION_REVOKED",
    ])
    func `a session that the directory has ended is replaced with the API key at once`(code: String) async throws {
        let house = try House()
        try await house.start { client in
            try await Self.send(client)
            house.directory.state.withLock { ($0.good, $0.code) = ("access-9", code) }
            try await Self.send(client)
            try await Self.send(client)
        }
        #expect(
            house.asked == [
                "auth/token", "branding/event", "branding/event", "auth/token", "branding/event", "branding/event",
            ])
        #expect(house.peer.requests.last?.headers["authorization"] == "Bearer access-9")
        // The next start goes on with the new tokens.
        try await house.start { try await Self.send($0) }
        #expect(house.count(of: "auth/token") == 2)
    }

    @Test(arguments: [
        TokenPeer.refusal(AuthenticationCode.refreshTokenExpired), .refusal(401), .refusal(403),
        // RFC 6749 §5.2: a refresh token that is not valid gets 400.
        .status(400, body: #"{"error":"invalid_grant","code":"invalid_grant"}"#),
    ]) func `a refresh that the directory refuses is followed by a sign-in`(response: FaultyPeer.Response) async throws
    {
        let house = try House()
        try await house.start { client in
            try await Self.send(client)
            house.directory.state.withLock { ($0.good, $0.refreshResponse) = ("access-9", response) }
            try await Self.send(client)
        }
        #expect(house.asked.suffix(4) == ["branding/event", "auth/refresh", "auth/token", "branding/event"])
    }

    @Test(arguments: [AuthenticationCode.accessTokenExpired, "TOKEN_EXPIRED"])
    func `both codes of an expired token have it refreshed`(code: String) async throws {
        let house = try House()
        try await house.start { client in
            try await Self.send(client)
            house.directory.state.withLock { ($0.good, $0.code) = ("another", code) }
            try await Self.send(client)
        }
        #expect(house.count(of: "auth/refresh") == 1 && house.count(of: "auth/token") == 1)
    }

    @Test func `TOKEN_EXPIRED as the Mobile API sends it has the token refreshed`() async throws {
        let isExpired = Flag()
        let house = try House { request in
            guard request.path.hasSuffix("/event"), isExpired.isSet,
                request.headers["authorization"] == "Bearer access-1"
            else { return nil }
            return .status(
                401,
                body: """
                    {"error": {"code": "TOKEN_EXPIRED",
                      "message": "Your authentication token has expired. Please refresh your token.",
                      "details": {"expired_at": "2024-01-15T10:30:00Z", "refresh_endpoint": "/v1/auth/refresh"},
                      "retry_guidance": "Refresh your authentication token and retry the request"}}
                    """)
        }
        try await house.start { client in
            try await Self.send(client)
            isExpired.set()
            try await Self.send(client)
        }
        #expect(house.asked.suffix(3) == ["branding/event", "auth/refresh", "branding/event"])
    }

    @Test func `a token is refreshed after four fifths of its life, before any request gets 401`() async throws {
        let house = try House()
        house.directory.state.withLock { $0.life = 900 }
        try await house.start { client in
            try await Self.send(client)
            house.time.advance(by: .seconds(719))
            try await Self.send(client)
            #expect(house.count(of: "auth/refresh") == 0)
            house.time.advance(by: .seconds(1))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { try await Self.send(client) } }
                try await group.waitForAll()
            }
        }
        #expect(house.count(of: "auth/refresh") == 1)
        #expect(house.asked.count == 24, "no request was repeated")
        // The life is that of the file too.
        house.time.advance(by: .seconds(720))
        try await house.start { try await Self.send($0) }
        #expect(house.asked.suffix(2) == ["auth/refresh", "branding/event"])
        // A clock that was set back by a day does not postpone a refresh by a day.
        house.time.advance(by: .seconds(-86_400))
        try await house.start { try await Self.send($0) }
        #expect(house.asked.suffix(2) == ["auth/refresh", "branding/event"])
    }

    @Test func `an early refresh that fails leaves the token in use, and is not repeated with each request`()
        async throws
    {
        let house = try House()
        house.directory.state.withLock { $0.life = 900 }
        try await house.start { client in
            try await Self.send(client)
            house.directory.state.withLock { $0.refreshResponse = .status(503) }
            house.time.advance(by: .seconds(720))
            for _ in 0..<5 { try await Self.send(client) }
            #expect(house.count(of: "auth/refresh") == 1)
            house.directory.state.withLock { $0.refreshResponse = nil }
            house.time.advance(by: .seconds(30))
            try await Self.send(client)
        }
        #expect(house.count(of: "auth/refresh") == 2 && house.count(of: "auth/token") == 1)
    }

    @Test func `only a refused key keeps the gateway out: 1 min, doubling to 1 h, or until an operator asks`()
        async throws
    {
        let house = try House()
        try await house.start { client in
            try await Self.send(client)
            house.directory.state.withLock { state in
                (state.good, state.code) = ("access-9", AuthenticationCode.refreshTokenExpired)
                state.signInResponse = .refusal(401)
            }
            func isRefused() async -> Bool {
                do throws(DirectoryError) {
                    try await Self.send(client)
                } catch {
                    if case .unauthorised = error { return true }
                }
                return false
            }
            #expect(await isRefused())
            #expect(!FileManager.default.fileExists(atPath: house.folder.path + "/tokens"))
            var asked = 2
            for wait in [60, 120, 240, 480, 960, 1920, 3600, 3600] {
                house.time.advance(by: .seconds(wait - 1))
                #expect(await isRefused())
                #expect(house.count(of: "auth/token") == asked, "before \(wait) s")
                house.time.advance(by: .seconds(1))
                #expect(await isRefused())
                asked += 1
                #expect(house.count(of: "auth/token") == asked, "after \(wait) s")
            }
            // The key is good again. An operator need not wait for the hour.
            house.directory.state.withLock { $0.signInResponse = nil }
            #expect(await isRefused())
            await client.allowSignIn()
            try await Self.send(client)
        }
    }

    @Test func `a fresh token that one route refuses is no reason to sign in with every request`() async throws {
        let house = try House { $0.path.hasSuffix("/event") ? TokenPeer.refusal("NO_EVENTS") : nil }
        try await house.start { client in
            for _ in 0..<10 { await #expect(throws: DirectoryError.self) { try await Self.send(client) } }
            #expect(house.count(of: "auth/token") == 2)
            // Other requests use the token.
            house.directory.state.withLock { $0.good = "access-1" }
            _ = try? await client.remoteConfiguration(platform: "linux", version: "1.2.3")
            #expect(house.peer.requests.last?.headers["authorization"] == "Bearer access-1")
        }
    }

    @Test(arguments: [
        FaultyPeer.Response.status(503), .status(404), .status(403), .status(401),
        .status(401, body: "<h1>Log in</h1>"),
    ]) func `a refresh that fails for anything but the directory's refusal keeps the tokens`(
        response: FaultyPeer.Response
    ) async throws {
        let house = try House()
        try await house.start { client in
            try await Self.send(client)
            house.directory.state.withLock { state in
                state.good = "another"
                state.refreshResponse = response
            }
            let error = await #expect(throws: DirectoryError.self) { try await Self.send(client) }
            guard case .unavailable = error else { Issue.record("\(String(describing: error))"); return }
            #expect(house.count(of: "auth/token") == 1)
            house.directory.state.withLock { $0.refreshResponse = nil }
            try await Self.send(client)
        }
    }

    @Test(arguments: [
        FaultyPeer.Response.status(404), .status(404, body: #"{"success":false,"error":"no","code":"NOT_FOUND"}"#),
        .status(422, body: #"{"success":false,"error":"no","code":"INVALID_CLIENT_TYPE"}"#), .status(503),
    ]) func `a refused sign-in is no refusal of the request that needs the token`(response: FaultyPeer.Response)
        async throws
    {
        let house = try House { $0.path.hasSuffix("/token") ? response : nil }
        try await house.start { client in
            let error = await #expect(throws: DirectoryError.self) { try await Self.send(client) }
            // An event that is rejected is never sent again.
            guard case .unavailable = error else { Issue.record("\(String(describing: error))"); return }
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
