// SPDX-License-Identifier: Apache-2.0

import Branding
import GatewayDoors
import Host
import Testing

@testable import ConfigurationFiles
@testable import GatewayOperator

@Suite("Metrics, status and doctor of the doors")
struct DoorStatusTests {
    private func doors(_ requests: [String: UInt64]) -> GatewayStatus.Doors {
        GatewayStatus.Doors(names: .init(listen: "127.0.0.1:9482", trunk: "carrier", requests: requests))
    }

    @Test func `requests are counted by result, and matched is there before the first`() {
        let counters = NamesCounters()
        let metrics = DoorMetrics(names: counters, callingNames: NumberZoneCounters())
        #expect(metrics.counters.map(\.value) == [0])
        counters.add(.matched)
        for _ in 0..<2 { counters.add(.unmatched(.noMatch)) }
        counters.add(.unmatched(.gatedCapReached))
        counters.add(.notAllowed)
        let samples = metrics.counters
        #expect(samples.allSatisfy { $0.name == "herald_door_requests_total" })
        #expect(
            samples.map { $0.labels.map(\.value) + ["\($0.value)"] } == [
                ["names", "gated:cap_reached", "1"], ["names", "matched", "1"], ["names", "no_match", "2"],
                ["names", "not_allowed", "1"],
            ])
    }

    @Test func `the status has the door of the configuration, and none without one`() {
        let metrics = DoorMetrics(names: NamesCounters(), callingNames: NumberZoneCounters())
        #expect(metrics.status(HeraldConfiguration.Doors()) == nil)
        let listen = EndpointAddress(host: "127.0.0.1", port: 9482, isIPv6: false)
        let names = HeraldConfiguration.Doors.Names(listen: listen, trunk: "carrier", allow: [])
        #expect(metrics.status(HeraldConfiguration.Doors(names: names)) == doors(["matched": 0]))
    }

    @Test(
        arguments: [
            (["matched": 0], "http://127.0.0.1:9482 by the rules of trunk carrier; no request since the start"),
            (
                ["matched": 3, "no_match": 2],
                "http://127.0.0.1:9482 by the rules of trunk carrier; 3 matched, 2 no_match since the start"
            ),
        ] as [([String: UInt64], String)])
    func `the text has address, trunk and results`(requests: [String: UInt64], text: String) {
        #expect(doors(requests).names?.text == text)
    }

    @Test(
        arguments: [
            (
                ["matched": 0], "note",
                "no request for a name since the start; try curl http://127.0.0.1:9482/name/NUMBER"
            ),
            (["matched": 1], "ok", "1 matched since the start"),
            (
                ["matched": 1, "not_allowed": 2], "warning",
                "2 requests came from clients that doors.names.allow does not list"
            ),
            (["invalid": 4], "warning", "4 requests were no GET /name/NUMBER"),
            (["crowded": 5], "warning", "5 connections had no place: let the clients close theirs"),
        ] as [([String: UInt64], String, String)])
    func `the doctor reports rejected clients`(requests: [String: UInt64], level: String, text: String) {
        let findings = DoctorDoors.running(doors(requests))
        #expect(findings.count == 1 && findings[0].text.contains(text), "\(findings)")
        #expect("\(findings[0].level)" == level)
    }

    @Test func `without a door the doctor has nothing to report`() {
        #expect(DoctorDoors.running(nil).isEmpty && DoctorDoors.running(GatewayStatus.Doors()).isEmpty)
    }
}
