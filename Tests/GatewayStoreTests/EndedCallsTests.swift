// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Testing

@testable import GatewayStore

@Suite("Ledger: calls that ended lately")
struct EndedCallsTests {
    private static let one = CallIdentifier(high: 1, low: 1)
    private static let other = CallIdentifier(high: 1, low: 2)

    private static func second(_ second: Int64) -> Int64 { second * 1_000_000 }

    @Test(
        arguments: [
            (ends: 100, looks: [], isKnown: true),
            (ends: 100, looks: [131], isKnown: true),
            // RFC 3261 §17.1.1.2: an INVITE is repeated for 64 × T1, 32 s, at most.
            (ends: 100, looks: [132], isKnown: false),
            // The clock was set back before the first look, or between two.
            (ends: 100, looks: [50], isKnown: true),
            (ends: 100, looks: [50, 81], isKnown: true),
            (ends: 100, looks: [50, 82], isKnown: false),
            (ends: 100, looks: [105, 50, 81], isKnown: true),
            (ends: 100, looks: [105, 50, 82], isKnown: false),
        ] as [(ends: Int64, looks: [Int64], isKnown: Bool)])
    func `a call is known while its INVITE may be repeated, however the clock goes`(
        ends: Int64, looks: [Int64], isKnown: Bool
    ) {
        var ended = EndedCalls([])
        ended.add(Self.one, to: "1001", endedAt: Self.second(ends), row: 1)
        for look in looks { ended.forget(at: Self.second(look)) }
        #expect(ended.contains(Self.one) == isKnown)
    }

    @Test func `calls the ledger was left with are forgotten as those of this process are`() {
        var ended = EndedCalls([
            .init(Self.one, to: "+61291234567", endedAt: Self.second(110), row: 1),
            .init(Self.other, to: "", endedAt: Self.second(100), row: 1),
        ])
        ended.forget(at: Self.second(132))
        #expect(ended.contains(Self.one))
        #expect(!ended.contains(Self.other))
        ended.forget(at: Self.second(142))
        #expect(!ended.contains(Self.one))
    }

    @Test func `one that was added late stays no shorter, and goes with the one before it`() {
        var ended = EndedCalls([])
        ended.add(Self.one, to: "1001", endedAt: Self.second(100), row: 1)
        ended.add(Self.other, to: "1001", endedAt: Self.second(90), row: 1)
        ended.forget(at: Self.second(125))
        #expect(ended.contains(Self.other))
        ended.forget(at: Self.second(132))
        #expect(!ended.contains(Self.one))
        #expect(!ended.contains(Self.other))
    }

    @Test func `a name that was forgotten may end again`() {
        var ended = EndedCalls([])
        ended.add(Self.one, to: "1001", endedAt: Self.second(100), row: 1)
        ended.forget(at: Self.second(140))
        ended.add(Self.one, to: "1001", endedAt: Self.second(150), row: 1)
        #expect(ended.contains(Self.one))
        ended.forget(at: Self.second(182))
        #expect(!ended.contains(Self.one))
    }

    // RFC 3261 §16.5: a proxy may ask its targets one after the other.
    @Test func `a call is known by its name and by whom it was to`() {
        var ended = EndedCalls([])
        ended.add(Self.one, to: "1001", endedAt: Self.second(100), row: 1)
        ended.add(Self.one, to: "1002", endedAt: Self.second(130), row: 1)
        #expect(ended.contains(Self.one, to: "1001"))
        #expect(ended.contains(Self.one, to: "1002"))
        #expect(!ended.contains(Self.one, to: "1003"))
        #expect(!ended.contains(Self.other, to: "1001"))
        ended.forget(at: Self.second(132))
        #expect(!ended.contains(Self.one, to: "1001"))
        // The name stays as long as any of its calls.
        #expect(ended.contains(Self.one))
        ended.forget(at: Self.second(162))
        #expect(!ended.contains(Self.one))
    }

    @Test func `whom it was to is not asked where nobody knows`() {
        var ended = EndedCalls([])
        ended.add(Self.one, to: "", endedAt: Self.second(100), row: 1)
        #expect(ended.contains(Self.one, to: ""))
        ended.forget(at: Self.second(132))
        #expect(!ended.contains(Self.one, to: ""))
    }
}
