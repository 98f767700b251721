// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import Testing

@testable import GatewayCluster

/// Requirements: a link carries thousands of updates a second over a long way, in order and once, and a lossy or dead one is
/// not flooded.
@Suite("The window between siblings")
struct SiblingWindowTests {
    /// A call has about five updates.
    @Test(arguments: [(1, 12_000), (40, 8_000), (75, 5_000)] as [(Int64, Int)])
    func `updates of a second pass in a second, whatever the way takes`(milliseconds: Int64, count: Int) {
        var links = SimulatedLinks()
        links.delay = { _, _ in milliseconds * 1_000 }
        links.pass(2_000)
        // The window grows in the first second.
        for round in 0..<30 {
            links.gateways[0].link.append((0..<UInt64(count / 10)).map { bye(UInt64(round * count / 10) + $0) })
            links.pass(100)
        }
        links.pass(400)
        #expect(links.gateways[1].ledger.taken.count >= count * 3 * 9 / 10)
        links.pass(3_000)
        #expect(links.gateways[1].ledger.taken.map(\.call.high) == (0..<UInt64(count * 3)).map { $0 })
    }

    @Test(arguments: [1, 5, 30] as [UInt64])
    func `lost and reordered datagrams leave order and number as they are`(loss: UInt64) {
        var links = SimulatedLinks()
        var step: Int64 = 0
        // Between 20 and 80 ms, so that datagrams overtake each other.
        links.delay = { _, _ in
            step = (step * 7 + 13) % 61
            return 20_000 + step * 1_000
        }
        links.pass(2_000)
        links.loss = loss
        for gateway in 0...1 { links.gateways[gateway].link.append((0..<3_000).map { bye($0) }) }
        links.pass(400_000)
        for gateway in 0...1 {
            #expect(links.gateways[gateway].ledger.taken.map(\.call.high) == Array(0..<3_000))
        }
        for gateway in links.gateways { gateway.ledger.store() }
        links.loss = 0
        links.pass(5_000)
        #expect(links.gateways.allSatisfy { $0.link.waiting == 0 })
    }

    @Test func `a restart of the receiver in the middle of a window loses nothing`() {
        var links = SimulatedLinks()
        links.delay = { _, _ in 40_000 }
        links.pass(2_000)
        links.loss = 10
        links.gateways[0].link.append((0..<2_000).map { bye($0) })
        links.pass(700)
        let first = links.gateways[1].ledger.taken.map(\.call.high)
        #expect(first.count < 2_000)
        (links.gateways[1].link, links.gateways[1].ledger) = (SiblingLink(run: 23), FakeLedger())
        links.pass(60_000)
        #expect(links.gateways[1].ledger.taken.map(\.call.high) == Array(0..<2_000))
    }

    @Test func `a sibling that is away gets one datagram every two seconds`() {
        var links = SimulatedLinks()
        links.pass(5_000)
        links.gateways[0].link.append((0..<5_000).map { bye($0) })
        links.gateways[1].runs = false
        links.pass(20_000)
        let before = links.recorded.count
        links.pass(60_000)
        #expect(links.recorded.count - before <= 60 + 30)
    }

    @Test func `updates that are not full wait for one response, and no longer`() {
        var links = SimulatedLinks()
        links.delay = { _, _ in 40_000 }
        links.pass(2_000)
        let before = links.recorded.count
        for number in 0..<100 {
            links.gateways[0].link.append([bye(UInt64(number))])
            links.pass(10)
        }
        links.pass(300)
        #expect(links.gateways[1].ledger.taken.count == 100)
        #expect(links.recorded.count - before < 60)
    }
}

/// Requirements: a version may meet a later one and an earlier one during a rolling upgrade.
@Suite("Siblings of other versions")
struct SiblingVersionTests {
    private static let keys = SiblingKeys([SiblingKeys.Key(first: 1, second: 2)])

    /// The datagram with a kind in the place of that of its first update, and a right seal.
    private func future(_ kind: UInt8, in datagram: SiblingDatagram) throws -> SiblingDatagram {
        var bytes = Array(datagram.bytes(Self.keys).dropLast(16))
        bytes[96 + 64] = kind
        let made = Self.keys.seal(bytes.span)
        let seal = try #require(made)
        for half in [seal.0, seal.1] {
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) }
        }
        return try #require(SiblingDatagram(bytes, Self.keys))
    }

    @Test(arguments: [9, 77, 255] as [UInt8])
    func `updates of a later version are left out, and the others count`(kind: UInt8) throws {
        var links = SimulatedLinks()
        links.pass(2_000)
        links.gateways[0].link.append([bye(1), bye(2)])
        let due = try #require(links.gateways[0].link.due(at: links.now(0)).first)
        let read = try future(kind, in: due)
        #expect(read.updates.map(\.call.high) == [2])
        links.deliver(read, to: 1)
        links.pass(1_000)
        #expect(links.gateways[1].ledger.taken.map(\.call.high) == [2])
        #expect(links.gateways[1].link.counts.unknown == 1)
        #expect(links.gateways[0].link.isIdle, "the sender goes on")
    }

    @Test func `a datagram with nothing but updates of a later version is acknowledged`() throws {
        var links = SimulatedLinks()
        links.pass(2_000)
        links.gateways[0].link.append([bye(1)])
        let due = try #require(links.gateways[0].link.due(at: links.now(0)).first)
        links.deliver(try future(9, in: due), to: 1)
        links.pass(1_000)
        #expect(links.gateways[0].link.isIdle)
        links.gateways[1].ledger.store()
        links.gateways[0].link.append([bye(2)])
        links.pass(1_000)
        #expect(links.gateways[1].ledger.taken.map(\.call.high) == [2])
    }

    /// A report of a BYE as version 0.2 wrote it: its form, with a seal by another program.
    private static let recorded = """
        48524c5301010001000000000000000500000000000000060000000000000007000000000000000800000000000000090006651728988000\
        010000000000000001000000000000000100000000000000010000000000000040420f000000000000000000000000000000000000000000\
        00000000000000000601000000000000bdfc80bbc67ae0b756b719c0c19a5cd7
        """

    @Test func `the form of version 0.2 is read and written`() throws {
        let digits = Array(Self.recorded)
        let bytes = try stride(from: 0, to: digits.count, by: 2).map { place in
            try #require(UInt8(String(digits[place...place + 1]), radix: 16))
        }
        let read = try #require(SiblingDatagram(bytes, Self.keys))
        #expect(read.form == .unnumbered && read.kind == .report && read.fromRun == 5 && read.toRun == 6)
        #expect(read.sequence == 7 && read.received == 8 && read.stored == 9 && read.sentAt == 1_800_000_000_000_000)
        #expect(read.updates == [bye(1).update])
        #expect(read.bytes(Self.keys) == bytes)
    }

    @Test func `a sibling of version 0.2 exchanges updates with this one, and after its upgrade by numbers`() {
        var link = SiblingLink(run: 11)
        let ledger = FakeLedger()
        var old = SiblingOfVersion02(run: 22)
        var now = SiblingLink.Now(microseconds: 0, wallMicroseconds: 1_800_000_000_000_000)
        func pass(_ rounds: Int) {
            for _ in 0..<rounds {
                now.microseconds += 100_000
                now.wallMicroseconds += 100_000
                for datagram in link.due(at: now) {
                    for response in old.receive(datagram, now) { _ = link.receive(response, at: now, into: ledger) }
                }
                for report in old.due(now) {
                    if let response = link.receive(report, at: now, into: ledger) { _ = old.receive(response, now) }
                }
            }
        }
        pass(30)
        link.append((0..<50).map { bye($0) })
        old.waiting = (100..<120).map { bye($0).update }
        pass(100)
        #expect(old.taken.map(\.call.high) == Array(0..<50))
        #expect(ledger.taken.map(\.call.high) == Array(100..<120))
        #expect(link.livedAt.map { now.milliseconds - $0 < 2_000 } == true)
        #expect(link.isIdle)

        var links = SimulatedLinks(link, SiblingLink(run: 23))
        links.gateways[0].steady = now.microseconds
        links.pass(2_000)
        links.gateways[1].link.append([bye(200)])
        links.pass(2_000)
        #expect(links.gateways[0].ledger.taken.map(\.call.high) == [200])
        #expect(links.standing(0) == .reachable)
        #expect(Set(links.gateways[1].ledger.taken.map(\.call.high)) == Set(0..<50), "nothing was stored before")

        // Recordings of the old version count no more.
        links.gateways[1].runs = false
        for _ in 0..<20 {
            for report in old.due(links.now(0)) { links.deliver(report, to: 0) }
            links.pass(500)
        }
        #expect(links.standing(0) == .silent)
    }
}

/// The exchange as version 0.2 has it: one datagram on its way, and no numbers.
private struct SiblingOfVersion02 {
    let run: UInt64
    var waiting: [CallUpdate] = []
    private(set) var taken: [CallUpdate] = []
    private var peer: UInt64 = 0
    private var (sequence, highest): (UInt64, UInt64) = (0, 0)
    private var inFlight: SiblingDatagram?
    private var rounds = 0

    init(run: UInt64) { self.run = run }

    private func datagram(_ kind: SiblingDatagram.Kind, _ now: SiblingLink.Now) -> SiblingDatagram {
        var datagram = SiblingDatagram(kind: kind, fromRun: run, toRun: peer, sentAt: now.wallMicroseconds)
        datagram.form = .unnumbered
        return datagram
    }

    mutating func due(_ now: SiblingLink.Now) -> [SiblingDatagram] {
        rounds += 1
        if peer != 0, inFlight == nil, !waiting.isEmpty {
            sequence += 1
            var report = datagram(.report, now)
            (report.sequence, report.updates) = (sequence, Array(waiting.prefix(17)))
            waiting.removeFirst(report.updates.count)
            inFlight = report
        }
        if let inFlight { return rounds % 3 == 0 ? [inFlight] : [] }
        return rounds % 10 == 0 ? [datagram(.report, now)] : []
    }

    mutating func receive(_ received: SiblingDatagram, _ now: SiblingLink.Now) -> [SiblingDatagram] {
        // Another version is a datagram that it does not read.
        guard received.form == .unnumbered else { return [] }
        if received.toRun == run {
            peer = received.fromRun
            if let sent = inFlight, sent.sequence <= received.received { inFlight = nil }
            if received.kind == .report, !received.updates.isEmpty, received.sequence > highest {
                highest = received.sequence
                taken += received.updates
            }
        }
        guard received.kind == .report else { return [] }
        var response = datagram(.response, now)
        response.toRun = received.fromRun
        if received.fromRun == peer { response.received = highest }
        return [response]
    }
}
