// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import GatewayTesting
import Host
import Synchronization
import TestFixtures
import Testing

@testable import GatewayDoors

@Suite("Calling names over UDP and TCP", .timeLimit(.minutes(8)))
struct NumberZoneServerTests {
    private let counters = NumberZoneCounters()
    private let log = LogLines()
    private static let branded = DNSBytes.query(DNSBytes.name(of: "61255501301"))

    private func rules(_ rate: Int, _ allowed: [String]) throws -> NumberZoneRules {
        let name = try #require(CallingName("Harbour Dental"))
        let zone = NumberZone(try #require(ZoneName("cnam.example.net")), lifetime: 0) { number in
            FoundCallingName(number.digits == 61_255_501_301 ? .name(name) : nil)
        }
        return NumberZoneRules(
            zone: zone, allowed: AllowedClients(try allowed.map { try SourceRange.read($0) }), rate: rate)
    }

    /// The port that the system has chosen; 0 before that.
    private final class Port: Sendable {
        let number = Atomic<Int>(0)
    }

    /// Runs a server with these rules while a test asks it.
    private func served(
        rate: Int = 100_000, allowed: [String] = ["127.0.0.1"], _ test: (_ port: Int) async throws -> Void
    ) async throws {
        let port = Port()
        let server = NumberZoneServer(
            listen: try EndpointAddress.read("127.0.0.1:0", defaultPort: nil, allowsPortZero: true),
            rules: try rules(rate, allowed), counters: counters,
            onListening: { port.number.store($0, ordering: .releasing) },
            logger: log.logger)
        let running = RunningServices([server], logger: log.logger)
        try await running.stop {
            await until { port.number.load(ordering: .acquiring) > 0 }
            let number = port.number.load(ordering: .acquiring)
            try #require(number > 0, "the server does not listen")
            try await test(number)
        }
    }

    @Test func `a name over both transports`() async throws {
        try await served { port in
            for overTCP in [false, true] {
                let client = try ZoneClient(port, overTCP: overTCP)
                let record = try #require(client.ask(Self.branded)?.records[0].first)
                #expect(DNSBytes.texts(record).last == "!^.*$!pstndata:cnam/Harbour%20Dental!")
                #expect(
                    client.ask(DNSBytes.query(DNSBytes.name(of: "61255501302")))?.records.map(\.count) == [0, 1, 0])
                #expect(client.ask(DNSBytes.query("cnam.example.net", type: 252))?.code == 5)
            }
        }
        #expect(counters.count(.outcome(.named)) == 2 && counters.count(.outcome(.empty)) == 2)
        #expect(counters.count(.outcome(.refused)) == 2)
    }

    @Test func `messages in one piece, and one in single bytes, over TCP`() async throws {
        try await served { port in
            let client = try ZoneClient(port, overTCP: true)
            client.send(messages: [Self.branded, DNSBytes.query("a.b", id: 7), Self.branded])
            #expect(client.receive().flatMap { DNSBytes($0) }?.records[0].count == 1)
            #expect(client.receive().flatMap { DNSBytes($0) }?.id == 7)
            #expect(client.receive().flatMap { DNSBytes($0) }?.records[0].count == 1)
            for byte in DNSBytes.pair(UInt16(Self.branded.count)) + Self.branded { client.send([byte]) }
            #expect(client.receive().flatMap { DNSBytes($0) }?.records[0].count == 1)
        }
    }

    @Test func `many messages in one piece are no fault of a client that reads`() async throws {
        try await served { port in
            let client = try ZoneClient(port, overTCP: true)
            let count = 1_500
            client.send(messages: Array(repeating: Self.branded, count: count))
            var received = 0
            while received < count, client.receive() != nil { received += 1 }
            #expect(received == count)
        }
    }

    @Test(
        arguments: [
            [0, 0], [0xFF, 0xFF, 1, 2], [2, 1, 0], [0, 3, 1, 2, 3], [0x47, 0x45, 0x54, 0x20, 0x2F],
        ] as [[UInt8]]) func `a connection with other bytes is closed`(bytes: [UInt8]) async throws
    {
        try await served { port in
            let client = try ZoneClient(port, overTCP: true)
            client.send(bytes)
            #expect(client.receive() == nil)
            #expect(try ZoneClient(port, overTCP: true).ask(Self.branded)?.records[0].count == 1)
        }
    }

    /// The server could otherwise be made to send to an address of the sender's choice.
    @Test func `a source outside of the list gets nothing`() async throws {
        try await served { port in
            let foreign = try ZoneClient(port, from: "127.0.0.9")
            foreign.send(messages: [Self.branded])
            let stream = try ZoneClient(port, overTCP: true, from: "127.0.0.9")
            stream.send(messages: [Self.branded])
            #expect(stream.receive() == nil)
            let own = try ZoneClient(port)
            #expect(own.ask(Self.branded)?.records[0].count == 1)
        }
        #expect(counters.count(.foreign) == 2 && counters.count(.outcome(.named)) == 1)
        // The first one is logged, by its source alone.
        let lines = log.all.filter { $0.contains("doors.enum.allow") }
        #expect(lines.count == 1 && lines[0].contains("127.0.0.9") && !lines[0].contains("1.0.3.1"), "\(log.all)")
    }

    @Test func `a response and half a header get nothing, and the next query its name`() async throws {
        try await served { port in
            let client = try ZoneClient(port)
            client.send(messages: [DNSBytes.query("a.b", flags: 0x8000)])
            client.send(messages: [[0x12, 0x34]])
            client.send(messages: [[]])
            #expect(client.ask(Self.branded)?.records[0].count == 1)
        }
        #expect(counters.count(.ignored) >= 2)
    }

    /// A forged source would get the responses: they are fewer than the queries, and no longer.
    @Test func `above the rate a source gets truncated responses or none, and another one its names`() async throws {
        try await served(rate: 1, allowed: ["127.0.0.0/8"]) { port in
            let flood = try ZoneClient(port)
            for _ in 0..<105 { flood.send(messages: [Self.branded]) }
            let other = try ZoneClient(port, from: "127.0.0.2")
            #expect(other.ask(Self.branded)?.records[0].count == 1)
            var (named, truncated) = (0, 0)
            for _ in 0..<40 {
                guard let bytes = flood.receive(), let response = DNSBytes(bytes) else { break }
                if response.isTruncated {
                    truncated += 1
                    #expect(bytes.count == Self.branded.count)
                } else {
                    named += 1
                }
            }
            #expect(truncated >= 20 && (1...20).contains(named))
        }
        #expect(counters.count(.dropped) >= 40)
    }

    @Test func `above the rate a connection is closed`() async throws {
        try await served(rate: 3) { port in
            let client = try ZoneClient(port, overTCP: true)
            client.send(messages: Array(repeating: Self.branded, count: 50))
            var count = 0
            while client.receive() != nil { count += 1 }
            #expect((3...10).contains(count))
        }
    }

    /// Forged datagrams could otherwise keep a client from the connection that a truncated response asks for.
    @Test func `a flood of datagrams leaves the connections of its source their rate`() async throws {
        try await served(rate: 2) { port in
            let flood = try ZoneClient(port)
            for _ in 0..<200 { flood.send(messages: [Self.branded]) }
            await until { counters.count(.dropped) >= 20 }
            #expect(try ZoneClient(port, overTCP: true).ask(Self.branded)?.records[0].count == 1)
        }
    }

    @Test func `one source has at most sixteen connections`() async throws {
        try await served(allowed: ["127.0.0.0/8"]) { port in
            var open: [ZoneClient] = []
            for _ in 0..<16 {
                let client = try ZoneClient(port, overTCP: true)
                #expect(client.ask(Self.branded) != nil)
                open.append(client)
            }
            let further = try ZoneClient(port, overTCP: true)
            #expect(further.ask(Self.branded) == nil)
            #expect(try ZoneClient(port, overTCP: true, from: "127.0.0.2").ask(Self.branded) != nil)
            open.removeLast()
            await until { (try? ZoneClient(port, overTCP: true).ask(Self.branded)) != nil }
            #expect(try ZoneClient(port, overTCP: true).ask(Self.branded) != nil)
        }
    }

    @Test func `a port in use is an error with its key`() async throws {
        try await served { port in
            let second = NumberZoneServer(
                listen: try EndpointAddress.read("127.0.0.1:\(port)", defaultPort: nil),
                rules: try rules(1, ["127.0.0.1"]),
                counters: counters, logger: log.logger)
            await #expect {
                try await second.run()
            } throws: { error in
                error is ListenRefusal && "\(error)".hasSuffix("change doors.enum.listen")
            }
        }
    }
}
