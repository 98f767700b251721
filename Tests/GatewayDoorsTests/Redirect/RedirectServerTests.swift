// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayTesting
import Host
import SIPCore
import Synchronization
import TestFixtures
import Testing

@testable import GatewayDoors

@Suite("Redirections over UDP", .timeLimit(.minutes(8)))
struct RedirectServerTests {
    private let counters = RedirectCounters()
    private let log = LogLines()
    private let names: NamesDoor

    /// As long as an INVITE of a PBX, so that a rejection is shorter.
    private static func invite(_ caller: String = "+61255501301", callID: String = "redirect@192.0.2.20") -> [UInt8] {
        Array(
            RedirectMessages.request(
                caller: caller, callID: callID,
                lines: "Contact: <sip:carrier@192.0.2.20:5060>\nAllow: INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE\n",
                body: "v=0"
            ).utf8)
    }

    init() throws { names = try NamesDoor() }

    /// The port that the system has chosen; 0 before that.
    private final class Port: Sendable {
        let number = Atomic<Int>(0)
    }

    private func server(
        _ listen: String, rate: Int, allowed: [String], clients: [String: Redirection.NamePlace] = [:],
        onListening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) throws -> RedirectServer {
        var ranges: [SourceRange: Redirection.NamePlace] = [:]
        for (text, place) in clients { ranges[try SourceRange.read(text)] = place }
        let rules = RedirectRules(
            door: names.redirectDoor(), allowed: AllowedClients(try allowed.map { try SourceRange.read($0) }),
            places: NamePlaces(.assertedIdentity, clients: ranges), rate: rate)
        return RedirectServer(
            listen: try EndpointAddress.read(listen, defaultPort: nil, allowsPortZero: true), rules: rules,
            counters: counters, onListening: onListening, logger: log.logger)
    }

    /// Runs a server while a test sends to it.
    private func served(
        rate: Int = 100_000, allowed: [String] = ["127.0.0.0/8"], clients: [String: Redirection.NamePlace] = [:],
        _ test: (_ port: Int) async throws -> Void
    ) async throws {
        let port = Port()
        let server = try server("127.0.0.1:0", rate: rate, allowed: allowed, clients: clients) {
            port.number.store($0, ordering: .releasing)
        }
        try await RunningServices([server], logger: log.logger).stop {
            await until { port.number.load(ordering: .acquiring) > 0 }
            let number = port.number.load(ordering: .acquiring)
            try #require(number > 0, "the server does not listen")
            try await test(number)
        }
    }

    private func client(_ port: Int, from source: String = "127.0.0.1", patience: Int = 5_000) throws -> LoopbackSocket
    {
        try LoopbackSocket(port, isStream: false, from: source, patience: patience)
    }

    private func ask(_ client: LoopbackSocket, _ request: [UInt8]) -> [String] {
        client.send(request)
        return RedirectMessages.lines(client.receive(atMost: 65_535) ?? [])
    }

    @Test func `a name, a caller without one, and the same bytes for a retransmission`() async throws {
        try await served { port in
            let client = try client(port)
            let first = ask(client, Self.invite())
            #expect(first[0] == "SIP/2.0 302 Moved Temporarily")
            #expect(first.contains(#"P-Asserted-Identity: "Harbour Dental" <sip:+61255501301@carrier.example>"#))
            #expect(ask(client, Self.invite()) == first)
            // ACK gets nothing, and the next request its response.
            client.send(Array(RedirectMessages.request("ACK", to: "<sip:100@192.0.2.20>;tag=x").utf8))
            #expect(ask(client, Self.invite("+61255501999"))[0] == "SIP/2.0 404 Not Found")
            #expect(ask(client, Array(RedirectMessages.request("OPTIONS").utf8))[0] == "SIP/2.0 200 OK")
        }
        #expect(counters.count(.matched) == 2 && counters.count(.unmatched(.noMatch)) == 1)
        #expect(counters.count(.acknowledged) == 1 && counters.count(.options) == 1)
    }

    @Test func `each client takes the name in its place`() async throws {
        let clients: [String: Redirection.NamePlace] = [
            "127.0.0.2": .contact, "127.0.0.0/29": .header("X-Caller-Name"),
        ]
        try await served(clients: clients) { port in
            let near = ask(try client(port), Self.invite())
            #expect(near.contains("X-Caller-Name: Harbour Dental"))
            let oracle = ask(try client(port, from: "127.0.0.2"), Self.invite())
            #expect(
                oracle.contains {
                    $0.hasPrefix("Contact: <sip:100@192.0.2.20;herald-redirect?P-Asserted-Identity=%22H")
                })
            let usual = ask(try client(port, from: "127.0.0.99"), Self.invite())
            #expect(usual.contains { $0.hasPrefix("P-Asserted-Identity: ") })
        }
    }

    /// The Via has another address than the source, and asks for the source (RFC 3261 §18.2.1, RFC 3581 §4).
    @Test func `a response goes to the source of its request`() async throws {
        try await served { port in
            let listener = try LoopbackSocket(port, isStream: false, from: "127.0.0.3", patience: 5_000)
            let text = RedirectMessages.request(via: "SIP/2.0/UDP 127.0.0.4:5060;branch=z9hG4bK1;rport")
            let response = ask(listener, Array(text.utf8))
            #expect(response[1].contains(";received=127.0.0.3") && response[1].contains(";rport="))
        }
    }

    /// The source may be forged: few responses, none longer than its request.
    @Test func `unknown senders get 403, twenty a second`() async throws {
        try await served(allowed: ["127.0.0.1"]) { port in
            let foreign = try client(port, from: "127.0.0.9", patience: 300)
            #expect(ask(foreign, Self.invite())[0] == "SIP/2.0 403 Forbidden")
            for number in 0..<200 { foreign.send(Self.invite(callID: "flood-\(number)@192.0.2.20")) }
            var responses = 0
            while let response = foreign.receive(atMost: 65_535) {
                #expect(response.count <= Self.invite(callID: "flood-100@192.0.2.20").count)
                responses += 1
            }
            #expect((1...60).contains(responses))
            // A client is served beside it.
            #expect(ask(try client(port), Self.invite())[0] == "SIP/2.0 302 Moved Temporarily")
        }
        #expect(counters.count(.notAllowed) >= 100 && counters.count(.matched) == 1)
        let lines = log.all.filter { $0.contains("doors.redirect.allow") }
        #expect(lines.count == 1 && lines[0].contains("127.0.0.9"), "\(log.all)")
        #expect(!log.text.contains("61255501301"), "no line has a number")
    }

    @Test func `above its rate a client goes on without names, and another one has its names`() async throws {
        try await served(rate: 1) { port in
            let flood = try client(port, patience: 300)
            for number in 0..<100 { flood.send(Self.invite(callID: "flood-\(number)@192.0.2.20")) }
            #expect(ask(try client(port, from: "127.0.0.2"), Self.invite())[0] == "SIP/2.0 302 Moved Temporarily")
            var (named, short) = (0, 0)
            while let response = flood.receive(atMost: 65_535) {
                if RedirectMessages.lines(response)[0] == "SIP/2.0 302 Moved Temporarily" {
                    named += 1
                } else {
                    short += 1
                    #expect(response.count <= Self.invite(callID: "flood-10@192.0.2.20").count)
                }
            }
            #expect((1...20).contains(named) && short >= 20, "\(named) \(short)")
        }
        #expect(counters.count(.dropped) >= 30 && counters.count(.limited) >= 20)
        #expect(log.all.filter { $0.contains("doors.redirect.rate") }.count == 1)
    }

    /// A call has an ACK for its response, and datagrams without content keep the way through a NAT open.
    @Test func `ACKs, responses and keep-alives use up nothing of a rate`() async throws {
        let quiet = [
            RedirectMessages.request("ACK", to: "<sip:100@192.0.2.20>;tag=x"), "\r\n\r\n", "",
            "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 127.0.0.1\r\n\r\n",
        ]
        try await served(rate: 1, allowed: ["127.0.0.1"]) { port in
            for (source, status) in [("127.0.0.1", "302 Moved Temporarily"), ("127.0.0.9", "403 Forbidden")] {
                let client = try client(port, from: source)
                for text in quiet {
                    for _ in 0..<25 { client.send(Array(text.utf8)) }
                }
                #expect(ask(client, Self.invite())[0] == "SIP/2.0 \(status)")
            }
        }
        #expect(counters.count(.acknowledged) == 50 && counters.count(.ignored) >= 100)
        #expect(counters.count(.notAllowed) == 1 && counters.count(.limited) == 0 && counters.count(.dropped) == 0)
    }

    @Test func `hostile bytes cost the next request nothing`() async throws {
        try await served { port in
            let client = try client(port)
            for bytes in [[], [0], Array("\r\n".utf8), Array("INVITE".utf8), [UInt8](repeating: 0xFF, count: 60_000)] {
                client.send(bytes)
            }
            client.send(Array("SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 127.0.0.1\r\n\r\n".utf8))
            #expect(ask(client, Self.invite())[0] == "SIP/2.0 302 Moved Temporarily")
        }
        #expect(counters.count(.ignored) >= 5)
    }

    @Test func `brands of this instant count`() async throws {
        try await served { port in
            let client = try client(port)
            #expect(ask(client, Self.invite())[0] == "SIP/2.0 302 Moved Temporarily")
            let index = names.branding.load().index
            names.branding.store(BrandingSnapshot(index: index, gates: BrandingGates(brandingEnabled: false)))
            #expect(ask(client, Self.invite())[0] == "SIP/2.0 404 Not Found")
        }
    }

    /// One thread and one request at a time: far above the calls of a trunk.
    @Test func `a thousand requests take less than a millisecond each`() async throws {
        try await served { port in
            let client = try client(port)
            let time = ContinuousClock().measure {
                for number in 0..<1_000 { _ = ask(client, Self.invite(callID: "\(number)@192.0.2.20")) }
            }
            #expect(time < .seconds(10), "a debug build on a busy machine has ten times the time")
        }
        #expect(counters.count(.matched) == 1_000)
    }

    @Test func `a port in use is an error with its key`() async throws {
        try await served { port in
            let second = try server("127.0.0.1:\(port)", rate: 1, allowed: ["127.0.0.1"])
            await #expect {
                try await second.run()
            } throws: { error in
                error is ListenRefusal && "\(error)".hasSuffix("change doors.redirect.listen")
            }
        }
    }
}
