// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Testing

@testable import GatewayStore

@Suite("Ledger: counts of a day, pages of calls, the clock")
struct LedgerDayTests {
    private let ledger: LedgerFixture
    private static let start = LedgerFixture.Clock.start

    init() throws {
        ledger = try LedgerFixture()
        for number in 1...5 as ClosedRange<UInt64> {
            var texts = CallTexts(sipCallID: Array("c\(number)".utf8))
            texts.brandName = Array((number == 5 ? "" : number > 2 ? "Harbour Dental" : "Acme Bank").utf8)
            ledger.ring.append(
                CallUpdate(
                    kind: .invite, direction: .inbound, call: CallIdentifier(high: 1, low: number),
                    wallMicroseconds: Self.start + Int64(number) * 1_000_000,
                    caller: try #require(E164Number("+6125550100\(number)")).digits,
                    reason: number == 5 ? .noMatch : nil),
                texts: texts)
        }
        try ledger.recorder.drain()
    }

    private var reader: LedgerReader { get throws { LedgerReader(try ledger.database.ledger) } }

    @Test func `calls are counted by outcome and by brand`() throws {
        let day = try reader.day(since: Self.start / 1_000_000)
        #expect(day.outcomes == [.init(name: "OPEN", calls: 5, answered: 0)])
        #expect(day.brands.map(\.name) == ["Acme Bank", "Harbour Dental"] && day.brands.map(\.calls) == [2, 2])
        #expect(!day.isLimited)
        #expect(try reader.day(since: Self.start / 1_000_000 + 4).outcomes.map(\.calls) == [2])
    }

    @Test func `a name that two customers have is two brands`() throws {
        let ledger = try LedgerFixture { $0.customers = [7: "acme", 8: "beta"] }
        for (number, customer) in [(1, 7), (2, 8), (3, 8), (4, 0)] as [(UInt64, UInt32)] {
            var texts = CallTexts(sipCallID: Array("c\(number)".utf8))
            texts.brandName = Array("Front Desk".utf8)
            var update = CallUpdate(
                kind: .invite, direction: .inbound, call: CallIdentifier(high: 1, low: number),
                wallMicroseconds: Self.start + Int64(number) * 1_000_000, caller: 61_255_501_001, reason: nil)
            update.customer = customer
            ledger.ring.append(update, texts: texts)
        }
        try ledger.recorder.drain()
        let brands = try LedgerReader(try ledger.database.ledger).day(since: Self.start / 1_000_000).brands
        #expect(brands.map(\.customer) == ["beta", nil, "acme"] && brands.map(\.calls) == [2, 1, 1])
    }

    @Test func `only the newest rows are read, and the counts say so`() throws {
        let day = try reader.day(since: Self.start / 1_000_000, most: 3)
        #expect(day.outcomes.map(\.calls) == [3] && day.isLimited)
        #expect(try reader.day(since: Self.start / 1_000_000 + 3, most: 3).isLimited == false)
    }

    @Test func `a page begins before the last row of the one before`() throws {
        let first = try reader.calls(limit: 2)
        #expect(first.map(\.sipCallID) == ["c5", "c4"])
        var filter = CallFilter()
        filter.before = first.last?.row
        #expect(try reader.calls(matching: filter, limit: 10).map(\.sipCallID) == ["c3", "c2", "c1"])
        var one = CallFilter()
        one.row = first.last?.row
        #expect(try reader.calls(matching: one, limit: 10).map(\.sipCallID) == ["c4"])
    }

    @Test func `the clock's state has the newest call, and no step`() throws {
        let clock = try reader.clockState()
        #expect(clock.newestInvite == Self.start + 5_000_000)
        #expect(clock.lastStep == nil)
    }
}
