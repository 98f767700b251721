// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GatewayStore
import Primitives
import Testing

@testable import GatewayOperator

@Suite("Summary of calls")
struct CallSummaryTests {
    /// 2026-01-31T12:00:00Z.
    private static let noon: Int64 = 1_769_860_800

    private static func kind(_ decision: String, _ outcome: String?) -> CallCounts.Kind {
        CallCounts.Kind(decision: decision, outcome: outcome)
    }

    private static func count(_ calls: Int, _ first: Int64, _ last: Int64) -> CallCounts.Count {
        CallCounts.Count(calls: calls, first: (noon + first) * 1_000_000, last: (noon + last) * 1_000_000)
    }

    private static let counts = CallCounts(counts: [
        kind("matched", "ANSWERED"): count(1_203, 0, 3_500), kind("matched", "MISSED"): count(97, 60, 3_400),
        kind("no_match", "ANSWERED"): count(40, 10, 90), kind("untrusted", nil): count(1, 3_599, 3_599),
        kind("outbound", "ANSWERED"): count(2, 5, 6),
    ])

    @Test func `calls are counted by decision, reason and outcome with the first and the last`() {
        let summary = CallSummary(Self.counts, since: Self.noon, zone: .fixed(-18_000, "EST"))
        #expect(
            summary.text == """
                1343 calls since 2026-01-31 07:00:00 EST (12:00:00 UTC), times in EST (UTC-05:00)

                BY        VALUE      CALLS  SHARE   FIRST             LAST
                decision  branded    1300   96.8 %  2026-01-31 07:00  2026-01-31 07:58
                          unbranded  41     3.1 %   2026-01-31 07:00  2026-01-31 07:59
                          outbound   2      0.1 %   2026-01-31 07:00  2026-01-31 07:00
                reason    no_match   40     3.0 %   2026-01-31 07:00  2026-01-31 07:01
                          untrusted  1      0.1 %   2026-01-31 07:59  2026-01-31 07:59
                outcome   answered   1245   92.7 %  2026-01-31 07:00  2026-01-31 07:58
                          missed     97     7.2 %   2026-01-31 07:01  2026-01-31 07:56
                          open       1      0.1 %   2026-01-31 07:59  2026-01-31 07:59

                """, "\(summary.text)")
    }

    @Test func `the JSON has the same counts, with times in UTC`() throws {
        let json = CallSummary(Self.counts, since: Self.noon, zone: .fixed(-18_000, "EST")).json
        #expect(json["calls"] == .int(1_343) && json["since"] == .string("2026-01-31T12:00:00Z"))
        #expect(
            json["reason"]
                == .array([
                    .object([
                        "value": .string("no_match"), "calls": .int(40), "first": .string("2026-01-31T12:00:10.000Z"),
                        "last": .string("2026-01-31T12:01:30.000Z"),
                    ]),
                    .object([
                        "value": .string("untrusted"), "calls": .int(1), "first": .string("2026-01-31T12:59:59.000Z"),
                        "last": .string("2026-01-31T12:59:59.000Z"),
                    ]),
                ]))
    }

    @Test func `calls in shadow are counted by the brand that they would have shown`() throws {
        func shadow(_ brand: String?, _ outcome: String) -> CallCounts.Kind {
            CallCounts.Kind(decision: "shadow", outcome: outcome, brandInShadow: brand)
        }
        let counts = CallCounts(counts: [
            shadow("Acme Bank", "ANSWERED"): Self.count(3, 0, 60), shadow("Acme Bank", "MISSED"): Self.count(2, 0, 60),
            shadow(nil, "MISSED"): Self.count(1, 0, 60), Self.kind("no_match", "ANSWERED"): Self.count(2, 0, 60),
            Self.kind("outbound", "ANSWERED"): Self.count(2, 0, 60),
        ])
        let summary = CallSummary(counts, since: nil, zone: .utc)
        #expect(
            summary.text.hasSuffix(
                """
                shadow    Acme Bank      5      50.0 %  2026-01-31 12:00  2026-01-31 12:01
                          signed values  1      10.0 %  2026-01-31 12:00  2026-01-31 12:01

                6 of 8 calls of trunks (75.0 %) would have a brand, but are in shadow:
                herald calls --decision shadow

                """), "\(summary.text)")
        guard case .array(let lines)?? = summary.json["shadow"] else {
            Issue.record("no array")
            return
        }
        #expect(lines.count == 2)
        #expect(CallSummary(Self.counts, since: nil, zone: .utc).json["shadow"] == .array([]))
    }

    @Test func `no calls are no table`() {
        #expect(CallSummary(CallCounts(), since: nil, zone: .utc).text == "no calls\n")
        #expect(
            CallSummary(CallCounts(), since: Self.noon, zone: .utc).text == "no calls since 2026-01-31 12:00:00 UTC\n")
        #expect(CallSummary(CallCounts(), since: nil, zone: .utc).json["decision"] == .array([]))
    }
}
