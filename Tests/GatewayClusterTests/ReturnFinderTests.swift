// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import GatewayCluster
import GatewayStore
import PostgreSQL
import Testing

/// Requirements: the newest original of a pair over all gateways is returned, once, whichever gateway has which call.
@Suite("Call backs through another gateway")
struct ReturnFinderTests {
    private let shared: SharedDatabase

    init() throws { shared = try SharedDatabase() }

    private func gateways(clock: Int64 = 0) throws -> (a: LocalGateway, b: LocalGateway) {
        let pair = (a: try LocalGateway("a", in: shared), b: try LocalGateway("b", in: shared, clock: clock))
        try pair.a.pass()
        try pair.b.pass()
        return pair
    }

    /// The subscriber calls back and the phone rings.
    private func callBack(
        _ number: UInt64, at gateway: LocalGateway, ago: Double, _ change: (inout PlayedCall) -> Void = { _ in }
    ) {
        var back = PlayedCall.outbound(number)
        change(&back)
        back.invite(gateway, ago: ago)
        back.send(.provisional, at: gateway, ago: ago - 1, 180)
    }

    private func returns(_ gateways: LocalGateway...) throws -> [String] {
        try gateways.flatMap { gateway in
            try gateway.files.ledger.read {
                try String.fetchAll($0, sql: "SELECT key FROM event WHERE key LIKE 'returned:%' ORDER BY id")
            }
        }
    }

    /// The number of calls at a gateway that may still be returned.
    private func returnable(_ gateway: LocalGateway) throws -> Int? { try gateway.count("call WHERE returnable = 1") }

    @Test(arguments: [Int64(-60), 0, 60])
    func `a call that was missed at one gateway is returned through another`(clock: Int64) throws {
        let (a, b) = try gateways(clock: clock)
        let missed = PlayedCall(1)
        missed.missed(a, ago: 700)
        try a.pass()
        try a.files.ledger.write {
            try $0.execute(
                sql: "UPDATE event SET state = 1, event_id = 'evt-9' WHERE key = ?", arguments: ["missed:\(missed.id)"])
        }
        try a.pass()
        callBack(2, at: b, ago: 100)
        try b.pass()
        try a.pass()

        let event = try #require(try b.calls().first?.events.last)
        #expect(event.key == "returned:\(missed.id)")
        #expect(event.number == "+4930123456")
        let meta = event.meta
        for part in [
            "\"original_event_id\":\"evt-9\"",
            "\"branding_profile_id\":\"b-7\"", "\"return_call_detected\":true",
            "\"caller_number_e164\":\"+61291234567\"", "\"destination_number_e164\":\"+4930123456\"",
        ] { #expect(meta.contains(part), "\(part) in \(meta)") }
        let latency = try #require(meta.firstMatch(of: /"return_call_latency_seconds":(\d+)/)?.1)
        #expect((598...602).contains(Int(latency) ?? 0))
        #expect(try returns(a, b).count == 1, "one event for both gateways")
        let returnedAt = try #require(try a.calls().first?.returnedAt)
        #expect(abs(returnedAt - (a.clock.start - 100_000_000)) < 5_000_000, "by the clock of a")
        #expect(try returnable(a) == 0)
    }

    @Test func `the list of all gateways and the view show the return at once`() throws {
        let (a, b) = try gateways()
        PlayedCall(1).missed(a, ago: 700)
        try a.pass()
        callBack(2, at: b, ago: 100)
        // The gateway of the original does not look.
        try b.pass()
        try b.pass()
        let original = try #require(try shared.calls { $0.outcome = "MISSED" }.first)
        let all = ["displayed", "missed", "returned"]
        #expect(original.returnedAt != nil)
        #expect(original.events.map(\.outcome) == all, "its events are of two gateways")
        let view = try shared.look.execute("SELECT count(*), count(returned_at) FROM ledger.calls").first
        #expect(try [view?.integer(0), view?.integer(1)] == [2, 1], "two calls in the view, one of them returned")
        try a.pass()
        let later = try shared.calls { $0.outcome = "MISSED" }.first
        #expect(later?.events.map(\.outcome) == all, "no event is listed twice once a has looked")
    }

    @Test(arguments: [true, false])
    func `the newest original of all gateways counts, and settles the older ones`(isNewestElsewhere: Bool) throws {
        let (a, b) = try gateways()
        PlayedCall(1).missed(isNewestElsewhere ? b : a, ago: 900)
        PlayedCall(2).missed(isNewestElsewhere ? a : b, ago: 700)
        try a.pass()
        try b.pass()
        callBack(3, at: b, ago: 500)
        try b.pass()
        callBack(4, at: a, ago: 300)
        for _ in 0..<2 {
            try a.pass()
            try b.pass()
        }
        #expect(try returns(a, b) == ["returned:\(PlayedCall(2).id)"], "the second call back returns nothing")
        #expect(try [returnable(a), returnable(b)] == [0, 0])
        let returned = try (a.calls() + b.calls()).filter { $0.returnedAt != nil }
        #expect(returned.map(\.callID) == ["\(PlayedCall(2).id)"], "the older original is settled without a return")
    }

    @Test func `original and call back at one gateway are joined too`() throws {
        let (a, _) = try gateways()
        PlayedCall(1).missed(a, ago: 700)
        callBack(2, at: a, ago: 100)
        try a.pass()
        #expect(try returns(a) == ["returned:\(PlayedCall(1).id)"])
        #expect(try a.calls().map { $0.events.last?.outcome } == ["returned", "returned"])
    }

    @Test func `an original that arrives after its call back is returned`() throws {
        let (a, b) = try gateways()
        callBack(2, at: b, ago: 100)
        try b.pass()
        PlayedCall(1).missed(a, ago: 700)
        try a.pass()
        try b.pass()
        #expect(try returns(b) == ["returned:\(PlayedCall(1).id)"])
        try a.pass()
        #expect(try a.calls().first?.returnedAt != nil)
    }

    @Test func `an original that arrives after an older one was returned is settled by the same call back`() throws {
        let (a, b) = try gateways()
        PlayedCall(1).missed(b, ago: 900)
        callBack(3, at: b, ago: 500)
        try b.pass()
        PlayedCall(2).missed(a, ago: 700)
        try a.pass()
        callBack(4, at: b, ago: 300)
        try b.pass()
        #expect(try returns(b) == ["returned:\(PlayedCall(1).id)"], "one call back is one return")
        #expect(try returnable(a) == 0)
    }

    @Test func `a call back that arrives late returns what was there at its time`() throws {
        let (a, b) = try gateways()
        PlayedCall(1).missed(a, ago: 900)
        try a.pass()
        // PostgreSQL is away for b.
        callBack(2, at: b, ago: 800)
        try b.recorder.drain()
        PlayedCall(3).missed(a, ago: 700)
        callBack(4, at: a, ago: 500)
        try a.pass()
        #expect(try returns(a) == ["returned:\(PlayedCall(3).id)"])
        #expect(try returns(b).isEmpty, "nothing is joined at b meanwhile")
        try b.pass()
        #expect(try returns(b) == ["returned:\(PlayedCall(1).id)"], "what had ended before the call back")
        try a.pass()
        let returned = try a.calls().filter { $0.direction == "inbound" && $0.returnedAt != nil }
        #expect(returned.map(\.callID) == [PlayedCall(1), PlayedCall(3)].map { "\($0.id)" })
    }

    @Test(arguments: [
        "before the original", "another subscriber", "another number", "another customer", "after the window",
    ])
    func `no other call is a return`(what: String) throws {
        let (a, b) = try gateways()
        PlayedCall(1).missed(a, ago: what == "after the window" ? 260_000 : 700)
        try a.pass()
        callBack(2, at: b, ago: what == "before the original" ? 720 : 100) { back in
            if what == "another subscriber" { back.caller += 1 }
            if what == "another number" { back.destination += 1 }
            if what == "another customer" { back.customer = 7 }
        }
        try b.pass()
        try a.pass()
        try b.pass()
        #expect(try returns(a, b).isEmpty)
    }

    @Test func `each customer has returns of its own`() throws {
        let customers: (inout OutcomeRecorder.Settings) -> Void = { $0.customers = [7: "north", 8: "south"] }
        let (a, b) = (try LocalGateway("a", in: shared, customers), try LocalGateway("b", in: shared, customers))
        try a.pass()
        try b.pass()
        for (number, customer) in [(1, 7), (2, 8)] as [(UInt64, UInt32)] {
            var call = PlayedCall(number)
            call.customer = customer
            call.missed(a, ago: 700 - Double(number))
        }
        try a.pass()
        callBack(3, at: b, ago: 100) { $0.customer = 7 }
        try b.pass()
        #expect(try returns(b) == ["returned:\(PlayedCall(1).id)"])
        #expect(try b.calls().first?.events.last?.customer == "north")
    }

    @Test func `a call back under two names returns calls under one of them`() throws {
        let (a, b) = try gateways()
        PlayedCall(1).missed(a, ago: 700)
        var byName = PlayedCall(2)
        byName.destination = 0
        byName.subscriber = "desk"
        byName.missed(a, ago: 600)
        try a.pass()
        callBack(3, at: b, ago: 300) { $0.subscriber = "desk" }
        try b.pass()
        #expect(try returns(b) == ["returned:\(PlayedCall(1).id)"])
        callBack(4, at: b, ago: 200) { $0.subscriber = "desk" }
        try b.pass()
        #expect(try returns(b).last == "returned:\(byName.id)")
    }

    @Test func `a gateway that was killed before it marked the return mints no second event`() throws {
        let (a, b) = try gateways()
        PlayedCall(1).missed(a, ago: 700)
        try a.pass()
        callBack(2, at: b, ago: 100)
        try b.pass()
        try shared.look.script("UPDATE ledger.returned SET is_reported = false, is_noted = false")
        try b.restart()
        try b.pass()
        try a.pass()
        #expect(try returns(a, b).count == 1)
        #expect(try shared.integer("SELECT count(*) FROM ledger.returned WHERE NOT is_reported OR NOT is_noted") == 0)
    }

    @Test func `a gateway that was killed between shipping and looking looks after its start`() throws {
        let (a, b) = try gateways()
        PlayedCall(1).missed(a, ago: 700)
        try a.pass()
        callBack(2, at: b, ago: 100)
        try b.recorder.drain()
        _ = try b.sharing.shipper.ship()
        try b.restart()
        try b.pass()
        #expect(try returns(b).count == 1)
    }

    @Test func `originals of before the shared ledger are returned`() throws {
        let a = try LocalGateway("a", in: shared) { $0.isShared = false }
        PlayedCall(1).missed(a, ago: 700)
        try a.recorder.drain()
        let b = try LocalGateway("b", in: shared)
        try a.restart()
        try a.pass()
        callBack(2, at: b, ago: 100)
        try b.pass()
        #expect(try returns(b) == ["returned:\(PlayedCall(1).id)"])
    }

    @Test func `gateways that look at the same moment return each call once`() async throws {
        let (a, b) = try gateways()
        let pairs = UInt64(60)
        for number in 0..<pairs {
            var (missed, back) = (PlayedCall(number), PlayedCall.outbound(1_000 + number))
            missed.caller += number
            back.destination += number
            missed.missed(number % 2 == 0 ? a : b, ago: 700)
            // Two call backs to each, through both gateways.
            for gateway in [a, b] {
                back.id = CallIdentifier(high: gateway === a ? 1 : 2, low: number)
                back.invite(gateway, ago: 100)
                back.send(.provisional, at: gateway, ago: 99, 180)
            }
            if number % 8 == 7 {
                try a.recorder.drain()
                try b.recorder.drain()
            }
        }
        try a.recorder.drain()
        try b.recorder.drain()
        let address = shared.address
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, files, recorder, clock) in [a, b].map({ ($0.name, $0.files, $0.recorder, $0.clock) }) {
                group.addTask {
                    let sharing = SharingParts(name, address, files, recorder, clock)
                    for _ in 0..<5 { try sharing.round() }
                }
            }
            try await group.waitForAll()
        }
        try a.pass()
        try b.pass()
        let keys = try returns(a, b)
        #expect(keys.count == Int(pairs))
        #expect(Set(keys).count == Int(pairs))
    }

    @Test func `facts expire after the window, settled originals with the calls`() throws {
        let (a, b) = try gateways()
        PlayedCall(1).missed(a, ago: 700)
        try a.pass()
        callBack(2, at: b, ago: 100)
        try b.pass()
        try shared.look.script("UPDATE ledger.return_candidate SET at = at - 400000000000")
        try shared.look.script("UPDATE ledger.returned SET at = at - 400000000000")
        try a.sharing.shipper.prune(before: a.clock.now / 1_000_000 - 90 * 86_400, returnsAfter: 259_200)
        #expect(try shared.integer("SELECT count(*) FROM ledger.return_candidate") == 0)
        #expect(try shared.integer("SELECT count(*) FROM ledger.returned") == 1)
        try shared.look.script("UPDATE ledger.returned SET at = at - 8000000000000")
        try a.sharing.shipper.prune(before: a.clock.now / 1_000_000 - 90 * 86_400, returnsAfter: 259_200)
        #expect(try shared.integer("SELECT count(*) FROM ledger.returned") == 0)
    }
}
