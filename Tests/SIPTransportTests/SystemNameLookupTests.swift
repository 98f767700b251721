// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SIPTransport
import Synchronization
import Testing

@Suite("Asking name servers", .timeLimit(.minutes(8)))
struct SystemNameLookupTests {
    typealias Outcome = Result<[NameRecord], NameLookupError>

    struct Row: CustomTestStringConvertible {
        var testDescription: String
        var type: NameRecordType
        var script: NameServer.Script
        var outcome: Outcome

        init(_ text: String, _ type: NameRecordType, _ outcome: Outcome, _ script: @escaping NameServer.Script) {
            testDescription = text
            self.type = type
            self.outcome = outcome
            self.script = script
        }
    }

    /// Asks one server, which sends the responses of the script; only silence takes time.
    private func ask(
        _ server: PeerAddress..., name: String = "pbx.example", type: NameRecordType = .a,
        timeout: Duration = .seconds(30), attempts: Int = 1
    ) async -> Outcome {
        let lookup = SystemNameLookup(settings: .init(servers: server, timeout: timeout, attempts: attempts))
        do throws(NameLookupError) {
            return .success(try await lookup.records(of: name, type: type))
        } catch {
            return .failure(error)
        }
    }

    static let b = RecordBytes.name("b.example")
    static let c = RecordBytes.name("c.example")

    static let responses = [
        Row("one address", .a, .success([.address("192.0.2.1")])) { [$0.response([RecordBytes.a(1)])] },
        Row("several addresses", .a, .success([.address("192.0.2.1", ttl: 60), .address("192.0.2.2", ttl: 30)])) {
            [$0.response([RecordBytes.a(1, ttl: 60), RecordBytes.a(2, ttl: 30)])]
        },
        Row("an IPv6 address", .aaaa, .success([.address("2001:db8::7")])) {
            [$0.response([RecordBytes.record(28, [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7])])]
        },
        Row(
            "several services, one name compressed against the question", .srv,
            .success([
                .service(10, 60, 5060, "b.example"), .service(20, 0, 5070, "a.pbx.example"), .service(0, 0, 0, "."),
            ])
        ) {
            [
                $0.response([
                    RecordBytes.srv(10, 60, 5060, b), RecordBytes.srv(20, 0, 5070, [1, 97] + RecordBytes.questionName),
                    RecordBytes.srv(0, 0, 0, [0]),
                ])
            ]
        },
        Row(
            "a pointer", .naptr,
            .success([
                NameRecord(
                    timeToLive: 300,
                    content: .pointer(
                        order: 10, preference: 50, flags: "s", service: "SIP+D2U", replacement: "_sip._udp.b.example"))
            ])
        ) {
            let data = [0, 10, 0, 50, 1, UInt8(ascii: "s"), 7] + Array("SIP+D2U".utf8) + [0]
            return [$0.response([RecordBytes.record(35, data + RecordBytes.name("_sip._udp.b.example"))])]
        },
        Row("aliases are followed, the shortest time counts", .a, .success([.address("192.0.2.1", ttl: 20)])) {
            [
                $0.response([
                    RecordBytes.record(5, b, ttl: 20), RecordBytes.record(5, c, ttl: 90, owner: b),
                    RecordBytes.a(1, ttl: 60, owner: c),
                ])
            ]
        },
        Row(
            "a time with the highest bit set is zero (RFC 2181 section 8)", .a,
            .success([.address("192.0.2.1", ttl: 0)])
        ) {
            [$0.response([RecordBytes.a(1, ttl: 0x8000_0001)])]
        },
        Row("the question's letters may come back in other case", .a, .success([.address("192.0.2.1")])) { question in
            // The number before it is no letters, whatever its bytes.
            let response = question.response([RecordBytes.a(1)])
            return [response[..<12] + response[12...].map { (0x61...0x7A).contains($0) ? $0 - 32 : $0 }]
        },
        Row("foreign responses before the true one", .a, .success([.address("192.0.2.1")])) {
            let good = $0.response([RecordBytes.a(9)])
            return [
                [], [1, 2, 3], [good[0] ^ 1] + good[1...], good[0..<12] + [1, 120, 0, 0, 1, 0, 1],
                $0.bytes, $0.response([RecordBytes.a(1)]),
            ]
        },
        Row("a server that cannot read OPT", .a, .success([.address("192.0.2.1")])) {
            [$0.hasOPT ? $0.response([], code: 1) : $0.response([RecordBytes.a(1)])]
        },
    ]

    @Test(arguments: responses)
    func `a response has its records`(row: Row) async throws {
        let server = try NameServer(row.script)
        #expect(await ask(server.address, type: row.type) == row.outcome)
    }

    static let failures = [
        Row("NXDOMAIN", .a, .failure(.notFound)) { [$0.response([], code: 3)] },
        Row("no records of the type", .srv, .failure(.noData)) { [$0.response([])] },
        Row("records of another type", .srv, .failure(.noData)) { [$0.response([RecordBytes.a(1)])] },
        Row("records of another name", .a, .failure(.noData)) { [$0.response([RecordBytes.a(1, owner: b)])] },
        Row("SERVFAIL", .a, .failure(.serverFailure)) { [$0.response([], code: 2)] },
        Row("REFUSED", .a, .failure(.serverFailure)) { [$0.response([], code: 5)] },
        Row("NOTIMP without the question", .a, .failure(.serverFailure)) {
            [$0.bytes[0..<2] + [0x80, 4] + [UInt8](repeating: 0, count: 8)]
        },
        Row("garbage", .a, .failure(.malformed)) { question in
            (0..<64).map { number in (0..<40).map { UInt8(truncatingIfNeeded: $0 * 37 + number) } }
        },
        Row("a name that is a pointer to itself", .a, .failure(.malformed)) {
            let place = UInt8($0.questionEnd)
            return [$0.response([RecordBytes.a(1, owner: [0xC0, place])])]
        },
        Row("a target that is a pointer to itself", .srv, .failure(.malformed)) {
            let place = UInt8($0.questionEnd + 18)
            return [$0.response([RecordBytes.srv(1, 1, 5060, [0xC0, place])])]
        },
        Row("two names that point to each other", .srv, .failure(.malformed)) {
            let place = UInt8($0.questionEnd + 18)
            return [$0.response([RecordBytes.srv(1, 1, 5060, [1, 97, 0xC0, place + 4, 1, 98, 0xC0, place])])]
        },
        Row("aliases in a ring", .a, .failure(.malformed)) {
            [$0.response([RecordBytes.record(5, b), RecordBytes.record(5, RecordBytes.questionName, owner: b)])]
        },
        Row("an address of three bytes", .a, .failure(.malformed)) {
            [$0.response([RecordBytes.record(1, [192, 0, 2])])]
        },
        Row("a service without a target", .srv, .failure(.malformed)) {
            [$0.response([RecordBytes.record(33, [0, 1, 0, 1, 0, 1])])]
        },
        Row("a target with bytes behind it", .srv, .failure(.malformed)) {
            [$0.response([RecordBytes.srv(1, 1, 5060, b + [0])])]
        },
        Row("a target that is no host name", .srv, .failure(.malformed)) {
            [$0.response([RecordBytes.srv(1, 1, 5060, [3, 97, 10, 98, 0])])]
        },
        Row("a pointer's text longer than its record", .naptr, .failure(.malformed)) {
            [$0.response([RecordBytes.record(35, [0, 1, 0, 1, 200, 115, 0, 0, 0])])]
        },
        Row("more records said than there are", .a, .failure(.malformed)) {
            [$0.response([RecordBytes.a(1)], count: 65_535)]
        },
    ]

    @Test(arguments: failures)
    func `a response without usable records has its reason`(row: Row) async throws {
        let server = try NameServer(row.script)
        #expect(await ask(server.address, type: row.type) == row.outcome)
    }

    @Test func `a target that is no host name takes nothing from the others`() async throws {
        let server = try NameServer {
            [$0.response([RecordBytes.srv(1, 1, 5060, [2, 97, 32, 0]), RecordBytes.srv(2, 2, 5060, Self.b)])]
        }
        #expect(await ask(server.address, type: .srv) == .success([.service(2, 2, 5060, "b.example")]))
    }

    @Test func `of many records sixty-four are read`() async throws {
        let server = try NameServer { question in [question.response((0..<250).map { RecordBytes.a($0) })] }
        let outcome = await ask(server.address)
        #expect(try outcome.get().count == 64)
    }

    @Test func `a response cut anywhere is broken, not trusted`() async throws {
        let cut = Counter()
        let server = try NameServer { question in
            let whole = question.response([RecordBytes.srv(1, 2, 5060, Self.b), RecordBytes.srv(1, 2, 5061, Self.c)])
            return [Array(whole[..<(question.questionEnd + cut.next())])]
        }
        // Two records of 29 bytes.
        for _ in 0..<58 { #expect(await ask(server.address, type: .srv) == .failure(.malformed)) }
        #expect(try await ask(server.address, type: .srv).get().count == 2)
    }

    @Test func `changed bytes never break out of the bounds`() async throws {
        let chance = Counter()
        let server = try NameServer { question in
            var bytes = question.response([
                RecordBytes.record(5, Self.b), RecordBytes.record(33, [0, 1, 0, 2, 0, 3] + Self.c, owner: Self.b),
                RecordBytes.srv(1, 2, 5061, RecordBytes.questionName),
            ])
            // A multiplier and increment of a full-period generator (Knuth, TAOCP volume 2, section 3.3.4).
            var seed = UInt64(chance.next()) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            for _ in 0..<3 {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let room = bytes.count - question.questionEnd
                bytes[question.questionEnd + Int(seed >> 33) % room] = UInt8(truncatingIfNeeded: seed >> 24)
            }
            return [bytes]
        }
        for _ in 0..<1000 {
            guard case .success(let records) = await ask(server.address, type: .srv) else { continue }
            #expect((1...3).contains(records.count))
        }
    }

    @Test func `a silent server is given up`() async throws {
        let server = try NameServer { _ in [] }
        let outcome = await ask(server.address, timeout: .milliseconds(40), attempts: 3)
        #expect(outcome == .failure(.timedOut))
        #expect(try await server.observed.wait { $0.received.withLock { $0.count } == 3 })
    }

    @Test func `a port without a listener is an error that says so`() async throws {
        // Below 1024 the system gives no port to another test's server.
        #expect(await ask(UDPSocketTests.loopback.with(port: 1)) == .failure(.unreachable))
    }

    @Test func `the next server is asked when one fails, and not when one knows`() async throws {
        let failing = try NameServer { [$0.response([], code: 2)] }
        let good = try NameServer(at: UDPSocketTests.loopback6) { [$0.response([RecordBytes.a(1)])] }
        #expect(await ask(failing.address, good.address) == .success([.address("192.0.2.1")]))
        #expect(await ask(good.address, failing.address) == .success([.address("192.0.2.1")]))
        #expect(failing.observed.received.withLock { $0.count } == 1)
    }

    @Test func `a response too long for a datagram is fetched over TCP`() async throws {
        let server = try BriefNameServer { [$0.response([RecordBytes.a(1), RecordBytes.a(2)])] }
        #expect(await ask(server.address) == .success([.address("192.0.2.1"), .address("192.0.2.2")]))
    }

    @Test func `a server that accepts and says nothing over TCP is given up`() async throws {
        let server = try BriefNameServer(overTCP: nil)
        #expect(await ask(server.address, timeout: .milliseconds(300)) == .failure(.timedOut))
    }

    @Test(arguments: [
        "", ".", "pbx.example.", "a..b", ".a", "a b.example", "pbx\n.example", "pbx.example:5060", "ümlaut.example",
        String(repeating: "a", count: 64) + ".example", String(repeating: "abcdefg.", count: 32) + "example",
    ])
    func `what is no name is not asked for`(name: String) async throws {
        let server = try NameServer { [$0.response([RecordBytes.a(1)])] }
        #expect(await ask(server.address, name: name) == .failure(.badName))
        #expect(server.observed.received.withLock { $0.isEmpty })
    }

    @Test func `many lookups at once all get their own responses`() async throws {
        let server = try NameServer { [$0.response([RecordBytes.a(UInt8($0.name.dropLast(8)) ?? 0)])] }
        let lookup = SystemNameLookup(settings: .init(servers: [server.address], timeout: .seconds(30), concurrency: 3))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 1...60 {
                group.addTask {
                    try await lookup.records(of: "\(number).example", type: .a) == [.address("192.0.2.\(number)")]
                }
            }
            for try await isOwn in group { #expect(isOwn) }
        }
    }

    @Test func `a cancelled task ends while the server is silent`() async throws {
        let server = try NameServer { _ in [] }
        let lookup = SystemNameLookup(settings: .init(servers: [server.address], timeout: .seconds(30), attempts: 20))
        let task = Task { try await lookup.records(of: "pbx.example", type: .a) }
        #expect(try await server.observed.wait { $0.received.withLock { !$0.isEmpty } })
        task.cancel()
        let error = await #expect(throws: NameLookupError.self) { try await task.value }
        #expect(error == .cancelled)
    }
}
