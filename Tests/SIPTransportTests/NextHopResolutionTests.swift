// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SIPTransport
import Testing

@Suite("Next hops by name, RFC 3263 section 4.2")
struct NextHopResolutionTests {
    struct Row: CustomTestStringConvertible {
        /// The RFC's sentence, or the rule of ours where it says `herald`.
        var sentence: String
        var name: NextHopName
        var zone: [String: [NameRecord]]
        var hops: [String]
        var testDescription: String { sentence }

        init(
            _ sentence: String, _ host: String, _ port: UInt16?, _ transport: SIPTransportKind,
            _ zone: [String: [NameRecord]], _ hops: [String]
        ) {
            self.sentence = sentence
            name = NextHopName(host: host, port: port, transport: transport)
            self.zone = zone
            self.hops = hops
        }
    }

    static let a = ["pbx.example A": [NameRecord.address("192.0.2.1")]]
    static let a2 = ["a.example A": [NameRecord.address("192.0.2.1")], "b.example A": [.address("192.0.2.2")]]

    static let rows = [
        Row(
            "If TARGET is a numeric IP address, the client uses that address. If the URI also contains a port, it uses that port.",
            "192.0.2.9", 5080, .udp, [:], ["192.0.2.9:5080"]),
        Row(
            "If no port is specified, it uses the default port for the particular transport protocol. (UDP)",
            "192.0.2.9", nil, .udp, [:], ["192.0.2.9:5060"]),
        Row(
            "If no port is specified, it uses the default port for the particular transport protocol. (TLS, IPv6)",
            "[2001:db8::9]", nil, .tls, [:], ["[2001:db8::9]:5061"]),
        Row(
            "If the TARGET was not a numeric IP address, but a port is present in the URI, the client performs an A or AAAA record lookup of the domain name.",
            "pbx.example", 5080, .tcp,
            [
                "pbx.example A": [.address("192.0.2.1")], "pbx.example AAAA": [.address("2001:db8::1")],
                "_sip._tcp.pbx.example SRV": [.service(0, 0, 5099, "other.example")],
                "other.example A": [.address("192.0.2.99")],
            ], ["192.0.2.1:5080", "[2001:db8::1]:5080"]),
        Row(
            "Previously, if the port was explicit, but with a value of 5060, SRV records were used. Now, A or AAAA records will be used.",
            "pbx.example", 5060, .udp,
            a.merging(["_sip._udp.pbx.example SRV": [.service(0, 0, 5099, "a.example")]]) { $1 }
                .merging(a2) { $1 }, ["192.0.2.1:5060"]),
        Row(
            "If the TARGET was not a numeric IP address, and no port was present in the URI, ... the client performs an SRV query for that specific transport (UDP)",
            "pbx.example", nil, .udp,
            a2.merging(["_sip._udp.pbx.example SRV": [.service(10, 60, 5070, "a.example")]]) { $1 },
            ["192.0.2.1:5070/10/60"]),
        Row(
            "... the client performs an SRV query for that specific transport (TCP)", "pbx.example", nil, .tcp,
            a2.merging(["_sip._tcp.pbx.example SRV": [.service(10, 60, 5070, "b.example")]]) { $1 },
            ["192.0.2.2:5070/10/60"]),
        Row(
            "if the client wishes to use TLS, it also uses the service identifier \"_sips\" for that specific transport",
            "pbx.example", nil, .tls,
            a2.merging([
                "_sips._tcp.pbx.example SRV": [.service(10, 60, 5071, "a.example")],
                "_sip._tcp.pbx.example SRV": [.service(10, 60, 5070, "b.example")],
            ]) { $1 }, ["192.0.2.1:5071/10/60"]),
        Row(
            "If no SRV records were found, the client performs an A or AAAA record lookup of the domain name ... at the default port for that transport. (UDP)",
            "pbx.example", nil, .udp, a, ["192.0.2.1:5060"]),
        Row(
            "If no SRV records were found, ... at the default port for that transport. (TLS)", "pbx.example", nil,
            .tls, a, ["192.0.2.1:5061"]),
        Row(
            "RFC 2782: A client MUST attempt to contact the target host with the lowest-numbered priority it can reach",
            "pbx.example", nil, .udp,
            a2.merging([
                "_sip._udp.pbx.example SRV": [.service(20, 0, 5060, "a.example"), .service(10, 0, 5060, "b.example")]
            ]) { $1 }, ["192.0.2.2:5060/10/0", "192.0.2.1:5060/20/0"]),
        Row(
            "RFC 2782: Larger weights SHOULD be given a proportionately higher probability of being selected.",
            "pbx.example", nil, .udp,
            a2.merging([
                "_sip._udp.pbx.example SRV": [.service(10, 20, 5060, "a.example"), .service(10, 80, 5060, "b.example")]
            ]) { $1 }, ["192.0.2.2:5060/10/80", "192.0.2.1:5060/10/20"]),
        Row(
            "RFC 2782: A Target of \".\" means that the service is decidedly not available at this domain.",
            "pbx.example", nil, .udp,
            a.merging(["_sip._udp.pbx.example SRV": [.service(0, 0, 0, ".")]]) { $1 }, []),
        Row(
            "herald: a target without addresses takes nothing from the others", "pbx.example", nil, .udp,
            [
                "_sip._udp.pbx.example SRV": [.service(1, 0, 5060, "gone.example"), .service(2, 0, 5060, "a.example")],
                "a.example A": [.address("192.0.2.1")],
            ], ["192.0.2.1:5060/2/0"]),
        Row(
            "herald: addresses no peer has are not used", "pbx.example", 5060, .udp,
            [
                "pbx.example A": ["0.0.0.0", "224.0.1.75", "255.255.255.255", "127.0.0.1", "10.0.0.1"].map {
                    .address($0)
                },
                "pbx.example AAAA": ["::", "::1", "::ffff:192.0.2.1", "fe80::1", "ff02::1", "fd00::1"].map {
                    .address($0)
                },
            ], ["10.0.0.1:5060", "127.0.0.1:5060", "[::1]:5060", "[fd00::1]:5060"]),
        Row(
            "herald: an SRV record with port 0 is not used", "pbx.example", nil, .udp,
            a2.merging([
                "_sip._udp.pbx.example SRV": [.service(1, 1, 0, "a.example"), .service(2, 1, 5060, "b.example")]
            ]) { $1 }, ["192.0.2.2:5060/2/1"]),
    ]

    @Test(arguments: rows)
    func `a name has the addresses that the RFC gives it`(row: Row) async throws {
        let lookup = ScriptedLookup(row.zone.mapValues { .success($0) })
        let response = try await NextHopResolution().resolve(row.name, using: lookup)
        #expect(response.hops.map(\.text) == row.hops)
        #expect(response.gaps.isEmpty)
    }

    static let families: [(AddressFamilies, [String])] = [
        (.ipv4, ["192.0.2.1:5060"]), (.ipv6, ["[2001:db8::1]:5060"]),
        ([.ipv4, .ipv6], ["192.0.2.1:5060", "[2001:db8::1]:5060"]),
    ]

    @Test(arguments: families)
    func `only the families allowed are asked for and used`(families: AddressFamilies, hops: [String]) async throws {
        let lookup = ScriptedLookup([
            "pbx.example A": .success([.address("192.0.2.1")]),
            "pbx.example AAAA": .success([.address("2001:db8::1")]),
        ])
        let name = NextHopName(host: "pbx.example", port: 5060, transport: .udp)
        let response = try await NextHopResolution(families: families).resolve(name, using: lookup)
        #expect(response.hops.map(\.text) == hops)
        #expect(lookup.asked.count == hops.count)
    }

    @Test(arguments: [
        // SRV, A, AAAA → the smallest, within 5 s … 1 h.
        (600, 300, 900, Duration.seconds(300)), (60, 300, 300, .seconds(60)), (600, 300, 30, .seconds(30)),
        (0, 300, 300, .seconds(5)), (600, 4, 600, .seconds(5)), (86_400, 7200, 7200, .seconds(3600)),
    ])
    func `a result lasts as long as its shortest record, within limits`(
        srv: Int, a: Int, aaaa: Int, lifetime: Duration
    ) async throws {
        let lookup = ScriptedLookup([
            "_sip._udp.pbx.example SRV": .success([.service(1, 1, 5060, "a.example", ttl: srv)]),
            "a.example A": .success([.address("192.0.2.1", ttl: a)]),
            "a.example AAAA": .success([.address("2001:db8::1", ttl: aaaa)]),
        ])
        let name = NextHopName(host: "pbx.example", port: nil, transport: .udp)
        #expect(try await NextHopResolution().resolve(name, using: lookup).lifetime == lifetime)
    }

    @Test func `the records' order changes nothing`() async throws {
        let addresses = (1...9).map { NameRecord.address("192.0.2.\($0)") }
        let name = NextHopName(host: "pbx.example", port: 5060, transport: .udp)
        let first = ScriptedLookup(["pbx.example A": .success(addresses)])
        let second = ScriptedLookup(["pbx.example A": .success(addresses.reversed())])
        let responses = (
            try await NextHopResolution().resolve(name, using: first),
            try await NextHopResolution().resolve(name, using: second)
        )
        #expect(responses.0 == responses.1)
    }

    @Test func `of many hops the first sixteen are kept, and of many targets sixteen looked up`() async throws {
        let services = (1...60).map { NameRecord.service(UInt16($0), 1, 5060, "t\($0).example") }
        var table: ScriptedLookup.Table = ["_sip._udp.pbx.example SRV": .success(services.reversed())]
        for number in 1...60 {
            table["t\(number).example A"] = .success([
                .address("192.0.2.\(number)"), .address("198.51.100.\(number)"),
            ])
        }
        let lookup = ScriptedLookup(table)
        let name = NextHopName(host: "pbx.example", port: nil, transport: .udp)
        let response = try await NextHopResolution(families: .ipv4).resolve(name, using: lookup)
        #expect(response.hops.count == 16)
        #expect(response.hops.map(\.priority) == (1...8).flatMap { [$0, $0] })
        #expect(lookup.asked.count == 17)
    }

    static let failures: [([String: NameLookupError], String)] = [
        // A failing server has not said that there are no SRV records.
        (
            ["_sip._udp.pbx.example SRV": NameLookupError.timedOut],
            "_sip._udp.pbx.example SRV: no name server responded"
        ),
        (["_sip._udp.pbx.example SRV": .serverFailure], "_sip._udp.pbx.example SRV: the name server returned an"),
        // No name at all.
        ([:], "pbx.example A: the name does not exist"),
        // What may pass is told before what is certain.
        (["pbx.example A": .noData, "pbx.example AAAA": .timedOut], "pbx.example AAAA: no name server responded"),
    ]

    @Test(arguments: failures)
    func `a failure names the lookup and what to do`(
        failures: [String: NameLookupError], text: String
    ) async throws {
        let lookup = ScriptedLookup(failures.mapValues { .failure($0) })
        let name = NextHopName(host: "pbx.example", port: nil, transport: .udp)
        let failure = await #expect(throws: NextHopFailure.self) {
            try await NextHopResolution().resolve(name, using: lookup)
        }
        #expect(failure?.description.hasPrefix(text) == true, "\(failure?.description ?? "")")
        #expect(failure?.description.contains("; check") == true)
    }

    @Test func `a failed lookup beside successful ones is reported as a gap`() async throws {
        let lookup = ScriptedLookup([
            "pbx.example A": .success([.address("192.0.2.1")]), "pbx.example AAAA": .failure(.timedOut),
        ])
        let name = NextHopName(host: "pbx.example", port: 5060, transport: .udp)
        let response = try await NextHopResolution().resolve(name, using: lookup)
        #expect(response.hops.map(\.text) == ["192.0.2.1:5060"])
        #expect(response.gaps.count == 1)
        #expect(response.gaps.first?.hasPrefix("pbx.example AAAA: no name server responded in time") == true)
    }

    @Test func `two spellings of one name are one name`() {
        let first = NextHopName(host: "PBX.Example.", port: nil, transport: .tcp)
        #expect(first == NextHopName(host: "pbx.example", port: nil, transport: .tcp))
        #expect(first.description == "pbx.example over TCP")
    }
}
