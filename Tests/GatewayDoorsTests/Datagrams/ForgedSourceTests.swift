// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import ConfigurationFiles
import GatewayTesting
import NIOCore
import NIOPosix
import SIPCore
import TestFixtures
import Testing

@testable import GatewayDoors

/// A sender forges the source of a request, to which the system sends nothing: two broadcast addresses (EACCES), and an address
/// of another family. NIO closes a channel on such errors of its own writes.
@Suite("Responses to forged sources", .timeLimit(.minutes(8)))
struct ForgedSourceTests {
    private static let sources = ["127.255.255.255", "255.255.255.255", "2001:db8::7"]
    private let log = LogLines()

    private func everyone() throws -> AllowedClients {
        AllowedClients([try SourceRange.read("0.0.0.0/0"), try SourceRange.read("::/0")])
    }

    /// Opens a socket, hands its handler a request of each source, and returns its port while it is open.
    private func served(
        _ request: [UInt8], _ handler: @escaping @Sendable () -> any ChannelHandler,
        _ test: (_ port: Int) throws -> Void
    ) async throws {
        let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler()) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        for source in Self.sources {
            let envelope = AddressedEnvelope(
                remoteAddress: try SocketAddress(ipAddress: source, port: 40_000), data: ByteBuffer(bytes: request))
            try await channel.eventLoop.submit {
                channel.pipeline.syncOperations.fireChannelRead(NIOAny(envelope))
                channel.pipeline.syncOperations.fireChannelReadComplete()
            }.get()
        }
        #expect(channel.isActive)
        try test(try #require(channel.localAddress?.port))
        try await channel.close()
    }

    @Test func `the redirect door drops one response and stays open`() async throws {
        let counters = RedirectCounters()
        let rules = RedirectRules(
            door: try NamesDoor().redirectDoor(), allowed: try everyone(), places: NamePlaces(.assertedIdentity),
            rate: 1_000)
        let reception = RedirectReception(rules, counters: counters, logger: log.logger)
        let invite = Array(RedirectMessages.request().utf8)
        try await served(invite, { DoorDatagrams(reception) }) { port in
            let client = try LoopbackSocket(port, isStream: false, from: "127.0.0.1", patience: 5_000)
            client.send(invite)
            let response = RedirectMessages.lines(client.receive(atMost: 65_535) ?? [])
            #expect(response.first == "SIP/2.0 302 Moved Temporarily")
        }
        #expect(counters.count(.unsent) == 3 && counters.count(.matched) == 4)
    }

    @Test func `the zone of calling names drops one response and stays open`() async throws {
        let counters = NumberZoneCounters()
        let zone = NumberZone(try #require(ZoneName("cnam.example.net")), lifetime: 0) { _ in FoundCallingName(nil) }
        let reception = NumberZoneReception(
            NumberZoneRules(zone: zone, allowed: try everyone(), rate: 1_000), counters: counters, logger: log.logger)
        let query = DNSBytes.query(DNSBytes.name(of: "61255501301"))
        try await served(query, { DoorDatagrams(reception) }) { port in
            let client = try ZoneClient(port, overTCP: false)
            #expect(client.ask(query) != nil)
        }
        #expect(counters.count(.unsent) == 3)
    }
}
