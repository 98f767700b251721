// SPDX-License-Identifier: Apache-2.0

@testable import GatewayStore

extension LedgerFixture {
    /// The hours of all calls that tests play.
    static let allHours: ClosedRange<Int64> = {
        let hour = Clock.start / 3_600_000_000
        return (hour - 1_000)...(hour + 1_000)
    }()

    /// The counts that the recorder keeps.
    func counts() throws -> HourCounts {
        try LedgerReader(database.ledger).counts(of: Self.allHours, brands: 1_000)
    }

    /// The same counts, made of the rows of all calls as a list shows them.
    func countsOfRows() throws -> Set<HourCounts.Kind> {
        var kinds: [HourCounts.Kind: CallSums] = [:]
        for row in try LedgerReader(database.ledger).calls(limit: 100_000) {
            let kind = HourCounts.Kind(
                hour: row.inviteAt / 3_600_000_000, isInbound: row.direction == "inbound", trunk: row.trunk,
                decision: row.decision, outcome: row.outcome, sums: CallSums())
            kinds[kind, default: CallSums()] += Self.sums(of: row)
        }
        return Set(
            kinds.map { kind, sums in
                var kind = kind
                kind.sums = sums
                return kind
            })
    }

    private static func sums(of row: LedgerCallRow) -> CallSums {
        var sums = CallSums(calls: 1)
        let isElsewhere = row.outcome?.hasSuffix("_ELSEWHERE") == true
        let isByPerson = row.answeredAt != nil && row.answeredBy == nil
        let isReached = row.ringingAt != nil || row.ringSeconds != nil || isByPerson
        guard row.outcome != nil, isReached, !isElsewhere, row.answeredBy != "system" else { return sums }
        sums.reached = 1
        guard isByPerson else { return sums }
        sums.answered = 1
        sums.talks = row.callSeconds == nil ? 0 : 1
        sums.talkSeconds = Int64(row.callSeconds ?? 0)
        return sums
    }
}
