// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Testing

@testable import GatewayCluster

/// Requirements: only a gateway that runs counts as alive, and only its present clock moves times, whatever an attacker has
/// recorded and sends from its address.
@Suite("Recorded datagrams of a sibling")
struct SiblingReplayTests {
    /// Sends recorded datagrams three times a second, for some seconds.
    private func replay(
        _ recorded: [SimulatedLinks.Flight], to gateway: Int, seconds: Int, _ links: inout SimulatedLinks
    ) {
        for round in 0..<(seconds * 3) {
            if !recorded.isEmpty { links.deliver(recorded[round % recorded.count].datagram, to: gateway) }
            links.pass(333)
        }
    }

    @Test(arguments: ["all", "reports", "responses", "the last seconds", "an earlier run of its own"])
    func `a dead sibling stays silent`(what: String) {
        var links = SimulatedLinks()
        if what == "an earlier run of its own" {
            links.pass(5_000)
            links.gateways[1].link = SiblingLink(run: 23)
        }
        links.pass(20_000)
        links.gateways[1].link.append((0..<40).map { bye($0) })
        links.pass(5_000)
        #expect(links.standing(0) == .reachable)
        links.gateways[1].runs = false
        let died = links.time
        let recorded = links.recorded.filter { flight in
            guard flight.to == 0 else { return false }
            return switch what {
            case "reports": flight.datagram.kind == .report
            case "responses": flight.datagram.kind == .response
            case "the last seconds": flight.at > died - 4_000_000
            case "an earlier run of its own": flight.datagram.fromRun == 22
            default: true
            }
        }
        #expect(recorded.count > 4)
        let offset = links.gateways[0].link.clockOffset
        replay(recorded, to: 0, seconds: 6, &links)
        #expect(links.standing(0) == .silent)
        replay(recorded, to: 0, seconds: 60, &links)
        #expect(links.standing(0) == .silent)
        #expect(links.gateways[0].link.clockOffset == offset)
        #expect(links.gateways[0].ledger.taken.count == 40)
    }

    @Test func `old datagrams beside new ones move neither the clock nor a time`() throws {
        var links = SimulatedLinks()
        links.gateways[1].wall += 30_000_000
        links.pass(10_000)
        let recorded = links.recorded.filter { $0.to == 0 }
        links.pass(66_000)
        for flight in recorded { links.deliver(flight.datagram, to: 0) }
        let offset = try #require(links.gateways[0].link.clockOffset)
        #expect(abs(offset - 30_000_000) < 1_000)
        links.gateways[1].link.append([bye(1, at: links.now(1).wallMicroseconds)])
        let seen = links.now(0).wallMicroseconds
        for flight in recorded { links.deliver(flight.datagram, to: 0) }
        links.pass(1_000)
        let time = try #require(links.gateways[0].ledger.taken.first?.wallMicroseconds)
        #expect(abs(time - seen) < 1_000)
    }

    @Test func `a recording cannot take the place of the present process`() {
        var links = SimulatedLinks()
        // More processes than any list of old ones holds.
        for run in 0..<80 {
            links.gateways[1].link = SiblingLink(run: 1_000 + UInt64(run))
            links.pass(1_500)
        }
        for flight in links.recorded where flight.to == 0 && flight.datagram.fromRun < 1_079 {
            links.deliver(flight.datagram, to: 0)
        }
        #expect(links.standing(0) == .reachable)
        links.gateways[0].link.append([bye(1)])
        links.gateways[1].link.append([bye(2)])
        links.pass(2_000)
        #expect(links.gateways[0].ledger.taken.map(\.call.high) == [2])
        #expect(links.gateways[1].ledger.taken.map(\.call.high) == [1])
    }

    @Test func `the response of another gateway is no life of this one`() throws {
        // All gateways have one secret: an attacker asks a third one, with a recorded report of the first.
        var links = SimulatedLinks(SiblingLink(run: 11, to: 7), SiblingLink(run: 22, to: 9))
        links.pass(3_000)
        links.gateways[1].runs = false
        links.pass(2_000)
        let report = try #require(links.recorded.last { $0.to == 1 && $0.datagram.kind == .report }).datagram
        #expect(report.isMeant(for: 7))
        #expect(!report.isMeant(for: 8), "the third gateway does not respond")
        // `herald doctor` is responded to without a run.
        links.deliver(report.response(by: 0, at: links.now(1)), to: 0)
        links.pass(5_000)
        #expect(links.standing(0) == .silent)
    }

    @Test func `a response to a report of long ago is none`() {
        var links = SimulatedLinks()
        links.pass(3_000)
        // The network holds everything back, and delivers it when the sibling is dead.
        links.delay = { to, _ in to == 0 ? 9_000_000 : 200 }
        links.pass(8_000)
        links.gateways[1].runs = false
        links.pass(1_000)
        #expect(links.standing(0) == .silent)
        links.pass(20_000)
        #expect(links.standing(0) == .silent)
    }

    @Test(arguments: [-66_000_000, -600_000, 900_000, 66_000_000, 86_400_000_000] as [Int64])
    func `a step of either clock shows at the next exchange`(step: Int64) throws {
        var links = SimulatedLinks()
        links.pass(20_000)
        links.gateways[1].wall += step
        links.pass(1_500)
        let offset = try #require(links.gateways[0].link.clockOffset)
        #expect(abs(offset - step) < 1_000)
        links.gateways[0].wall += step
        links.pass(1_500)
        let none = try #require(links.gateways[0].link.clockOffset)
        #expect(abs(none) < 1_000)
    }

    @Test(arguments: [0, 1])
    func `an exchange that took seconds moves no time`(slow: Int) throws {
        var links = SimulatedLinks()
        links.pass(10_000)
        // One way takes 3 s for a while: of the reports, or of the responses.
        let begin = links.time
        links.delay = { to, time in to == slow && time < begin + 10_000_000 ? 3_000_000 : 200 }
        links.pass(2_000)
        links.gateways[1].link.append([bye(1, at: links.now(1).wallMicroseconds)])
        let seen = links.now(0).wallMicroseconds
        links.pass(8_000)
        let offset = try #require(links.gateways[0].link.clockOffset)
        #expect(abs(offset) < 5_000)
        links.pass(10_000)
        let time = try #require(links.gateways[0].ledger.taken.first?.wallMicroseconds)
        #expect(abs(time - seen) < 5_000)
    }

    @Test func `a gateway that was stopped knows that what it reads is old`() throws {
        var links = SimulatedLinks()
        links.pass(10_000)
        links.gateways[0].stopsUntil = links.time + 4_000_000
        links.gateways[1].link.append([bye(1, at: links.now(1).wallMicroseconds)])
        let seen = links.now(0).wallMicroseconds
        links.pass(6_000)
        let time = try #require(links.gateways[0].ledger.taken.first?.wallMicroseconds)
        #expect(abs(time - seen) < 5_000)
    }

    @Test func `a machine that slept has another monotonic clock`() throws {
        var links = SimulatedLinks()
        links.pass(10_000)
        // CLOCK_MONOTONIC stops while a machine sleeps.
        links.gateways[1].steady -= 3_600_000_000
        links.pass(3_000)
        links.gateways[1].link.append([bye(1, at: links.now(1).wallMicroseconds)])
        let seen = links.now(0).wallMicroseconds
        links.pass(1_000)
        let time = try #require(links.gateways[0].ledger.taken.first?.wallMicroseconds)
        #expect(abs(time - seen) < 5_000)
    }
}
