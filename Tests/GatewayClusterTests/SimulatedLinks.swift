// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SeededRandom

@testable import GatewayCluster

/// Two gateways with clocks of their own, and a network between them that delays, loses and reorders datagrams.
///
/// The schedule is that of the program: each gateway looks every 100 ms and after each response.
struct SimulatedLinks {
    /// One gateway.
    struct Gateway {
        var link: SiblingLink
        var ledger = FakeLedger()
        /// Its monotonic clock less the time of the simulation, and its wall clock less the same, in microseconds.
        var steady: Int64
        var wall: Int64 = 1_800_000_000_000_000
        var runs = true
        /// Until when it does not run, as under SIGSTOP: what arrives waits.
        var stopsUntil: Int64 = 0
    }

    /// A datagram on its way.
    struct Flight {
        let at: Int64
        let order: Int
        let to: Int
        let datagram: SiblingDatagram
    }

    var gateways: [Gateway]
    /// Microseconds since the begin.
    private(set) var time: Int64 = 0
    /// Microseconds of the way to a gateway, at a time.
    var delay: (_ to: Int, _ time: Int64) -> Int64 = { _, _ in 200 }
    /// Datagrams of a hundred that are lost.
    var loss: UInt64 = 0
    /// Everything that was sent, with its receiver.
    private(set) var recorded: [Flight] = []
    private var flights: [Flight] = []
    private var random = RepeatableRandom(seed: 1)
    private var order = 0

    init(_ a: SiblingLink = SiblingLink(run: 11), _ b: SiblingLink = SiblingLink(run: 22)) {
        gateways = [Gateway(link: a, steady: 5_000_000), Gateway(link: b, steady: 900_000_000)]
    }

    func now(_ gateway: Int) -> SiblingLink.Now {
        SiblingLink.Now(
            microseconds: gateways[gateway].steady + time, wallMicroseconds: gateways[gateway].wall + time)
    }

    /// Lets time pass.
    mutating func pass(_ milliseconds: Int64) {
        let end = time + milliseconds * 1_000
        var round = (time / 100_000 + 1) * 100_000
        while true {
            let next = flights.min { ($0.at, $0.order) < ($1.at, $1.order) }
            if let next, next.at <= min(round, end) {
                flights.removeAll { $0.order == next.order }
                time = max(time, next.at)
                deliver(next.datagram, to: next.to)
            } else if round <= end {
                time = round
                round += 100_000
                for gateway in gateways.indices { sendDue(gateway) }
            } else {
                time = end
                return
            }
        }
    }

    /// Hands a datagram to a gateway, as its network or an attacker does.
    mutating func deliver(_ datagram: SiblingDatagram, to gateway: Int) {
        guard gateways[gateway].runs else { return }
        guard time >= gateways[gateway].stopsUntil else {
            order += 1
            return flights.append(
                Flight(at: gateways[gateway].stopsUntil, order: order, to: gateway, datagram: datagram))
        }
        let response = gateways[gateway].link.receive(datagram, at: now(gateway), into: gateways[gateway].ledger)
        if let response { send(response, to: 1 - gateway) }
        if datagram.kind == .response { sendDue(gateway) }
    }

    private mutating func sendDue(_ gateway: Int) {
        guard gateways[gateway].runs, time >= gateways[gateway].stopsUntil else { return }
        for datagram in gateways[gateway].link.due(at: now(gateway)) { send(datagram, to: 1 - gateway) }
    }

    private mutating func send(_ datagram: SiblingDatagram, to gateway: Int) {
        order += 1
        let flight = Flight(at: time + delay(gateway, time), order: order, to: gateway, datagram: datagram)
        recorded.append(flight)
        if random.next() % 100 >= loss { flights.append(flight) }
    }

    func standing(_ gateway: Int) -> SiblingStanding.State {
        let link = gateways[gateway].link
        let age = link.livedAt.map { now(gateway).milliseconds - $0 } ?? .max
        return age < SiblingLink.silence ? .reachable : .silent
    }
}
