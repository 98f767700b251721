// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Host
import Testing

@testable import GatewayOperator

@Suite("Counts of ended calls")
struct EndedCallCountsTests {
    private func call(
        _ outcome: CallOutcome?, trunk: String? = "carrier", reason: PassThroughReason? = nil, answered: Int64? = nil,
        ended: Int64? = 30
    ) -> CallRecord {
        var record = CallRecord(
            call: CallIdentifier(high: 1, low: 2), direction: .inbound, trunk: trunk, reason: reason,
            inviteAt: 1_000_000)
        record.outcome = outcome
        record.answeredAt = answered.map { 1_000_000 + $0 * 1_000_000 }
        record.endedAt = ended.map { 1_000_000 + $0 * 1_000_000 }
        return record
    }

    @Test func `calls count by trunk, decision and outcome`() {
        let counts = EndedCallCounts()
        counts.add([call(.answered, answered: 4), call(.answered, answered: 5), call(.missed, reason: .noMatch)])
        counts.add([call(.missed, trunk: nil, reason: .privacy), call(nil, ended: nil)])
        let found = counts.counters.map { ($0.labels.map(\.value), $0.value) }
        #expect(
            found.map(\.0) == [
                ["", "privacy", "MISSED"], ["carrier", "matched", "ANSWERED"], ["carrier", "no_match", "MISSED"],
            ])
        #expect(found.map(\.1) == [1, 2, 1])
        #expect(Set(counts.counters.map(\.name)) == ["herald_calls_ended_total"])
    }

    @Test func `ring time lasts until the 2xx, else until a known end`() throws {
        let counts = EndedCallCounts()
        var lost = call(.missed)
        lost.endIsKnown = false
        counts.add([call(.answered, answered: 4, ended: 600), call(.missed, ended: 30), lost])
        func ringing(_ outcome: CallOutcome) -> Distribution? {
            counts.histograms.first { $0.labels == [MetricLabel("outcome", outcome.rawValue)] }?.value
        }
        #expect(ringing(.answered)?.count == 1 && ringing(.answered)?.sum == 4)
        #expect(ringing(.missed)?.count == 1 && ringing(.missed)?.sum == 30)
        #expect(counts.histograms.count == CallOutcome.allCases.count)
    }
}
