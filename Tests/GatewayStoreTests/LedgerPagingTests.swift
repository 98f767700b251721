// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Testing

@testable import GatewayStore

@Suite("Ledger: pages of calls, the clock")
struct LedgerPagingTests {
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
