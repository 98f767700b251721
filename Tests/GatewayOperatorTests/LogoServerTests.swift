// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewaySync
import Logging
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("Logo server", .timeLimit(.minutes(8)))
struct LogoServerTests {
    private static let name = String(repeating: "a", count: 32) + "-128x128.png"

    @Test func `a phone gets the picture with everything it may rely on`() async throws {
        try await withServer { port, traffic in
            let response = try await LoopbackClient.get("/logos/\(Self.name)", port: port)
            #expect(response.head.hasPrefix("HTTP/1.1 200"))
            for line in [
                "content-type: image/png", "content-length: 5", "cache-control: public, max-age=31536000, immutable",
                "x-content-type-options: nosniff", "etag: \"\(Self.name)\"",
            ] { #expect(response.head.lowercased().contains(line), "\(line) in \(response.head)") }
            #expect(response.text == "bytes")
            #expect(traffic.served == 1 && traffic.takeUsed() == [Self.name])
        }
    }

    @Test func `HEAD says the same without the picture`() async throws {
        try await withServer { port, _ in
            let response = try await LoopbackClient.ask(
                RawRequest(method: "HEAD", path: "/logos/\(Self.name)"), port: port)
            #expect(response.head.lowercased().contains("content-length: 5") && response.body.isEmpty)
        }
    }

    @Test(arguments: ["\"NAME\"", "W/\"NAME\"", "\"other\", \"NAME\" ", "*"])
    func `a phone that has the picture gets 304`(known: String) async throws {
        try await withServer { port, _ in
            let known = known.replacing("NAME", with: Self.name)
            let response = try await LoopbackClient.ask(
                RawRequest(path: "/logos/\(Self.name)", headers: [("If-None-Match", known)]), port: port)
            #expect(response.head.hasPrefix("HTTP/1.1 304") && response.body.isEmpty)
        }
    }

    @Test(arguments: [
        "/", "/logos", "/logos/", "/logos/other.png", "/logos/../brands.sqlite", "/logos/%2e%2e/brands.sqlite",
        "/logos//etc/passwd", "/metrics", "/status", "/healthz", "//logos/x", "/logos/a?b=c",
    ]) func `nothing else is there, and no page of the operator's`(path: String) async throws {
        try await withServer { port, _ in
            let response = try await LoopbackClient.get(path, port: port)
            #expect(response.head.hasPrefix("HTTP/1.1 404") && response.body.isEmpty)
        }
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS"]) func `nothing can be done to it`(method: String) async throws
    {
        try await withServer { port, _ in
            let response = try await LoopbackClient.ask(
                RawRequest(method: method, path: "/logos/\(Self.name)"), port: port)
            #expect(response.head.hasPrefix("HTTP/1.1 405") && response.head.lowercased().contains("allow: get, head"))
        }
    }

    @Test func `a phone that never finishes asking is let go`() async throws {
        try await withServer(lifetime: .milliseconds(200)) { port, _ in
            // Returns when the server closes; a server that does not would run into the suite's time limit.
            await #expect(throws: (any Error).self) {
                try await LoopbackClient.ask(RawRequest(path: "/logos/x", isUnfinished: true), port: port)
            }
        }
    }

    @Test func `a client that holds all connections loses one to another client`() async throws {
        var limits = LogoServer.Limits()
        limits.connections = 8
        let bounds = limits
        try await RunningServer.run(
            {
                LogoServer($0, files: Self.files(), limits: bounds, logger: $1)
            },
            { port in
                let holder = IdleConnections(20, to: port, from: 2)
                // From 127.0.0.1, while the other one holds all of them for the whole test.
                for _ in 0..<3 {
                    let response = try await LoopbackClient.get("/logos/\(Self.name)", port: port)
                    #expect(response.text == "bytes")
                }
                withExtendedLifetime(holder) {}
            })
    }

    private func withServer(
        lifetime: Duration = .seconds(450), _ body: @escaping @Sendable (Int, LogoTraffic) async throws -> Void
    ) async throws {
        var limits = LogoServer.Limits()
        limits.lifetime = lifetime
        let (traffic, bounds) = (LogoTraffic(), limits)
        try await RunningServer.run(
            {
                LogoServer($0, files: Self.files(traffic), limits: bounds, logger: $1)
            },
            { try await body($0, traffic) })
    }

    private static func files(_ traffic: LogoTraffic = LogoTraffic()) -> PhoneFiles.OfCustomer {
        let files = PhoneFiles(cache: FixedLogos(files: [name: Array("bytes".utf8)]), traffic: traffic)
        let acme = PhoneFiles(cache: FixedLogos(files: [name: Array("of acme".utf8)]), traffic: traffic)
        return { customer in customer == nil ? files : customer == "acme" ? acme : nil }
    }

    @Test func `the paths of a customer lead to the files of its account alone`() async throws {
        try await withServer { port, _ in
            @Sendable func get(_ path: String) async throws -> (head: String, body: String) {
                try await LoopbackClient.exchange("GET \(path) HTTP/1.1", port: port)
            }
            let (usual, acme) = (
                try await get("/logos/\(Self.name)"), try await get("/customers/acme/logos/\(Self.name)")
            )
            #expect(usual.body == "bytes" && acme.body == "of acme")
            for path in [
                "/customers/beta/logos/\(Self.name)", "/customers/logos/\(Self.name)", "/customers/acme",
                "/customers/acme/customers/acme/logos/\(Self.name)", "/acme/logos/\(Self.name)", "/customers//logos/x",
            ] {
                let response = try await get(path)
                #expect(response.head.hasPrefix("HTTP/1.1 404"), "\(path)")
            }
        }
    }
}
