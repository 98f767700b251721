// SPDX-License-Identifier: Apache-2.0

import DirectoryFixtures
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryServer

@Suite("Connections of the directory's clients", .timeLimit(.minutes(8)), .bothEngines)
struct ClientConnectionsTests {
    @Test func `a client that never finishes asking is let go`() async throws {
        try await RunningDirectory.run(edit: { $0.connections.idle = .milliseconds(200) }) { directory in
            let request = RawRequest(
                method: "POST", path: "/mobile/branding/event", headers: [("X-API-Key", directory.key)],
                body: Array("{".utf8), announced: 100)
            // The end of the connection; a server that waits on would run into the suite's time limit.
            await #expect(throws: LoopbackClient.NoResponse.self) {
                try await LoopbackClient.ask(request, port: directory.port)
            }
        }
    }

    @Test func `a full server serves health checks, and refuses other requests with 503`() async throws {
        try await RunningDirectory.run(edit: { Self.setPatience(of: &$0.connections, most: 2) }) { directory in
            let idle = [
                try await IdleConnection.served(port: directory.port),
                try await IdleConnection.served(port: directory.port),
            ]
            // More of them than the reserve has places: each is given back.
            for _ in 0..<(ConnectionPlaces.reserve * 2) {
                let health = try await LoopbackClient.ask(RawRequest(path: "/healthz?probe=1"), port: directory.port)
                #expect(health.status == 200 && health.text == "ok\n")
            }
            let sync = try await directory.ask("/mobile/branding/sync")
            #expect(sync.status == 503 && sync.headers["retry-after"] == "5")
            #expect(!idle.contains { $0.isClosed })
        }
    }

    @Test func `one address holds no more than its share, and nobody is in its way`() async throws {
        try await RunningDirectory.run(edit: {
            Self.setPatience(of: &$0.connections, most: 100)
            ($0.connections.perClient, $0.connections.exemptsLoopback) = (2, false)
        }) { directory in
            let idle = [
                try await IdleConnection.served(port: directory.port),
                try await IdleConnection.served(port: directory.port),
            ]
            await #expect(throws: LoopbackClient.NoResponse.self) { try await directory.ask("/healthz") }
            #expect(!idle.contains { $0.isClosed })
        }
    }

    /// No connection ends for its silence while a busy machine runs the test.
    private static func setPatience(of connections: inout ClientConnections, most: Int) {
        connections.most = most
        connections.idle = .seconds(3600)
        connections.firstRequest = .seconds(3600)
    }

    private static func places(most: Int = 100, perClient: Int = 2, exemptsLoopback: Bool = true) -> ConnectionPlaces {
        ConnectionPlaces(
            most: most, perClient: perClient, exemptsLoopback: exemptsLoopback, now: { 0 },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7", false), ("192.0.2.7", "192.0.2.8", true),
        ("2001:db8:1:2::7", "2001:db8:1:2:ffff::9", false), ("2001:db8:1:2::7", "2001:db8:1:3::7", true),
        ("127.0.0.1", "127.0.0.1", true), ("::1", "::1", true),
        // IPv4 clients of a socket for both families.
        ("::ffff:192.0.2.7", "::ffff:192.0.2.8", true), ("::ffff:192.0.2.7", "192.0.2.7", false),
        ("::ffff:127.0.0.1", "::ffff:127.0.0.1", true),
    ])
    func `an address, or an IPv6 network of one customer, is one client`(
        first: String, second: String, isTaken: Bool
    ) throws {
        let places = Self.places()
        let peer = try SocketAddress(ipAddress: first, port: 1)
        let other = try SocketAddress(ipAddress: second, port: 2)
        #expect([places.take(peer), places.take(peer)] == [.usual, .usual])
        #expect((places.take(other) == .usual) == isTaken)
        places.giveBack(.usual, of: peer)
        #expect(places.take(other) == .usual)
    }

    @Test func `places come back, and addresses without connections are forgotten`() throws {
        let places = Self.places(most: 1)
        let peers = try (1...20).map { try SocketAddress(ipAddress: "192.0.2.\($0)", port: 1) }
        let taken = peers.map { places.take($0) }
        #expect(taken == [.usual] + Array(repeating: .reserve, count: 16) + Array(repeating: .none, count: 3))
        for (place, peer) in zip(taken, peers) { places.giveBack(place, of: peer) }
        #expect(places.clients == 0)
        #expect(places.take(peers[5]) == .usual)
    }

    @Test func `connections beyond an address's share are logged once a minute`() throws {
        let time = ManualTime()
        let lines = Mutex<[String]>([])
        let places = ConnectionPlaces(
            most: 9, perClient: 1, exemptsLoopback: true, now: { time.now },
            logger: Logger(label: "test") { _ in LineLog { line, _ in lines.withLock { $0.append(line) } } })
        let peer = try SocketAddress(ipAddress: "192.0.2.7", port: 1)
        for _ in 0..<100 { _ = places.take(peer) }
        #expect(lines.withLock { $0.count } == 1)
        time.now += 60
        _ = places.take(peer)
        #expect(lines.withLock { $0.count } == 2)
    }

    /// A connection that waits for its first request.
    private static func waiting() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: FirstRequestTimeout(.seconds(20)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private static let head = HTTPRequestPart.head(
        HTTPRequest(method: .post, scheme: "http", authority: "d.example.com", path: "/mobile/branding/event"))

    @Test func `a client that does not finish its first head is let go`() throws {
        let channel = try Self.waiting()
        channel.embeddedEventLoop.advanceTime(by: .seconds(19))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `a body may take long, but must not stall`() throws {
        let channel = try Self.waiting()
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        try channel.writeInbound(Self.head)
        for _ in 0..<100 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(19))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(21))
        #expect(!channel.isActive)
    }

    @Test func `a client that has asked may wait`() throws {
        let channel = try Self.waiting()
        try channel.writeInbound(Self.head)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test func `a client that reads nothing of its response is disconnected`() throws {
        let channel = EmbeddedChannel(handler: StalledReader(after: .seconds(60)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        setWritable(false, channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `a slow client that reads some of its response in time stays connected`() throws {
        let channel = EmbeddedChannel(handler: StalledReader(after: .seconds(60)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for _ in 0..<10 {
            setWritable(false, channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            setWritable(true, channel)
        }
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test(arguments: [true, false])
    func `a response that takes too long closes the connection`(isLate: Bool) throws {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let deadline = ResponseDeadline(
            longest: .minutes(30), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let end = deadline.begin(on: channel, path: "/")
        channel.embeddedEventLoop.advanceTime(by: .seconds(1799))
        #expect(channel.isActive)
        if !isLate { end.cancel() }
        channel.embeddedEventLoop.advanceTime(by: .hours(24))
        #expect(channel.isActive == !isLate)
        _ = try? channel.finish()
    }

    private func setWritable(_ isWritable: Bool, _ channel: EmbeddedChannel) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }
}
