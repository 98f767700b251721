// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore
import SIPTransport
import Synchronization
import TestFixtures
import Testing

@Suite("SIP over TCP, RFC 3261 §18", .serialized)
struct StreamTransportTests {
    private static let loopback = PeerAddress(ipv4: 0x7F00_0001, port: 0)

    private static func message(_ name: String) -> String {
        "INFO sip:\(name)@b SIP/2.0\r\nContent-Length: 0\r\n\r\n"
    }

    /// One listening address with limits of the test's own.
    private struct House {
        let observer: StreamObserver
        let streams: StreamTransport
        let address: PeerAddress

        init(_ address: PeerAddress = loopback, _ change: (inout StreamLimits) -> Void = { _ in }) async throws {
            var limits = StreamLimits()
            change(&limits)
            observer = StreamObserver()
            streams = StreamTransport(
                listeners: [StreamListener(position: 3, address: address)], inboxes: [observer.inbox], limits: limits)
            self.address = try #require(try await streams.start()[3])
        }

        func send(_ text: String, to destination: PeerAddress, connection: UInt64 = 0, token: DeliveryToken = .none) {
            streams.send([
                OutgoingMessage(
                    bytes: Array(text.utf8), destination: destination, socket: 3, connection: connection, token: token)
            ])
        }
    }

    @Test func `a response leaves by the connection its request came by, §18.2.2`() async throws {
        let endpoint = try await House()
        let peer = try #require(RawStream(port: endpoint.address.port))
        peer.send(Self.message("a"))
        #expect(try await waits { endpoint.observer.messages.count == 1 })
        let flow = try #require(endpoint.observer.messages.first).flow
        #expect(flow.socket == 3 && flow.connection != 0)
        endpoint.send("SIP/2.0 200 OK\r\n\r\n", to: flow.source.with(port: 9), connection: flow.connection)
        #expect(peer.receive() == "SIP/2.0 200 OK\r\n\r\n")
        await endpoint.streams.stop()
    }

    @Test func `messages come whole and in order, however they are sent`() async throws {
        let endpoint = try await House()
        let peer = try #require(RawStream(port: endpoint.address.port))
        peer.send(Self.message("a") + Self.message("b"))
        for character in Self.message("c") { peer.send(String(character)) }
        #expect(try await waits { endpoint.observer.messages.count == 3 })
        #expect(endpoint.observer.messages.map(\.text) == ["a", "b", "c"].map(Self.message))
        await endpoint.streams.stop()
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `requests connect and the connection serves both directions, §18.1.1`(host: String) async throws {
        let address = try #require(PeerAddress(host: Array(host.utf8)[...], port: 0))
        let caller = try await House(address)
        let called = try await House(address)
        let token = DeliveryToken(branch: Branch(token: 7), attempt: 0)
        for name in ["a", "b"] { caller.send(Self.message(name), to: called.address, token: token) }
        #expect(try await waits { called.observer.messages.count == 2 })
        let flow = try #require(called.observer.messages.first).flow
        called.send("back", to: flow.source, connection: flow.connection)
        called.send(Self.message("later"), to: flow.source)
        #expect(caller.streams.counters.count(.connected) == 1, "one connection for both")
        #expect(called.streams.counters.count(.connected) == 0)
        #expect(caller.observer.failures.isEmpty)
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `a connection that fails before its first message reports that one too`() async throws {
        let endpoint = try await House()
        // From an address of IPv4 the system refuses to connect there at once.
        let unreachable = try #require(PeerAddress(host: Array("2001:db8::1".utf8)[...], port: 5060))
        let token = DeliveryToken(branch: Branch(token: 43), attempt: 0)
        endpoint.send(Self.message("a"), to: unreachable, token: token)
        #expect(try await waits { endpoint.observer.failures == [token] })
    }

    @Test func `a message that cannot be delivered is reported with its token`() async throws {
        let endpoint = try await House()
        // Below 1024 the system gives no port to another test's server.
        let deaf = PeerAddress(ipv4: 0x7F00_0001, port: 1)
        let tokens = [0, 1].map { DeliveryToken(branch: Branch(token: 42), attempt: $0) }
        endpoint.send(Self.message("a"), to: deaf, token: tokens[0])
        endpoint.send(Self.message("b"), to: deaf, token: tokens[1])
        endpoint.send(Self.message("c"), to: deaf)
        #expect(try await waits { endpoint.observer.failures.count == 2 })
        #expect(Set(endpoint.observer.failures) == Set(tokens))
        #expect(endpoint.streams.counters.count(.connectFailed) >= 1)
        await endpoint.streams.stop()
    }

    @Test func `a double line end gets one back, RFC 5626 §3.5.1`() async throws {
        let endpoint = try await House()
        let peer = try #require(RawStream(port: endpoint.address.port))
        peer.send("\r\n\r\n")
        #expect(peer.receive() == "\r\n")
        await endpoint.streams.stop()
    }

    @Test func `what cannot be framed is handed on with its fault, and the connection ends`() async throws {
        let endpoint = try await House()
        let peer = try #require(RawStream(port: endpoint.address.port))
        peer.send("INFO sip:a@b SIP/2.0\r\nVia: SIP/2.0/TCP c\r\n\r\n")
        #expect(try await waits { endpoint.observer.messages.count == 1 })
        #expect(endpoint.observer.messages.first?.flow.fault == .noContentLength)
        #expect(peer.receive() == "")
        #expect(endpoint.streams.counters.count(.closedBroken) == 1)
        await endpoint.streams.stop()
    }

    @Test func `a flood of keep-alives gets a few responses, and the next request is received`() async throws {
        let endpoint = try await House()
        let peer = try #require(RawStream(port: endpoint.address.port))
        // Each by itself would be a write for four bytes read, while nobody else is served.
        peer.send(String(repeating: "\r\n\r\n", count: 50_000) + Self.message("a"))
        #expect(try await waits { endpoint.observer.messages.count == 1 })
        #expect((1...1_000).contains(peer.receive()?.utf8.count ?? 0), "old: 100,000 bytes")
        await endpoint.streams.stop()
    }

    @Test(arguments: [false, true])
    func `a response whose connection is gone makes another to a peer only, §18.2.2`(isPeer: Bool) async throws {
        let (endpoint, other) = (try await House(), try await House())
        endpoint.streams.setPeers(StreamPeers { _ in isPeer ? 1 : nil })
        let token = DeliveryToken(branch: Branch(token: 7), attempt: 0)
        // A stranger's Via says where, and connections that are made are counted by no limit of one source.
        endpoint.send(Self.message("a"), to: other.address, connection: 99, token: token)
        endpoint.send(Self.message("b"), to: other.address)
        #expect(try await waits { other.observer.messages.last?.text == Self.message("b") })
        #expect(other.observer.messages.count == (isPeer ? 2 : 1))
        #expect(try await waits { endpoint.observer.failures == (isPeer ? [] : [token]) })
        await endpoint.streams.stop()
        await other.streams.stop()
    }

    @Test func `a message for its own connection alone makes none when that is gone, §18.2.2`() async throws {
        let (endpoint, other) = (try await House(), try await House())
        let token = DeliveryToken(branch: Branch(token: 8), attempt: 0)
        endpoint.send(Self.message("a"), to: other.address.with(port: 0), connection: 99, token: token)
        endpoint.send(Self.message("b"), to: other.address)
        #expect(try await waits { other.observer.messages.map(\.text) == [Self.message("b")] })
        #expect(endpoint.observer.failures == [token])
        #expect(endpoint.observer.troubles.isEmpty)
        await endpoint.streams.stop()
        await other.streams.stop()
    }

    @Test func `0.0.0.0 and [::] may have the same port, as by UDP`() async throws {
        let four = try await House(PeerAddress(ipv4: 0, port: 0))
        let any = try #require(PeerAddress(host: Array("::".utf8)[...], port: four.address.port))
        let six = try await House(any)
        let peer = try #require(RawStream(port: four.address.port))
        peer.send(Self.message("a"))
        #expect(try await waits { four.observer.messages.count == 1 })
        #expect(four.observer.messages.first?.flow.source.isIPv6 == false)
        await four.streams.stop()
        await six.streams.stop()
    }

    @Test func `a connection that is not understood any more gets no further request`() async throws {
        let (endpoint, other) = (try await House(), try await House())
        endpoint.send(Self.message("a"), to: other.address)
        #expect(try await waits { other.observer.messages.count == 1 })
        let flow = try #require(other.observer.messages.first).flow
        other.send("SIP/2.0 200 OK\r\nVia: SIP/2.0/TCP c\r\n\r\n", to: flow.source, connection: flow.connection)
        #expect(try await waits { endpoint.streams.counters.count(.closedBroken) == 1 })
        // Its responses would be lost.
        endpoint.send(Self.message("b"), to: other.address)
        #expect(try await waits { other.observer.messages.count == 2 })
        #expect(other.observer.messages.last?.flow.connection != flow.connection)
        await endpoint.streams.stop()
        await other.streams.stop()
    }

    @Test func `half a message is not waited for for ever`() async throws {
        let endpoint = try await House { $0.unfinished = .milliseconds(100) }
        let peer = try #require(RawStream(port: endpoint.address.port))
        peer.send("INFO sip:a@b SIP/2.0\r\nVia:")
        #expect(peer.receive() == "")
        #expect(endpoint.streams.counters.count(.closedUnfinished) == 1)
        await endpoint.streams.stop()
    }

    @Test func `a stream that never stops in between messages goes on as long as each of them ends`() throws {
        let stream = try TimedStream { $0.unfinished = .seconds(8) }
        let (head, rest) = (Self.message("a").prefix(9), Self.message("a").dropFirst(9))
        try stream.receive(String(head))
        for _ in 1...10 {
            stream.advance(by: .seconds(5))
            try stream.receive(String(rest + head))
        }
        #expect(stream.observer.messages.count == 10)
        #expect(stream.counters.count(.closedUnfinished) == 0)
        stream.advance(by: .seconds(9))
        #expect(stream.counters.count(.closedUnfinished) == 1)
    }

    @Test func `a silent connection is closed`() async throws {
        let endpoint = try await House { $0.idle = .milliseconds(100) }
        let peer = try #require(RawStream(port: endpoint.address.port))
        #expect(peer.receive() == "")
        #expect(endpoint.streams.counters.count(.closedIdle) == 1)
        #expect(try await waits { endpoint.streams.counters.openConnections == 0 })
        await endpoint.streams.stop()
    }

    @Test func `one address has no more connections than it may`() async throws {
        let endpoint = try await House { $0.connectionsPerSource = 2 }
        let peers = [RawStream(port: endpoint.address.port), RawStream(port: endpoint.address.port)]
        for (number, peer) in peers.enumerated() {
            peer?.send(Self.message("\(number)"))
            #expect(try await waits { endpoint.observer.messages.count == number + 1 })
        }
        let third = try #require(RawStream(port: endpoint.address.port))
        third.send(Self.message("third"))
        #expect(third.receive() == "")
        #expect(endpoint.streams.counters.count(.refused) == 1)
        #expect(endpoint.observer.messages.count == 2)
        await endpoint.streams.stop()
    }

    @Test func `unknown peers hold a tenth of the connections, and peers still get one`() async throws {
        let endpoint = try await House { $0.connections = 20 }
        let isPeer = Mutex(false)
        endpoint.streams.setPeers(StreamPeers { _ in isPeer.withLock { $0 } ? 1 : nil })
        // Connections may be taken before what waits for the loop: what comes back was given to it after the peers.
        let token = DeliveryToken(branch: Branch(token: 9), attempt: 0)
        endpoint.send(Self.message("nobody"), to: Self.loopback.with(port: 1), token: token)
        #expect(try await waits { endpoint.observer.failures == [token] })
        let strangers = (0..<2).map { _ in RawStream(port: endpoint.address.port) }
        #expect(try await waits { endpoint.streams.counters.openConnections == 2 })
        #expect(try #require(RawStream(port: endpoint.address.port)).receive() == "")
        isPeer.withLock { $0 = true }
        let peer = try #require(RawStream(port: endpoint.address.port))
        peer.send(Self.message("peer"))
        #expect(try await waits { endpoint.observer.messages.count == 1 })
        #expect(strangers.allSatisfy { $0 != nil } && endpoint.streams.counters.count(.refused) == 1)
        await endpoint.streams.stop()
    }

    @Test func `however many are accepted, the gateway can reach its targets`() async throws {
        let target = try await House()
        let endpoint = try await House { $0.connections = 10 }
        let peers = (0..<9).map { _ in RawStream(port: endpoint.address.port) }
        #expect(try await waits { endpoint.streams.counters.openConnections == 9 })
        #expect(try #require(RawStream(port: endpoint.address.port)).receive() == "")
        endpoint.send(Self.message("out"), to: target.address)
        #expect(try await waits { target.observer.messages.count == 1 })
        #expect(peers.allSatisfy { $0 != nil })
        await endpoint.streams.stop()
        await target.streams.stop()
    }

    @Test func `what a worker has no room for waits in the connection, and nothing is lost`() async throws {
        let observer = StreamObserver(mostBytes: 200)
        let streams = StreamTransport(
            listeners: [StreamListener(position: 0, address: Self.loopback)], inboxes: [observer.inbox])
        let address = try #require(try await streams.start()[0])
        let peer = try #require(RawStream(port: address.port))
        for number in 0..<500 { peer.send(Self.message("m\(number)")) }
        #expect(try await waits { observer.messages.count == 500 })
        #expect(observer.messages.map(\.text) == (0..<500).map { Self.message("m\($0)") })
        await streams.stop()
    }

    @Test(arguments: [
        StreamLimits().waiting,
        // A burst larger than what may wait, to far ends that read: it has not been offered to the system yet.
        5_000,
    ])
    func `what is given at once arrives in order on each connection, with and without a token`(
        waiting: Int
    ) async throws {
        let endpoint = try await House { $0.waiting = waiting }
        let others = [try await House(), try await House()]
        endpoint.streams.send(
            (0..<400).map { number in
                OutgoingMessage(
                    bytes: Array(Self.message("m\(number)").utf8), destination: others[number % 2].address, socket: 3,
                    token: number % 3 == 0 ? DeliveryToken(branch: Branch(token: 9), attempt: 0) : .none)
            })
        for (place, other) in others.enumerated() {
            #expect(try await waits { other.observer.messages.count == 200 })
            #expect(other.observer.messages.map(\.text) == (0..<200).map { Self.message("m\($0 * 2 + place)") })
        }
        #expect(endpoint.observer.failures.isEmpty)
        for each in others + [endpoint] { await each.streams.stop() }
    }

    @Test func `a far end that reads nothing loses its connection, and each lost request is reported`()
        async throws
    {
        let endpoint = try await House { $0.waiting = 200_000 }
        let peer = try #require(RawStream(port: endpoint.address.port))
        peer.send(Self.message("a"))
        #expect(try await waits { endpoint.observer.messages.count == 1 })
        let flow = try #require(endpoint.observer.messages.first).flow
        // More than the buffers of the system for both ends.
        let large = [UInt8](repeating: 0x61, count: 40_000)
        for number in 0..<2_000 {
            let token = DeliveryToken(branch: Branch(token: UInt64(number + 1)), attempt: 0)
            endpoint.streams.send([
                OutgoingMessage(
                    bytes: large, destination: flow.source, socket: 3, connection: flow.connection,
                    token: number % 2 == 0 ? token : .none)
            ])
        }
        #expect(try await waits { endpoint.streams.counters.count(.closedFull) > 0 })
        #expect(try await waits { endpoint.observer.failures.contains { $0.branch == Branch(token: 1_999) } })
        // Each once, and of those before the first none.
        let failed = endpoint.observer.failures.map(\.branch)
        #expect(Set(failed).count == failed.count)
        #expect(Set(failed).isSubset(of: (0..<1_000).map { Branch(token: UInt64(2 * $0 + 1)) }))
        withExtendedLifetime(peer) {}
        await endpoint.streams.stop()
    }

    @Test func `a taken port is named with what to do`() async throws {
        let endpoint = try await House()
        let error = await #expect(throws: StreamListenError.self) { _ = try await House(endpoint.address) }
        #expect(
            error?.description == """
                cannot listen on TCP \(endpoint.address): Address already in use; \
                see who uses it with `ss -ltnp`, or change listen.address
                """)
        await endpoint.streams.stop()
    }
}
