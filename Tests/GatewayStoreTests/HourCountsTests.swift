// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import SeededRandom
import Testing

@testable import GatewayStore

/// Requirements: a count of the first page is the number of calls that its link lists, whatever happened meanwhile.
///
/// Users of other programs complain of lists behind a count that lack what was counted (pi-hole/pi-hole issue 3504), and of
/// answered shares that contain voicemail.
@Suite("Ledger: counts by hour", .timeLimit(.minutes(8)))
struct HourCountsTests {
    private let ledger: LedgerFixture
    /// The hour of the fixture's clock at its start.
    private static let hour = LedgerFixture.Clock.start / 3_600_000_000

    init() throws { ledger = try LedgerFixture(capacity: 4_096) }

    /// The play of one call, and the sums it adds.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sums: CallSums
        let play: @Sendable (ScriptedCall) -> Void

        init(_ what: String, _ sums: CallSums, _ play: @escaping @Sendable (ScriptedCall) -> Void) {
            (testDescription, self.sums, self.play) = (what, sums, play)
        }
    }

    private static let stories = [
        Story(
            "a person picks up after the phone rang",
            .init(calls: 1, reached: 1, answered: 1, talks: 1, talkSeconds: 45)
        ) { call in
            call.invite()
            call.rings(at: 1)
            call.answered(at: 5)
            call.bye(at: 50)
        },
        Story(
            "a person picks up without a 180", .init(calls: 1, reached: 1, answered: 1, talks: 1, talkSeconds: 10)
        ) { call in
            call.invite()
            call.answered(at: 5)
            call.bye(at: 15)
        },
        Story("voicemail is not a person, though the phone rang", .init(calls: 1, reached: 1)) { call in
            call.invite()
            call.rings(at: 1)
            call.answered(at: 20, marks: .voicemail)
            call.bye(at: 40)
        },
        Story("a queue that takes the call says nothing of a person", .init(calls: 1)) { call in
            call.invite()
            call.answered(at: 1, marks: .system)
            call.bye(at: 40)
        },
        Story("nobody picks up", .init(calls: 1, reached: 1)) { $0.missed() },
        Story("the person declines", .init(calls: 1, reached: 1)) { call in
            call.invite()
            call.rings(at: 1)
            call.failed(603, at: 4)
        },
        Story("the line is busy before a phone rings", .init(calls: 1)) { call in
            call.invite()
            call.failed(486, at: 1)
        },
        Story("the number does not exist", .init(calls: 1)) { call in
            call.invite()
            call.failed(404, at: 1)
        },
        Story("the caller gives up before a phone rings", .init(calls: 1)) { call in
            call.invite()
            call.cancelled(at: 1)
            call.failed(487, at: 2)
        },
        Story("another phone of the person picks up", .init(calls: 1)) { call in
            call.invite()
            call.rings(at: 1)
            var cancel = call.update(.cancelled, 3)
            cancel.sipCause = 200
            call.ring.append(cancel)
            call.failed(487, at: 4)
        },
        Story("the call is in progress", .init(calls: 1)) { call in
            call.invite()
            call.rings(at: 1)
            call.answered(at: 5)
        },
    ]

    @Test(arguments: stories)
    func `each call counts for what it shows of a person`(story: Story) throws {
        story.play(ScriptedCall(ledger.ring, 1))
        try ledger.recorder.drain()
        // Nobody knows before its end whether the caller tries again.
        ledger.clock.advance(seconds: 120)
        try ledger.recorder.drain()
        let counts = try ledger.counts()
        #expect(counts.kinds.map(\.sums) == [story.sums] && counts.kinds.map(\.hour) == [Self.hour])
        #expect(counts.brands == [.init(name: "Acme \"Bank\"", sums: story.sums)])
        #expect(counts.since == 0)
        #expect(try Set(ledger.counts().kinds) == ledger.countsOfRows())
    }

    @Test(arguments: 0...8)
    func `killed after any update, the counts are those of the rows`(stored: Int) throws {
        ScriptedCall.three(ledger.ring)
        if stored > 0 { try ledger.recorder.drain(limit: stored) }
        try ledger.restart()
        try ledger.recorder.drain()
        #expect(try Set(ledger.counts().kinds) == ledger.countsOfRows())
        #expect(try ledger.counts().kinds.map(\.sums.calls).reduce(0, +) == 3)
    }

    @Test func `killed between commit and freeing the slots, nothing counts twice`() throws {
        ScriptedCall.three(ledger.ring)
        try ledger.recorder.drain()
        _ = ledger.ring.resume(after: 0)
        try ledger.restart()
        try ledger.recorder.drain()
        #expect(try Set(ledger.counts().kinds) == ledger.countsOfRows())
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `calls of any kind and hour count as their rows, over steps of the clock and restarts`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        for number in 1...120 as ClosedRange<UInt64> {
            let begin = Int64.random(in: 0...20_000, using: &random)
            var call =
                Bool.random(using: &random)
                ? ScriptedCall(ledger.ring, number, sipCallID: "c\(number)") : .outbound(ledger.ring, number)
            call.caller += number
            if call.direction == .inbound { call.reason = [nil, .noMatch, .privacy].randomElement(using: &random)! }
            call.invite(at: begin)
            if Bool.random(using: &random) { call.rings(at: begin + 1) }
            switch Int.random(in: 0...3, using: &random) {
            case 0:
                call.answered(at: begin + 4, marks: [[], [], .voicemail, .system].randomElement(using: &random)!)
                call.bye(at: begin + .random(in: 5...4_000, using: &random))
            case 1: call.failed([404, 480, 486, 603].randomElement(using: &random)!, at: begin + 30)
            case 2:
                call.cancelled(at: begin + 9)
                call.failed(487, at: begin + 10)
            default: break
            }
            switch Int.random(in: 0...9, using: &random) {
            case 0: ledger.clock.set(by: .random(in: -4_000...4_000, using: &random))
            case 1: try ledger.restart()
            case 2...4: try ledger.recorder.drain()
            default: ledger.clock.advance(seconds: .random(in: 0...300, using: &random))
            }
        }
        ledger.clock.advance(seconds: 60)
        try ledger.recorder.drain()
        let (counted, rows) = (try Set(ledger.counts().kinds), try ledger.countsOfRows())
        #expect(counted == rows, "\(counted.symmetricDifference(rows))")
    }

    @Test func `a step of the clock moves a call in progress to the hour of its row`() throws {
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        try ledger.recorder.drain()
        ledger.clock.set(by: 7_200)
        try ledger.recorder.drain()
        call.failed(480, at: 7_230)
        try ledger.recorder.drain()
        #expect(try ledger.counts().kinds.map(\.hour) == [Self.hour + 2])
        #expect(try Set(ledger.counts().kinds) == ledger.countsOfRows())
    }

    @Test func `a name that two customers have is two brands, the one of the most calls first`() throws {
        let ledger = try LedgerFixture { $0.customers = [7: "acme", 8: "beta"] }
        for (number, customer) in [(1, 7), (2, 8), (3, 8), (4, 0)] as [(UInt64, UInt32)] {
            var call = ScriptedCall(ledger.ring, number, sipCallID: "c\(number)")
            call.customer = customer
            call.missed()
        }
        try ledger.recorder.drain()
        let counts = try ledger.counts()
        #expect(counts.brands.map(\.customer) == ["beta", nil, "acme"])
        #expect(counts.brands.map(\.sums.calls) == [2, 1, 1])
        #expect(
            try LedgerReader(ledger.database.ledger).counts(of: LedgerFixture.allHours, brands: 1).brands.count == 1)
    }

    @Test func `only the asked hours are read`() throws {
        for (number, second) in [(1, 0), (2, 3_599), (3, 3_600), (4, 7_200)] as [(UInt64, Int64)] {
            let call = ScriptedCall(ledger.ring, number, sipCallID: "c\(number)")
            call.invite(at: second)
            guard number != 3 else { continue }
            call.answered(at: second + 1)
            call.bye(at: second + 5_000)
        }
        try ledger.recorder.drain()
        let reader = LedgerReader(try ledger.database.ledger)
        let rows: [(ClosedRange<Int64>, Int64)] = [(0...0, 2), (1...1, 1), (0...1, 3), (2...9, 1), (3...9, 0)]
        for (hours, calls) in rows {
            let asked = (Self.hour + hours.lowerBound)...(Self.hour + hours.upperBound)
            let counts = try reader.counts(of: asked)
            #expect(counts.kinds.map(\.sums.calls).reduce(0, +) == calls, "\(hours)")
            #expect(counts.brands.map(\.sums.calls).reduce(0, +) == calls, "\(hours)")
        }
    }

    @Test func `counts go with their calls, and those of a wrong clock go too`() throws {
        for day in [0, 2, 12, 400] as [Int64] {
            let call = ScriptedCall(ledger.ring, UInt64(day + 1), sipCallID: "c\(day)")
            call.invite(at: day * 86_400)
            call.answered(at: day * 86_400 + 1)
            call.bye(at: day * 86_400 + 2)
        }
        try ledger.recorder.drain()
        ledger.clock.advance(seconds: 12 * 86_400)
        try ledger.recorder.prune()
        let hours = (Self.hour - 1)...(Self.hour + 500 * 24)
        #expect(
            try LedgerReader(ledger.database.ledger).counts(of: hours).kinds.map(\.hour) == [Self.hour + 12 * 24])
        ledger.settings.retentionDays = 1
        ledger.recorder.use(ledger.settings)
        ledger.clock.advance(seconds: 3 * 86_400)
        try ledger.recorder.prune()
        #expect(try LedgerReader(ledger.database.ledger).counts(of: hours).kinds.isEmpty)
    }

    @Test func `an earlier file gets the counts of its newest calls, and their begin`() throws {
        ScriptedCall.three(ledger.ring)
        try ledger.recorder.drain()
        let database = try ledger.database.ledger
        let before = try ledger.counts()
        try database.write { database in
            try database.execute(sql: "DROP TABLE call_hour; DROP TABLE brand_hour; DROP TABLE counted;")
            try HourTally.begin(in: database)
        }
        #expect(try ledger.counts() == before)
        // A million earlier calls that there is no time to count at a start.
        let old = LedgerFixture.Clock.start - 86_400_000_000
        try database.write { database in
            try database.execute(
                sql: """
                    DROP TABLE call_hour; DROP TABLE brand_hour; DROP TABLE counted;
                    UPDATE call SET id = id + 1000000;
                    INSERT INTO call (id, call_id, sip_call_id, direction, decision, invite_at, ended_at, outcome)
                        VALUES (1, 'a', 'a', 1, 'no_match', \(old), \(old + 1), 'FAILED');
                    """)
            try HourTally.begin(in: database)
        }
        let counts = try ledger.counts()
        #expect(counts.kinds == before.kinds && counts.brands == before.brands)
        #expect(counts.since == old / 1_000_000 + 1)
    }
}
