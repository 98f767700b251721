// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayOperator

/// Requirements: the hint names the cause of what the operator asked about.
@Suite("The report of a test call")
struct TestCallReportTests {
    private static let plan = TestCallPlan(
        trunk: "carrier", isTrusted: true, policy: "standard", pbx: "office", from: "+61255501001",
        brand: "Harbour Dental", to: "2001", returnsAnswered: false, host: "127.0.0.1", port: 15_070)

    /// A call with a decision and a final response after ringing or without.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var decision = "shadow"
        var expectation: TestCallWish.Expectation?
        var status = 480
        var rings = true
        var callsBack = false
        let hint: String?
    }

    private static let shadow = "no brand was shown: trunk carrier or the route is in shadow"
    private static let unknown = "pbx office does not know 2001"

    static let rows: [Row] = [
        Row(testDescription: "in shadow, as expected", expectation: .missed, hint: shadow),
        Row(
            testDescription: "in shadow, and the PBX called back", expectation: .returned, callsBack: true, hint: shadow
        ),
        Row(testDescription: "in shadow, and nobody called back", expectation: .returned, hint: shadow),
        Row(
            testDescription: "in shadow, and no phone to call back", expectation: .returned, status: 404, rings: false,
            hint: shadow),
        Row(
            testDescription: "in shadow, and an unknown phone", expectation: .missed, status: 404, rings: false,
            hint: unknown),
        Row(testDescription: "with a brand", decision: "matched", expectation: .missed, hint: nil),
        Row(
            testDescription: "with a brand, and called back", decision: "matched", expectation: .returned,
            callsBack: true, hint: nil),
    ]

    @Test(arguments: rows) func `the hint is the likeliest remedy`(row: Row) throws {
        var report = TestCallReport(Self.plan, row.expectation, callID: "a@b")
        _ = report.add(TraceLine(.decision(row.decision, evidence: ""), wallMicroseconds: 0, callID: "a@b"))
        report.result.status = row.status
        (report.result.rang, report.result.ringAfter) = (row.rings, row.rings ? 100 : nil)
        if row.callsBack { report.result.callBack = .init(from: "<sip:2001@pbx.example>", after: 5_000) }
        // A long line is broken.
        let lines = report.text.split { $0.isWhitespace }.joined(separator: " ")
        guard let hint = row.hint else {
            #expect(!lines.contains("hint "))
            return
        }
        #expect(lines.contains("hint \(hint)"))
    }
}
