// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GatewaySyncTesting
import NIOSSL
import SwiftASN1
import TestFixtures
import Testing
import TrustFixtures
import X509

@testable import GatewaySync

@Suite("Whom the client takes for the directory, api-client-networking SSL Pinning", .timeLimit(.minutes(8)))
struct DirectoryTrustTests {
    private static let sync = #"{"success":true,"branding":[],"synced_at":"2026-01-01T00:00:00Z"}"#

    /// How a server is wrong, or not.
    enum Server: String, CaseIterable, Sendable {
        case right, pinOfAuthority, secondPin, wrongPin, unknownAuthority, expired, wrongName
        /// A common name without alternative names, and a wildcard for every name (RFC 9525 §6.3).
        case commonNameOnly, widestWildcard

        var isGood: Bool { [.right, .pinOfAuthority, .secondPin].contains(self) }
        /// The alternative names of its certificate; nil for the name of the host alone.
        var names: [String]? {
            switch self {
            case .commonNameOnly: []
            case .widestWildcard: ["*"]
            default: nil
            }
        }

        /// Words the operator finds in the error.
        var words: String {
            switch self {
            case .wrongPin: "directory.tls.pins"
            case .unknownAuthority: "no trusted root"
            case .expired: "expired on "
            default: "its certificate is for another name than the one in directory.url"
            }
        }
    }

    @Test(arguments: Server.allCases)
    func `with pins only the directory itself is sent a request`(server: Server) async throws {
        let house = try await House(server)
        let other = TestAuthority.pin(P256.Signing.PrivateKey())
        let pins =
            switch server {
            case .wrongPin: [other]
            case .pinOfAuthority: [TestAuthority.pin(house.authority.key)]
            case .secondPin: [other, "sha256/" + TestAuthority.pin(house.key)]
            default: [TestAuthority.pin(house.key)]
            }
        let error = try await house.sync(pins: pins)
        #expect((error == nil) == server.isGood, "\(String(describing: error))")
        #expect(house.peer.text.contains("X-API-Key: \(testKey)") == server.isGood)
        if let error {
            #expect(house.peer.text.isEmpty, "bytes were sent to a server that is not the directory")
            #expect(error.description.contains(server.words), "\(error)")
        } else {
            #expect(house.peer.text.hasPrefix("GET /api/mobile/branding/sync?device_id=d HTTP/1.1\r\n"))
            #expect(house.peer.text.contains("\r\nHost: \(house.peer.url.dropFirst(8))\r\n"))
        }
        try await house.peer.stop()
    }

    @Test(arguments: [Server.right, .unknownAuthority, .expired, .wrongName, .commonNameOnly, .widestWildcard])
    func `without pins the roots decide`(server: Server) async throws {
        let house = try await House(server)
        let error = try await house.sync(pins: [])
        #expect((error == nil) == server.isGood, "\(String(describing: error))")
        #expect(house.peer.text.isEmpty == !server.isGood)
        if let error { #expect(error.description.contains(server.words), "\(error)") }
        try await house.peer.stop()
    }

    @Test(
        arguments: [
            (Server.right, nil),
            (.expired, "its certificate for localhost expired on "),
            (
                .wrongName,
                "its certificate for elsewhere.example is not for localhost: write one of its names in directory.url"
            ),
            (
                .unknownAuthority,
                "is issued by CN=Test authority, and no trusted root vouches for that: name the PEM file"
            ),
        ] as [(Server, String?)])
    func `the certificate itself shows why it is refused, and what to do`(server: Server, words: String?) async throws {
        let house = try await House(server)
        let client = try house.client(pins: [])
        let problem = await client.certificateProblem(patience: .seconds(60))
        await client.shutdown()
        #expect((problem == nil) == (words == nil) && problem?.contains(words ?? "") ?? true, "\(problem ?? "none")")
        #expect(house.peer.text.isEmpty, "nothing is sent to a server that nobody trusts")
        try await house.peer.stop()
    }

    /// RFC 9525 §6.3: a wildcard is a whole first label, and stands for one label.
    @Test(arguments: [
        ("directory.example.com", "directory.example.com", true),
        ("Directory.Example.COM", "directory.example.com", true),
        ("*.example.com", "directory.example.com", true), ("*.example.com", "a.directory.example.com", false),
        ("*.example.com", "example.com", false), ("*", "localhost", false), ("*", "directory.example.com", false),
        ("*.com", "example.com", false), ("*.*.com", "a.example.com", false),
        ("d*.example.com", "d.example.com", false),
        ("other.example.com", "directory.example.com", false),
    ])
    func `an alternative name is compared as a whole`(name: String, host: String, isSame: Bool) throws {
        let key = P256.Signing.PrivateKey()
        let made = try TestAuthority().certificate(for: host, key: key, names: [name]).chain[0]
        #expect(ServerNames(try Certificate(derEncoded: made.toDERBytes())).include(host) == isSame)
    }

    @Test func `a server without TLS presents no certificate`() async throws {
        let peer = try FaultyPeer { _, _ in .raw("HTTP/1.1 400 Bad Request\r\n\r\n") }
        let client = try client(at: "https://localhost:\(peer.port)", time: ManualTime(passesByItself: true))
        #expect(await client.certificateProblem(patience: .seconds(60)) == nil)
        await client.shutdown()
        peer.close()
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

    /// A server with the fault of a row, and the authority a client trusts.
    private struct House {
        let authority: TestAuthority
        let key = P256.Signing.PrivateKey()
        let peer: TLSPeer

        init(_ server: Server) async throws {
            authority = try TestAuthority()
            let issuer = server == .unknownAuthority ? try TestAuthority() : authority
            peer = try await TLSPeer(
                issuer.certificate(
                    for: server == .wrongName ? "elsewhere.example" : "localhost", key: key, names: server.names,
                    isExpired: server == .expired), response: DirectoryTrustTests.sync)
        }

        /// A client that trusts the authority.
        func client(pins: [String]) throws -> DirectoryClient {
            let folder = TemporaryFolder()
            let trust = try DirectoryTrust(
                pins: try pins.map { try #require(PublicKeyPin($0)) }, roots: try authority.roots(in: folder.path),
                certificate: nil, key: nil)
            return try GatewaySyncTests.client(at: peer.url, time: ManualTime(passesByItself: true)) {
                $0.trust = trust
            }
        }

        /// One sync with the server; nil if it succeeded.
        func sync(pins: [String]) async throws -> DirectoryError? {
            let client = try client(pins: pins)
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
}
