// SPDX-License-Identifier: Apache-2.0

import Host
import SIPCore
import SIPTransport
import Testing

@Suite("Next hops kept fresh", .timeLimit(.minutes(8)))
struct NextHopResolverTests {
    static let pbx = NextHopName(host: "pbx.example", port: 5060, transport: .udp)
    static let trunk = NextHopName(host: "trunk.example", port: 5060, transport: .tcp)

    static func zone(_ address: String, ttl: Int = 30) -> ScriptedLookup.Table {
        ["pbx.example A": .success([.address(address, ttl: ttl)])]
    }

    /// How often the PBX was asked for.
    private func asked(_ bench: ResolverBench) -> Int { bench.lookup.asked.count { $0 == "pbx.example A" } }

    @Test func `the first resolution happens at once`() async {
        let bench = ResolverBench([Self.pbx], Self.zone("192.0.2.1"))
        #expect(bench.resolver.snapshot.map(\.hops) == [nil])
        await bench.run {
            #expect(bench.clock.now.offset == .zero)
            #expect(bench.changes == [["pbx.example": ["192.0.2.1:5060"]]])
        }
    }

    @Test func `names of a reload are known before they are put in place, or it is said that they are not`() async {
        let bench = ResolverBench([Self.pbx], Self.zone("192.0.2.1"))
        await bench.run {
            #expect(await bench.resolver.learn([Self.pbx, Self.trunk]) == [Self.trunk])
            #expect(bench.changes == [["pbx.example": ["192.0.2.1:5060"]]])
            bench.lookup.set("trunk.example A", .success([.address("192.0.2.9", ttl: 30)]))
            #expect(await bench.resolver.learn([Self.pbx, Self.trunk]).isEmpty)
            #expect(bench.changes.last == ["pbx.example": ["192.0.2.1:5060"], "trunk.example": ["192.0.2.9:5060"]])
            bench.resolver.replace(names: [Self.pbx, Self.trunk])
            #expect(bench.resolver.snapshot.map { $0.hops?.count } == [1, 1])
        }
    }

    @Test func `a check of names asks for them and keeps nothing`() async {
        let bench = ResolverBench([Self.pbx], Self.zone("192.0.2.1"))
        await bench.run {
            #expect(await bench.resolver.learn([Self.pbx, Self.trunk], keeps: false) == [Self.trunk])
            bench.lookup.set("trunk.example A", .success([.address("192.0.2.9", ttl: 30)]))
            #expect(await bench.resolver.learn([Self.pbx, Self.trunk], keeps: false).isEmpty)
            #expect(bench.changes == [["pbx.example": ["192.0.2.1:5060"]]])
            bench.lookup.set("trunk.example A", .failure(.notFound))
            #expect(await bench.resolver.learn([Self.trunk]) == [Self.trunk], "the address was not stored")
        }
    }

    @Test(arguments: [(30, 29, 30), (0, 4, 5), (1_000_000, 3599, 3600)])
    func `a name is asked for again when its time is over, not before`(ttl: Int, before: Int, after: Int) async {
        let bench = ResolverBench([Self.pbx], Self.zone("192.0.2.1", ttl: ttl))
        await bench.run {
            await bench.advance(.seconds(before))
            #expect(asked(bench) == 1)
            await bench.advance(.seconds(after - before))
            #expect(asked(bench) == 2)
        }
    }

    @Test func `a change is published once, and the same result not at all`() async {
        let bench = ResolverBench([Self.pbx], Self.zone("192.0.2.1"))
        await bench.run {
            await bench.advance(.seconds(30))
            #expect(bench.changes.count == 1)
            bench.lookup.set("pbx.example A", .success([.address("192.0.2.2", ttl: 30)]))
            await bench.advance(.seconds(30))
            await bench.advance(.seconds(30))
            #expect(asked(bench) == 4)
            #expect(bench.changes.dropFirst() == [["pbx.example": ["192.0.2.2:5060"]]])
        }
        #expect(bench.notices.isEmpty)
    }

    @Test(arguments: [NameLookupError.timedOut, .serverFailure, .notFound, .noData, .malformed, .unreachable, .other])
    func `a lookup that fails keeps the last good result and is reported once`(error: NameLookupError) async {
        let bench = ResolverBench([Self.pbx], Self.zone("192.0.2.1"))
        await bench.run {
            bench.lookup.set("pbx.example A", .failure(error))
            await bench.advance(.seconds(30))
            await bench.advance(.seconds(1))
            let status = bench.resolver.snapshot.first
            #expect(status?.hops?.map(\.text) == ["192.0.2.1:5060"])
            #expect(status?.age == .seconds(31))
            #expect(status?.failures == 2)
            #expect(status?.problem == "pbx.example A: \(error)")
            bench.lookup.set("pbx.example A", .success([.address("192.0.2.1", ttl: 30)]))
            await bench.advance(.seconds(2))
            #expect(bench.resolver.snapshot.first?.problem == nil)
        }
        #expect(bench.changes.count == 1)
        #expect(
            bench.notices == [
                "next hop pbx.example:5060 over UDP keeps its last result (1 addresses, 30 s old): "
                    + "pbx.example A: \(error)", "next hop pbx.example:5060 over UDP is resolved again",
            ])
    }

    @Test func `failures are tried again after 1 s, doubling up to 60 s`() async {
        let bench = ResolverBench([Self.pbx], [:])
        await bench.run {
            for (failures, wait) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
                await bench.advance(.seconds(wait) - .milliseconds(1))
                #expect(asked(bench) == failures + 1)
                await bench.advance(.milliseconds(1))
                #expect(asked(bench) == failures + 2)
            }
        }
        #expect(bench.changes.isEmpty)
    }

    @Test(arguments: [
        (1, 0.0, 1000), (1, 0.999, 1200), (3, 0.0, 3200), (3, 0.999, 4800), (40, 0.0, 48_000), (40, 0.999, 60_000),
    ])
    func `chance spreads the waits by a fifth, within the limits`(failures: Int, chance: Double, milliseconds: Int) {
        let delay = NextHopResolver.Settings().backoff.delay(afterFailures: failures, chance: chance)
        #expect(abs(delay / .milliseconds(1) - Double(milliseconds)) < 2)
    }

    @Test func `a name that was never resolved has no hops and does not hold up others`() async {
        let bench = ResolverBench([Self.trunk, Self.pbx], Self.zone("192.0.2.1"))
        await bench.run(sleepers: 2) {}
        #expect(bench.changes == [["pbx.example": ["192.0.2.1:5060"]]])
        #expect(bench.resolver.snapshot.map(\.name) == [Self.trunk, Self.pbx])
        #expect(
            bench.notices == [
                "next hop trunk.example:5060 over TCP has no address yet: trunk.example A: \(NameLookupError.notFound)"
            ])
    }

    @Test func `a service the domain declines has no hops any more`() async {
        let name = NextHopName(host: "pbx.example", port: nil, transport: .udp)
        let bench = ResolverBench([name], Self.zone("192.0.2.1"))
        await bench.run {
            bench.lookup.set("_sip._udp.pbx.example SRV", .success([.service(0, 0, 0, ".")]))
            await bench.advance(.seconds(30))
            #expect(bench.changes == [["pbx.example": ["192.0.2.1:5060"]], ["pbx.example": []]])
        }
    }

    @Test func `a result that lacks only the failed lookups does not replace a whole one`() async {
        let both = Self.zone("192.0.2.1").merging(["pbx.example AAAA": .success([.address("2001:db8::1", ttl: 30)])]) {
            $1
        }
        let bench = ResolverBench([Self.pbx], both)
        await bench.run {
            bench.lookup.set("pbx.example AAAA", .failure(.timedOut))
            await bench.advance(.seconds(30))
            #expect(bench.changes.count == 1)
            #expect(bench.resolver.snapshot.first?.failures == 1)
            // What it has is new, so it counts.
            bench.lookup.set("pbx.example A", .success([.address("192.0.2.7", ttl: 30)]))
            await bench.advance(.seconds(1))
            #expect(bench.changes.last == ["pbx.example": ["192.0.2.7:5060"]])
            // A result that replaced an incomplete one may be smaller again.
            bench.lookup.set("pbx.example AAAA", .success([.address("2001:db8::1", ttl: 30)]))
            await bench.advance(.seconds(2))
            #expect(bench.changes.last == ["pbx.example": ["192.0.2.7:5060", "[2001:db8::1]:5060"]])
            #expect(bench.resolver.snapshot.first?.problem == nil)
        }
    }

    @Test func `other names put in place are asked for at once, those gone are forgotten, those that stay keep`() async
    {
        let bench = ResolverBench([Self.pbx], Self.zone("192.0.2.1"))
        let lan = NextHopName(host: "10.0.0.9", port: nil, transport: .udp)
        await bench.run {
            bench.lookup.set("trunk.example A", .success([.address("192.0.2.5")]))
            bench.resolver.replace(names: [Self.pbx, Self.trunk, Self.trunk, lan])
            await bench.clock.waitForSleepers(3)
            #expect(asked(bench) == 1)
            let both = ["192.0.2.1:5060", "192.0.2.5:5060", "10.0.0.9:5060"]
            #expect(bench.changes.last?.values.flatMap { $0 }.sorted() == both.sorted())
            #expect(bench.resolver.snapshot.map(\.name) == [Self.pbx, Self.trunk, lan])
            bench.resolver.replace(names: [Self.trunk])
            await bench.clock.waitForSleepers(1)
            #expect(bench.changes.last == ["trunk.example": ["192.0.2.5:5060"]])
            await bench.advance(.seconds(30))
            #expect(asked(bench) == 1)
        }
    }

    @Test func `it runs again after it was cancelled`() async {
        let bench = ResolverBench([Self.pbx], Self.zone("192.0.2.1"))
        await bench.run {}
        await bench.run { await bench.advance(.seconds(30)) }
        #expect(asked(bench) == 2)
        #expect(bench.notices.isEmpty)
    }
}
