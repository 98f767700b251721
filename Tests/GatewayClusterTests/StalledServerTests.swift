// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GatewayStore
import Glibc
import Host
import PostgreSQL
import Testing

@testable import GatewayCluster

/// Requirements: a server that stands still for seconds, or one gateway whose messages are stuck, moves no time of a call.
///
/// SIGSTOP of the server's process for one connection is what both look like to a gateway.
@Suite("A stalled server", .timeLimit(.minutes(8)))
struct StalledServerTests {
    private let shared: SharedDatabase

    init() throws { shared = try SharedDatabase() }

    /// Runs something while the server's process for a gateway's connection stands still for some seconds.
    private func stalled(_ gateway: LocalGateway, for seconds: Double, _ body: () throws -> Void) throws {
        let row = try gateway.sharing.shipper.session.execute("SELECT pg_backend_pid()").first
        let process = pid_t(try #require(try row?.integer(0)))
        try #require(kill(process, SIGSTOP) == 0)
        let end = Thread {
            usleep(UInt32(seconds * 1_000_000))
            kill(process, SIGCONT)
        }
        end.start()
        let began = SteadyClock.microseconds
        try body()
        try #require(SteadyClock.microseconds - began > Int64(seconds * 900_000), "nothing waited for the server")
    }

    /// The duration of the only call, once the gateway has stored its end; after a pause it stores some seconds later.
    private func talkTime(_ gateway: LocalGateway) throws -> Int? {
        for _ in 0..<60 {
            if let seconds = try gateway.calls().first?.callSeconds { return seconds }
            try gateway.pass()
            usleep(200_000)
        }
        return nil
    }

    private func offset(_ gateway: LocalGateway) throws -> Int64 {
        try shared.integer("SELECT clock_offset FROM ledger.node WHERE name = '\(gateway.name)'") ?? .max
    }

    @Test(arguments: [0, 60] as [Int64])
    func `facts and the clock of a gateway that shipped through a stall are right`(clock: Int64) throws {
        let (a, b) = (try LocalGateway("a", in: shared), try LocalGateway("b", in: shared, clock: clock))
        try a.pass()
        try b.pass()
        let call = PlayedCall(1)
        call.invite(a, ago: 30)
        call.send(.answered, at: a, ago: 20, 200)
        try a.pass()
        let server = try shared.integer("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint") ?? 0
        call.send(.bye, at: b, ago: -b.clock.sinceStart)
        try b.recorder.drain()
        try stalled(b, for: 3) { _ = try b.sharing.shipper.ship() }
        let at = try shared.integer("SELECT at FROM ledger.call_signal") ?? 0
        #expect(abs(at - server) < 500_000)
        #expect(abs(try offset(b) - clock * 1_000_000) < 100_000)
        let expected = 20 + Int(a.clock.sinceStart) - 3
        #expect(abs((try talkTime(a) ?? 0) - expected) <= 1)
    }

    @Test func `what a gateway reads through a stall has the right time`() throws {
        let (a, b) = (try LocalGateway("a", in: shared), try LocalGateway("b", in: shared))
        try b.pass()
        let call = PlayedCall(1)
        call.invite(a, ago: 30)
        call.send(.answered, at: a, ago: 20, 200)
        try a.pass()
        call.send(.bye, at: b, ago: 5)
        try b.pass()
        try stalled(a, for: 3) { try a.sharing.inbox.look() }
        // Whole seconds of two clocks, one of them estimated; the stall of 3 s would show.
        #expect(try (14...15).contains(talkTime(a) ?? 0))
    }

    @Test(arguments: ["the original", "the call back"])
    func `a call back is joined though its gateway or the other one shipped through a stall`(stall: String) throws {
        let (a, b) = (try LocalGateway("a", in: shared), try LocalGateway("b", in: shared))
        for gateway in [a, b] { try gateway.pass() }
        PlayedCall(1).missed(a, ago: 2)
        var back = PlayedCall.outbound(2)
        back.sipCallID = "back@pbx"
        back.invite(b, ago: 0)
        back.send(.answered, at: b, ago: -0.5 - b.clock.sinceStart, 200)
        for gateway in [a, b] { try gateway.recorder.drain() }
        if stall == "the original" {
            try stalled(a, for: 6) { _ = try a.sharing.shipper.ship() }
            _ = try b.sharing.shipper.ship()
        } else {
            _ = try a.sharing.shipper.ship()
            try stalled(b, for: 6) { _ = try b.sharing.shipper.ship() }
        }
        for _ in 0..<3 { for gateway in [b, a] { try gateway.pass() } }
        #expect(try b.keys().filter { $0.hasPrefix("returned") }.count == 1)
        let latency = try #require(try b.calls().last?.events.last { $0.key.hasPrefix("returned") })
        #expect(latency.meta.contains("\"return_call_latency_seconds\":2"), "\(latency.meta)")
    }

    @Test func `the first exchange after a new connection is repeated until it is short`() throws {
        let session = PostgreSQLSession(shared.address)
        try session.execute("SELECT 1")
        var steady: Int64 = 0
        let clock = SharedClock {
            steady = SteadyClock.microseconds
            return steady
        }
        let row = try session.execute("SELECT pg_backend_pid()").first
        let process = pid_t(try #require(try row?.integer(0)))
        kill(process, SIGSTOP)
        let end = Thread {
            usleep(2_000_000)
            kill(process, SIGCONT)
        }
        end.start()
        let offset = try clock.now(session) - steady
        // The server's clock is that of this machine. The exchange that was held up is wrong by half of its 2 s.
        let exact = (0..<100).map { _ in
            let sent = SteadyClock.microseconds
            let wall = Int64(Date().timeIntervalSince1970 * 1_000_000)
            return (span: SteadyClock.microseconds - sent, offset: wall - sent)
        }.min { $0.span < $1.span }
        #expect(abs(offset - (try #require(exact)).offset) < 500_000)
    }
}

/// Requirements: the shortest exchange counts, and a clock that was set counts at once.
@Suite("The clock of another machine")
struct ClockEstimateTests {
    @Test func `a slow exchange changes nothing, in either direction`() {
        var clock = ClockEstimate()
        clock.measure(1_000_100, sent: 0, received: 200)
        #expect(clock.offset == 1_000_000)
        clock.measure(9_000_000, sent: 1_000_000, received: 9_000_000)
        clock.measure(19_000_000, sent: 10_000_000, received: 18_000_200)
        #expect(clock.offset == 1_000_000)
    }

    @Test func `without a short exchange the slow one counts until there is one`() {
        var clock = ClockEstimate()
        clock.measure(9_000_000, sent: 0, received: 8_000_000)
        #expect(clock.offset == 5_000_000)
        clock.measure(9_000_200, sent: 8_000_100, received: 8_000_300)
        #expect(clock.offset == 1_000_000)
    }

    @Test func `a set clock counts at once, also by a slow exchange that proves it`() {
        var clock = ClockEstimate()
        clock.measure(100, sent: 0, received: 200)
        clock.measure(66_000_100, sent: 1_000_000, received: 1_000_200)
        #expect(clock.offset == 65_000_000)
        clock.measure(600_000_000, sent: 2_000_000, received: 10_000_000)
        #expect(clock.offset == 594_000_000)
    }

    @Test func `the error grows with time, so that slews are followed`() {
        var clock = ClockEstimate()
        clock.measure(100, sent: 0, received: 200)
        // 100 ppm for an hour.
        for second in Int64(1)...3_600 {
            let sent = second * 1_000_000
            clock.measure(sent + 2_000 + second * 100, sent: sent, received: sent + 4_000)
        }
        let error = abs((clock.offset ?? 0) - 360_000)
        #expect(error < 10_000)
    }
}
