// SPDX-License-Identifier: Apache-2.0

import GatewayDoors
import Host
import Testing

@testable import ConfigurationFiles
@testable import GatewayOperator

@Suite("Metrics, status and doctor of the door for reports of calls")
struct DoorOutcomesStatusTests {
    private func doors(_ requests: [String: UInt64]) -> GatewayStatus.Doors {
        GatewayStatus.Doors(outcomes: .init(listen: "127.0.0.1:9486", trunk: "carrier", requests: requests))
    }

    @Test func `reports are counted by result, beside requests for names`() {
        let counters = OutcomeCounters()
        let metrics = DoorMetrics(names: NamesCounters(), callingNames: NumberZoneCounters(), outcomes: counters)
        for result in [OutcomeCounters.Result.shown, .shown, .notStored] { counters.add(result) }
        #expect(
            metrics.counters.map { $0.labels.map(\.value) + ["\($0.value)"] } == [
                ["names", "matched", "0"], ["outcomes", "not_stored", "1"], ["outcomes", "shown", "2"],
            ])
        let listen = EndpointAddress(host: "127.0.0.1", port: 9486, isIPv6: false)
        let door = HeraldConfiguration.Doors.Outcomes(listen: listen, trunk: "carrier", allow: [], rate: 200)
        #expect(
            metrics.status(HeraldConfiguration.Doors(outcomes: door)) == doors(["not_stored": 1, "shown": 2]))
        #expect(
            doors(["shown": 2]).outcomes?.text
                == "http://127.0.0.1:9486/outcome by the rules of trunk carrier; 2 shown since the start")
    }

    @Test(
        arguments: [
            ([:], "note", "no report of a call since the start"), (["shown": 1], "ok", "1 shown since the start"),
            (["shown": 1, "not_allowed": 2], "warning", "2 reports came from clients"),
            (["invalid": 1], "warning", "1 reports were not taken"),
            (["not_stored": 3], "warning", "3 reports got 503"), (["limited": 4], "warning", "doors.outcomes.rate"),
        ] as [([String: UInt64], String, String)])
    func `the doctor reports rejected clients`(requests: [String: UInt64], level: String, text: String) {
        let findings = DoctorDoors.running(doors(requests))
        #expect(findings.count == 1 && findings[0].text.contains(text), "\(findings)")
        #expect("\(findings[0].level)" == level)
    }
}
