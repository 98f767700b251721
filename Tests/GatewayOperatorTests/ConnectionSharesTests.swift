// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("Connections of the admin port", .timeLimit(.minutes(8)))
struct ConnectionSharesTests {
    private final class Connection: Sendable {}

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Shares with room for 8, 3 of one client, and 4 short ones, 2 of one client.
    private static func shares() -> ConnectionShares {
        var limits = ConnectionShares.Limits()
        (limits.all, limits.client, limits.reserve, limits.clientReserve) = (8, 3, 4, 2)
        return ConnectionShares(limits, key: "admin.listen", logger: quiet)
    }

    private static func client(_ address: String) throws -> [UInt8] {
        ConnectionShares.client(try SocketAddress(ipAddress: address, port: 1))
    }

    @Test func `a client has its share, then a few for health, then none, and others have theirs`() throws {
        let shares = Self.shares()
        let one = try Self.client("192.0.2.1")
        let connections = (0..<7).map { _ in Connection() }
        let got = connections.map { shares.enter(one, ObjectIdentifier($0)) }
        #expect(got == [.whole, .whole, .whole, .health, .health, .none, .none])
        #expect(connections.map { shares.isForHealthAlone(ObjectIdentifier($0)) } == got.map { $0 == .health })
        let other = Connection()
        #expect(shares.enter(try Self.client("192.0.2.2"), ObjectIdentifier(other)) == .whole)
        // What one gives back it may have again.
        shares.leave(one, ObjectIdentifier(connections[0]), .whole)
        shares.leave(one, ObjectIdentifier(connections[3]), .health)
        #expect(!shares.isForHealthAlone(ObjectIdentifier(connections[3])))
        #expect(shares.enter(one, ObjectIdentifier(connections[0])) == .whole)
        #expect(shares.enter(one, ObjectIdentifier(connections[3])) == .health)
    }

    @Test func `many clients together leave a reserve for health`() throws {
        let shares = Self.shares()
        let connections = (0..<16).map { _ in Connection() }
        let got = try connections.enumerated().map { position, connection in
            shares.enter(try Self.client("198.51.100.\(position)"), ObjectIdentifier(connection))
        }
        #expect(got.filter { $0 == .whole }.count == 8)
        #expect(got.filter { $0 == .health }.count == 4)
        #expect(got.filter { $0 == .none }.count == 4)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.2", false), ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
    ]) func `a client is an IPv4 address or an IPv6 network of 64 bits`(one: String, other: String, same: Bool) throws {
        #expect(try (Self.client(one) == Self.client(other)) == same)
    }

    @Test func `one address that holds what it can keeps no monitor from healthz`() async throws {
        try await RunningServer.run({ AdminServer($0, source: FixedStatus(), logger: $1) }) { port in
            let idle = try (0..<40).map { _ in try IdleConnection(port: port) }
            defer { withExtendedLifetime(idle) {} }
            // Connections are accepted in order and counted a moment later.
            var status = 0
            for _ in 0..<10_000 where status != 503 {
                status = (try? await LoopbackClient.get("/status", port: port).status) ?? 0
                // With its short ones held too it is closed at once; they end by themselves.
            }
            #expect(status == 503)
            var health: ReceivedResponse?
            for _ in 0..<10_000 where health == nil { health = try? await LoopbackClient.get("/healthz", port: port) }
            #expect(health?.text == "ok\n")
        }
    }
}
