// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SIPTransport
import Testing

@Suite("Next hops over restarts", .timeLimit(.minutes(8)))
struct NextHopFileTests {
    static let names = [
        NextHopResolverTests.pbx, NextHopName(host: "trunk.example", port: nil, transport: .tls),
        NextHopName(host: "six.example", port: 5080, transport: .tcp),
    ]
    static let zone: ScriptedLookup.Table = [
        "pbx.example A": .success([.address("192.0.2.1")]), "six.example AAAA": .success([.address("2001:db8::1")]),
        "_sips._tcp.trunk.example SRV": .success([.service(1, 2, 5071, "a.example"), .service(3, 4, 5072, "b.example")]
        ),
        "a.example A": .success([.address("192.0.2.11")]), "b.example A": .success([.address("192.0.2.12")]),
    ]
    static let resolved = [
        "pbx.example": ["192.0.2.1:5060"], "six.example": ["[2001:db8::1]:5080"],
        "trunk.example": ["192.0.2.11:5071/1/2", "192.0.2.12:5072/3/4"],
    ]

    @Test func `the last good results are there after a restart without name servers`() async throws {
        let file = TemporaryFile()
        let first = ResolverBench(Self.names, Self.zone, path: file.path)
        await first.run(sleepers: 3) {}
        #expect(first.changes.last == Self.resolved)

        let second = ResolverBench(Self.names, [:], path: file.path)
        second.clock.advance(by: .seconds(600))
        #expect(second.resolver.snapshot.map(\.age) == [.seconds(600), .seconds(600), .seconds(600)])
        await second.run(sleepers: 3) {}
        #expect(second.changes == [Self.resolved])
        #expect(second.resolver.snapshot.allSatisfy { $0.problem != nil })
    }

    @Test func `a name that is no longer configured does not come back`() async throws {
        let file = TemporaryFile()
        let first = ResolverBench(Self.names, Self.zone, path: file.path)
        await first.run(sleepers: 3) {}
        let second = ResolverBench([NextHopResolverTests.pbx], [:], path: file.path)
        await second.run {}
        #expect(second.changes == [["pbx.example": ["192.0.2.1:5060"]]])
    }

    @Test(arguments: [
        "", "{", "null", #"{"version": 2, "names": []}"#, #"{"version": 1}"#, #"{"version":1,"names":[{}]}"#,
        line(transport: "SCTP"), line(address: "pbx"), line(port: "70000"), line(port: "-1"),
        String(repeating: "[", count: 100_000),
    ])
    func `a damaged file is ignored, said, and written anew`(text: String) async throws {
        let file = TemporaryFile()
        try file.write(text)
        let bench = ResolverBench(Self.names, Self.zone, path: file.path)
        #expect(bench.notices.count == 1)
        #expect(bench.notices.first?.hasPrefix("\(file.path) cannot be read and is ignored; ") == true)
        await bench.run(sleepers: 3) {}
        #expect(bench.changes.last == Self.resolved)
        #expect(file.text?.contains("192.0.2.12") == true)
    }

    @Test func `the table's sound line is read`() throws {
        let file = TemporaryFile()
        try file.write(Self.line())
        let bench = ResolverBench(Self.names, [:], path: file.path)
        #expect(bench.notices.isEmpty)
        #expect(bench.resolver.snapshot.first?.hops?.map(\.text) == ["192.0.2.1:5060"])
    }

    @Test func `no file is no trouble, and one that cannot be written is said with what to do`() async throws {
        let file = TemporaryFile()
        let bench = ResolverBench([NextHopResolverTests.pbx], Self.zone, path: file.path + "/none/next-hops.json")
        #expect(bench.notices.isEmpty)
        await bench.run {}
        #expect(bench.changes.count == 1)
        #expect(bench.notices.count == 1)
        #expect(bench.notices.first?.contains("resolved names will not outlive a restart") == true)
    }

    static func line(address: String = "192.0.2.1", port: String = "5060", transport: String = "UDP") -> String {
        """
        {"version": 1, "names": [{"host": "pbx.example", "port": 5060, "transport": "\(transport)", "isWhole": true,
        "answeredAt": 1800000000, "hops": [{"address": "\(address)", "port": \(port), "priority": 0, "weight": 0}]}]}
        """
    }
}
