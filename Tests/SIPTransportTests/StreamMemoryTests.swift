// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore
import Synchronization
import TestFixtures
import Testing

@testable import SIPTransport

@Suite("The memory of all TCP and TLS connections", .serialized, .timeLimit(.minutes(8)))
struct StreamMemoryTests {
    private static let mostBytes = 4 << 20

    /// A listening address.
    ///
    /// Of 127.0.0.0/24, .1 and .3 belong to one peer each, .2 and .22 to another, .9 to none.
    private struct Endpoint {
        let observer = StreamObserver()
        let streams: StreamTransport
        let port: UInt16

        init() async throws {
            var limits = StreamLimits()
            limits.memory = StreamMemoryTests.mostBytes
            limits.unfinished = .seconds(600)
            streams = StreamTransport(
                listeners: [StreamListener(position: 0, address: PeerAddress(ipv4: 0x7F00_0001, port: 0))],
                inboxes: [observer.inbox], limits: limits, onTrouble: observer.tell)
            streams.setPeers(
                StreamPeers { address in
                    let host = address.low & 0xFF
                    return host == 9 ? nil : host == 22 ? 2 : host
                })
            port = try #require(try await streams.start()[0]).port
        }

        var held: Int { streams.counters.heldBytes }
        var closed: UInt64 { streams.counters.count(.closedMemory) }

        /// Sends so many responses of 60 kB on each flow, at once.
        func respond(_ count: Int, on flows: [Flow]) {
            let bytes = [UInt8](repeating: 120, count: 60_000)
            let responses = flows.map { flow in
                OutgoingMessage(
                    bytes: bytes, destination: flow.source, socket: 0, connection: flow.connection, token: .none)
            }
            streams.send((0..<count).flatMap { _ in responses })
        }
    }

    /// 57 kB of an INVITE whose body does not end.
    private static let unfinished =
        "INVITE sip:a@b SIP/2.0\r\nContent-Length: 60000\r\n\r\n" + String(repeating: "x", count: 57_000)
    private static let whole = "INFO sip:a@b SIP/2.0\r\nContent-Length: 0\r\n\r\n"

    /// Sends from one address after the other, and lets the endpoint read.
    private func flood(_ endpoint: Endpoint, _ connections: Int, from hosts: [UInt32]) async throws -> [RawStream] {
        var streams: [RawStream] = []
        for number in 0..<connections {
            guard let stream = RawStream(port: endpoint.port, from: hosts[number % hosts.count]) else { continue }
            stream.send(Self.unfinished)
            streams.append(stream)
            if number.isMultiple(of: 8) { try await Task.sleep(for: .milliseconds(1)) }
            #expect(endpoint.held <= Self.mostBytes)
        }
        return streams
    }

    @Test func `a peer with many addresses cannot take more than its half`() async throws {
        let endpoint = try await Endpoint()
        let good = try #require(RawStream(port: endpoint.port, from: 1))
        good.send(Self.whole)
        #expect(try await waits { endpoint.observer.messages.count == 1 })
        let bad = try await flood(endpoint, 150, from: [2, 22])
        #expect(try await waits { endpoint.closed > 0 })
        #expect(endpoint.held <= Self.mostBytes / 2 + StreamMemory.connection)
        // The others go on, also with new connections.
        good.send(Self.whole)
        let second = try #require(RawStream(port: endpoint.port, from: 3))
        second.send(Self.whole)
        #expect(try await waits { endpoint.observer.messages.count == 3 })
        #expect(try await waits { endpoint.observer.troubles.contains { $0.hasPrefix("connection with 127.0.0.2") } })
        withExtendedLifetime(bad) {}
        await endpoint.streams.stop()
        #expect(endpoint.held == 0, "everything is given back")
    }

    @Test func `unknown peers share a tenth`() async throws {
        let endpoint = try await Endpoint()
        let bad = try await flood(endpoint, 60, from: [9])
        #expect(try await waits { endpoint.closed + endpoint.streams.counters.count(.refused) > 0 })
        #expect(endpoint.held <= Self.mostBytes / 10)
        withExtendedLifetime(bad) {}
        await endpoint.streams.stop()
    }

    @Test func `peers that read no responses do not fill the memory`() async throws {
        let endpoint = try await Endpoint()
        var peers: [RawStream] = []
        for number in 0..<12 {
            let peer = try #require(RawStream(port: endpoint.port, from: number.isMultiple(of: 2) ? 2 : 3))
            peer.send(Self.whole)
            peers.append(peer)
        }
        #expect(try await waits { endpoint.observer.messages.count == 12 })
        let flows = endpoint.observer.messages.map(\.flow)
        // The system takes some megabytes of each connection; the rest waits in the program. Responses that come slowly
        // are no test: the system ends a connection whose far end reads nothing for 20 s.
        for _ in 0..<16 {
            endpoint.respond(10, on: flows)
            #expect(endpoint.held <= Self.mostBytes)
        }
        #expect(try await waits { endpoint.closed + endpoint.streams.counters.count(.closedFull) > 0 })
        withExtendedLifetime(peers) {}
        await endpoint.streams.stop()
    }

    @Test func `an idle connection holds no buffer of the messages it has sent`() async throws {
        let endpoint = try await Endpoint()
        let peer = try #require(RawStream(port: endpoint.port))
        peer.send(String(repeating: Self.whole, count: 1_000))
        #expect(try await waits { endpoint.observer.messages.count == 1_000 })
        #expect(try await waits { endpoint.held == StreamMemory.connection })
        await endpoint.streams.stop()
    }

    @Test func `the owner that holds most releases first when all of it is taken`() {
        var memory = StreamMemory(limit: 8_000)
        memory.change(.peer(1), by: 3_900)
        memory.change(.peer(2), by: 3_000)
        #expect(memory.excess(after: .peer(2)) == nil)
        memory.change(.peer(3), by: 1_200)
        let excess = memory.excess(after: .peer(3))
        #expect(excess?.owner == .peer(1))
        #expect(excess?.bytes == 1_100, "an eighth below the limit")
        memory.change(.peer(3), by: 2_900)
        #expect(memory.excess(after: .peer(3))?.owner == .peer(3), "above its own half")
    }
}
