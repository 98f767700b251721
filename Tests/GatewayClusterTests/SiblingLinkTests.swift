// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayCluster
import GatewayStore
import Synchronization
import Testing

/// A ledger that keeps what it takes and stores when the test says so.
final class FakeLedger: SiblingLedger {
    private let state: Mutex<(taken: [CallUpdate], batch: UInt64, stored: UInt64, most: Int)>

    init(most: Int = .max) { state = Mutex(([], 0, 0, most)) }

    /// The updates that it takes in all.
    var most: Int {
        get { state.withLock { $0.most } }
        set { state.withLock { $0.most = newValue } }
    }
    var taken: [CallUpdate] { state.withLock { $0.taken } }
    var storedBatch: UInt64 { state.withLock { $0.stored } }
    func store() { state.withLock { $0.stored = $0.batch } }

    func take(_ updates: [ForeignUpdate]) -> UInt64? {
        state.withLock { state in
            guard state.taken.count + updates.count <= state.most else { return nil }
            state.taken += updates.map(\.update)
            state.batch += 1
            return state.batch
        }
    }
}

func bye(_ number: UInt64, at time: Int64 = 1_000_000) -> ReportedUpdate {
    ReportedUpdate(
        update: CallUpdate(
            kind: .bye, direction: .inbound, call: CallIdentifier(high: number, low: number), wallMicroseconds: time),
        isOwn: false)
}

@Suite("The exchange with one sibling")
struct SiblingLinkTests {
    private static let keys = SiblingKeys([SiblingKeys.Key(first: 1, second: 2)])

    /// Two gateways, and the network between them.
    private struct Pair {
        var a = SiblingLink(run: 11)
        var b = SiblingLink(run: 22)
        let ledgerA = FakeLedger()
        var ledgerB = FakeLedger()
        var now = SiblingLink.Now(microseconds: 0, wallMicroseconds: 1_800_000_000_000_000)
        /// The clock of B less that of A.
        var offset: Int64 = 0
        /// Whether a datagram arrives.
        var arrives: (SiblingDatagram) -> Bool = { _ in true }
        private(set) var log: [SiblingDatagram] = []

        private var nowB: SiblingLink.Now {
            SiblingLink.Now(microseconds: now.microseconds + 77_000, wallMicroseconds: now.wallMicroseconds + offset)
        }

        /// Lets time pass in steps of 100 ms, with everything that is sent meanwhile.
        mutating func pass(_ milliseconds: Int64) {
            for _ in 0..<(milliseconds / 100) {
                now.microseconds += 100_000
                now.wallMicroseconds += 100_000
                while exchange() {}
            }
        }

        /// Sends what is due, once; true if updates arrived.
        private mutating func exchange() -> Bool {
            var hadUpdates = false
            for due in a.due(at: now) {
                log.append(due)
                guard arrives(due), let response = b.receive(due, at: nowB, into: ledgerB), arrives(response) else {
                    continue
                }
                hadUpdates = hadUpdates || !due.updates.isEmpty
                _ = a.receive(response, at: now, into: ledgerA)
            }
            for due in b.due(at: nowB) {
                guard arrives(due), let response = a.receive(due, at: now, into: ledgerA), arrives(response) else {
                    continue
                }
                _ = b.receive(response, at: nowB, into: ledgerB)
            }
            return hadUpdates
        }
    }

    @Test func `updates arrive once and in order`() {
        var pair = Pair()
        pair.pass(1_000)
        pair.a.append((0..<100).map { bye($0) })
        pair.pass(1_000)
        #expect(pair.ledgerB.taken.map(\.call.high) == Array(0..<100))
        #expect(pair.a.waiting == 100, "they are kept until they are stored")
        pair.ledgerB.store()
        pair.pass(2_000)
        #expect(pair.a.waiting == 0 && pair.a.isIdle)
    }

    @Test(arguments: [3, 5, 7])
    func `a lost datagram or response is repeated and changes nothing twice`(every: Int) {
        var pair = Pair()
        let count = Atomic<Int>(0)
        pair.pass(2_000)
        pair.arrives = { _ in count.add(1, ordering: .relaxed).newValue % every != 0 }
        pair.a.append((0..<60).map { bye($0) })
        pair.pass(60_000)
        #expect(pair.ledgerB.taken.map(\.call.high) == Array(0..<60))
    }

    @Test func `what a sibling did not store before its restart is sent again`() {
        var pair = Pair()
        pair.pass(1_000)
        pair.a.append((0..<40).map { bye($0) })
        pair.pass(1_000)
        #expect(pair.ledgerB.taken.count == 40)
        (pair.b, pair.ledgerB) = (SiblingLink(run: 23), FakeLedger())
        pair.pass(3_000)
        #expect(pair.ledgerB.taken.map(\.call.high) == Array(0..<40))
    }

    @Test func `a sibling that was away gets everything when it is back`() {
        var pair = Pair()
        pair.pass(1_000)
        pair.arrives = { _ in false }
        pair.a.append((0..<500).map { bye($0) })
        pair.pass(600_000)
        pair.arrives = { _ in true }
        pair.pass(5_000)
        #expect(pair.ledgerB.taken.map(\.call.high) == Array(0..<500))
    }

    @Test func `a sibling that is away for good costs bounded memory, and drops are counted`() {
        var link = SiblingLink(run: 1)
        for _ in 0..<200 { link.append((0..<1_000).map { bye($0) }) }
        #expect(link.waiting == 65_536)
        #expect(link.counts.dropped == 200_000 - 65_536)
        let own = (0..<20_000).map { ReportedUpdate(update: bye($0).update, isOwn: true) }
        link.append(own)
        #expect(link.counts.dropped == 200_000 - 65_536)
        #expect(link.counts.droppedOwn == 20_000 - 16_384)
    }

    @Test func `a full ledger makes the sender wait`() {
        var pair = Pair()
        pair.ledgerB = FakeLedger(most: 17)
        pair.pass(1_000)
        pair.a.append((0..<34).map { bye($0) })
        pair.pass(5_000)
        #expect(pair.ledgerB.taken.count == SiblingDatagram.mostUpdates)
        #expect(pair.a.waiting == 34)
        pair.ledgerB.most = .max
        pair.pass(3_000)
        #expect(pair.ledgerB.taken.map(\.call.high) == Array(0..<34))
    }

    @Test(arguments: [60, -60, 0, 86_400])
    func `times are of the receiver's clock, whatever the sender's`(seconds: Int64) {
        var pair = Pair()
        pair.offset = seconds * 1_000_000
        pair.pass(1_000)
        // Five seconds ago by the clock of A.
        pair.a.append([bye(1, at: pair.now.wallMicroseconds - 5_000_000)])
        let before = pair.now.wallMicroseconds + pair.offset
        pair.pass(500)
        let time = pair.ledgerB.taken.first.map { $0.wallMicroseconds - before }
        #expect(time.map { (-5_000_000 ... -4_000_000).contains($0) } == true, "\(String(describing: time))")
    }

    @Test func `a repeated datagram of earlier changes nothing, also after a restart of the sender`() throws {
        var pair = Pair()
        pair.pass(1_000)
        pair.a.append([bye(1)])
        pair.pass(1_000)
        let old = try #require(pair.log.last { !$0.updates.isEmpty })
        _ = pair.b.receive(old, at: pair.now, into: pair.ledgerB)
        #expect(pair.ledgerB.taken.count == 1)
        pair.a = SiblingLink(run: 12)
        pair.pass(3_000)
        _ = pair.b.receive(old, at: pair.now, into: pair.ledgerB)
        #expect(pair.ledgerB.taken.count == 1)
        pair.a.append([bye(2)])
        pair.pass(1_000)
        #expect(pair.ledgerB.taken.map(\.call.high) == [1, 2], "the present process is still known")
        var other = SiblingLink(run: 24)
        _ = other.receive(old, at: pair.now, into: pair.ledgerB)
        #expect(pair.ledgerB.taken.count == 2, "it names the run before")
    }

    @Test func `a reflected datagram changes nothing`() throws {
        var pair = Pair()
        pair.pass(1_000)
        pair.a.append([bye(1)])
        pair.pass(300)
        let own = try #require(pair.log.last { !$0.updates.isEmpty })
        #expect(pair.a.receive(own, at: pair.now, into: pair.ledgerA) == nil)
        #expect(pair.ledgerA.taken.isEmpty)
    }
}

@Suite("A datagram between siblings")
struct SiblingDatagramTests {
    private static let old = SiblingKeys.Key(first: 1, second: 2)
    private static let new = SiblingKeys.Key(first: 3, second: 4)

    private static func datagram(_ count: Int) -> SiblingDatagram {
        var datagram = SiblingDatagram(kind: .report, fromRun: 5, toRun: 6, sentAt: 1_800_000_000_000_000)
        (datagram.sequence, datagram.received, datagram.stored) = (7, 8, 9)
        (datagram.number, datagram.receiver, datagram.first) = (10, 11, 12)
        (datagram.ahead, datagram.steadyAt) = (13, 14)
        datagram.updates = (0..<count).map { bye(UInt64($0)).update }
        return datagram
    }

    @Test(arguments: [0, 1, SiblingDatagram.mostUpdates])
    func `it is read as it was written, and fits into every network`(count: Int) {
        let datagram = Self.datagram(count)
        let bytes = datagram.bytes(SiblingKeys([Self.old]))
        #expect(bytes.count <= 1_296)
        #expect(SiblingDatagram(bytes, SiblingKeys([Self.old])) == datagram)
    }

    @Test func `numbers and texts do not travel`() throws {
        var datagram = Self.datagram(1)
        datagram.updates[0].caller = 61_491_570_156
        datagram.updates[0].destination = 61_255_501_001
        let read = try #require(
            SiblingDatagram(datagram.bytes(SiblingKeys([Self.old])), SiblingKeys([Self.old])))
        #expect(read.updates[0].caller == 0 && read.updates[0].destination == 0)
    }

    @Test func `every key verifies and the first one signs`() {
        let bytes = Self.datagram(2).bytes(SiblingKeys([Self.new, Self.old]))
        #expect(SiblingDatagram(bytes, SiblingKeys([Self.old, Self.new])) != nil)
        #expect(SiblingDatagram(bytes, SiblingKeys([Self.old])) == nil)
        #expect(SiblingDatagram(bytes, SiblingKeys([])) == nil)
    }

    @Test func `no changed, cut or longer datagram is read`() {
        let keys = SiblingKeys([Self.old])
        let bytes = Self.datagram(3).bytes(keys)
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 0x10
            #expect(SiblingDatagram(changed, keys) == nil)
            #expect(SiblingDatagram(Array(bytes[..<place]), keys) == nil)
        }
        #expect(SiblingDatagram(bytes + [0], keys) == nil)
    }
}
