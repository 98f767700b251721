// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import Logging
import Testing

@testable import GatewayOperator

@Suite("A line for each ended call")
struct EndedCallLogTests {
    private func record(caller: String?, reason: PassThroughReason? = nil, received: String? = nil) -> CallRecord {
        var record = CallRecord(
            call: CallIdentifier(high: 1, low: 2), direction: .inbound, sipCallID: "a84b\r\nX: y@carrier.example",
            trunk: "carrier", caller: caller.flatMap { E164Number($0) }, destination: E164Number("+61255502000"),
            subscriber: "1001", reason: reason, inviteAt: 0)
        record.ringingAt = 2_000_000
        record.answeredAt = 5_000_000
        record.endedAt = 66_000_000
        record.outcome = .answered
        record.status = 200
        record.callerReceived = received
        return record
    }

    private func line(
        _ record: CallRecord, _ numbers: LogSettings.Numbers, links: CallLinks = CallLinks(nil)
    ) -> [String: String] {
        EndedCallLog.metadata(record, numbers, links).mapValues(\.description)
    }

    @Test func `it has the link to the call's page where the pages have an address`() {
        let line = line(record(caller: "+61255501001"), .masked, links: CallLinks("https://sbc.example"))
        #expect(line["link"] == "https://sbc.example/calls/00000000-0000-0001-0000-000000000002")
    }

    @Test func `it has the outcome of the call, with the Call-ID escaped`() {
        let line = line(record(caller: "+61255501001"), .masked)
        #expect(
            line == [
                "call_id": "a84b\\u{d}\\u{a}X: y@carrier.example", "direction": "inbound", "decision": "matched",
                "outcome": "ANSWERED", "trunk": "carrier", "ring": "3", "talk": "61", "status": "200",
                "from": "+61******001", "to": "+61******000",
            ])
    }

    @Test(arguments: [
        (LogSettings.Numbers.masked, "+61******001", "+61******000"), (.full, "+61255501001", "+61255502000"),
    ])
    func `log.numbers chooses the form of numbers`(numbers: LogSettings.Numbers, from: String, to: String) {
        let line = line(record(caller: "+61255501001"), numbers)
        #expect(line["from"] == from && line["to"] == to)
    }

    @Test func `log.numbers none leaves all of them out`() {
        let line = line(record(caller: "+61255501001"), .none)
        #expect(line["from"] == nil && line["to"] == nil)
    }

    @Test(arguments: LogSettings.Numbers.allCases)
    func `a withheld number is in no line`(numbers: LogSettings.Numbers) {
        let line = line(record(caller: nil, reason: .privacy, received: "+61255501009"), numbers)
        #expect(line["from"] == "withheld")
        #expect(!line.values.contains { $0.contains("1009") })
    }

    @Test func `a text that the carrier sent instead of a number is shown, and masked like one`() {
        #expect(line(record(caller: nil, reason: .numberUnclear, received: "570157"), .masked)["from"] == "570157")
        #expect(
            line(record(caller: nil, reason: .numberUnclear, received: "0061491570157"), .masked)["from"]
                == "00********157")
    }

    @Test func `log.calls switches the lines off`() {
        var settings = LogSettings()
        settings.hasCalls = false
        #expect(EndedCallLog(settings, links: CallLinks(nil)) == nil)
    }
}
