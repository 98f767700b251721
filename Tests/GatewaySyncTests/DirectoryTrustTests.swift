// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GatewaySync
import Testing

@Suite("Whom the client takes for the directory, api-client-networking SSL Pinning", .timeLimit(.minutes(1)))
struct DirectoryTrustTests {
    private static let sync = #"{"success":true,"branding":[],"synced_at":"2026-01-01T00:00:00Z"}"#

    /// How a server is wrong, or not.
    enum Server: String, CaseIterable, Sendable {
        case right, pinOfAuthority, secondPin, wrongPin, unknownAuthority, expired, wrongName

        var isGood: Bool { [.right, .pinOfAuthority, .secondPin].contains(self) }
        /// Words the operator finds in the error.
        var words: String {
            switch self {
            case .wrongPin: "directory.tls.pins"
            case .unknownAuthority, .expired: "no trusted root"
            default: "its certificate is for another name than the one in directory.url"
            }
        }
    }

    @Test(arguments: Server.allCases)
    func `with pins only the directory itself is sent a request`(server: Server) async throws {
        let (authority, key) = (try TestAuthority(), P256.Signing.PrivateKey())
        let stranger = server == .unknownAuthority ? try TestAuthority() : authority
        let peer = try await TLSPeer(
            stranger.certificate(
                for: server == .wrongName ? "elsewhere.example" : "localhost", key: key,
                isExpired: server == .expired), answer: Self.sync)
        let other = TestAuthority.pin(P256.Signing.PrivateKey())
        let pins =
            switch server {
            case .wrongPin: [other]
            case .pinOfAuthority: [TestAuthority.pin(authority.key)]
            case .secondPin: [other, "sha256/" + TestAuthority.pin(key)]
            default: [TestAuthority.pin(key)]
            }
        let error = try await attempt(peer, authority, pins: pins)
        #expect((error == nil) == server.isGood, "\(String(describing: error))")
        #expect(peer.text.contains("X-API-Key: \(testKey)") == server.isGood)
        if let error {
            #expect(peer.text.isEmpty, "bytes were sent to a server that is not the directory")
            #expect(error.description.contains(server.words), "\(error)")
        } else {
            #expect(peer.text.hasPrefix("GET /api/mobile/branding/sync?device_id=d HTTP/1.1\r\n"))
            #expect(peer.text.contains("\r\nHost: \(peer.url.dropFirst(8))\r\n"))
        }
        try await peer.stop()
    }

    @Test(arguments: [Server.right, .unknownAuthority, .expired, .wrongName])
    func `without pins the roots decide`(server: Server) async throws {
        let (authority, key) = (try TestAuthority(), P256.Signing.PrivateKey())
        let stranger = server == .unknownAuthority ? try TestAuthority() : authority
        let peer = try await TLSPeer(
            stranger.certificate(
                for: server == .wrongName ? "elsewhere.example" : "localhost", key: key,
                isExpired: server == .expired), answer: Self.sync)
        let error = try await attempt(peer, authority, pins: [])
        #expect((error == nil) == server.isGood, "\(String(describing: error))")
        #expect(peer.text.isEmpty == !server.isGood)
        try await peer.stop()
    }

    @Test(arguments: ["", "x", "sha256/", "AAAA", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAA="])
    func `a pin is base64 of 32 bytes`(text: String) {
        #expect(PublicKeyPin(text) == nil)
    }

    @Test func `files that cannot be used are named`() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/roots.pem"
        try "nothing".write(toFile: path, atomically: true, encoding: .utf8)
        let error = #expect(throws: DirectoryTrustError.self) {
            _ = try DirectoryTrust(pins: [], roots: path, certificate: nil, key: nil)
        }
        #expect(error?.description.hasPrefix(path) == true)
    }

    /// One sync with the peer; nil if it succeeded.
    private func attempt(_ peer: TLSPeer, _ authority: TestAuthority, pins: [String]) async throws -> DirectoryError? {
        let folder = TemporaryFolder()
        let trust = try DirectoryTrust(
            pins: try pins.map { try #require(PublicKeyPin($0)) }, roots: try authority.roots(in: folder.path),
            certificate: nil, key: nil)
        let client = try client(at: peer.url, time: ManualTime(passesByItself: true)) { $0.trust = trust }
        var failure: DirectoryError?
        do {
            _ = try await client.sync(since: nil, deviceID: "d")
        } catch {
            failure = error
        }
        await client.shutdown()
        return failure
    }
}
