// SPDX-License-Identifier: Apache-2.0

import Branding
import Host
import Testing

@testable import ConfigurationFiles
@testable import GatewayDoors
@testable import GatewayOperator

@Suite("Metrics, status and doctor of calling names")
struct CallingNamesStatusTests {
    private func doors(_ requests: [String: UInt64]) -> GatewayStatus.Doors {
        GatewayStatus.Doors(
            callingNames: .init(
                listen: "127.0.0.1:9483", trunk: "carrier", zone: "cnam.example.net", requests: requests))
    }

    @Test func `queries are counted by result, beside requests by HTTP`() {
        let counters = NumberZoneCounters()
        let metrics = DoorMetrics(names: NamesCounters(), callingNames: counters)
        #expect(metrics.counters.map { $0.labels.map(\.value) } == [["names", "matched"]])
        for _ in 0..<2 { counters.add(.outcome(.named)) }
        counters.add(.foreign)
        #expect(
            metrics.counters.map { $0.labels.map(\.value) + ["\($0.value)"] } == [
                ["names", "matched", "0"], ["enum", "named", "2"], ["enum", "not_allowed", "1"],
            ])
    }

    @Test func `the status has the door of the configuration`() throws {
        let counters = NumberZoneCounters()
        counters.add(.outcome(.empty))
        let listen = EndpointAddress(host: "127.0.0.1", port: 9483, isIPv6: false)
        let door = HeraldConfiguration.Doors.CallingNames(
            listen: listen, trunk: "carrier", allow: [], zone: try #require(ZoneName("cnam.example.net")))
        let metrics = DoorMetrics(names: NamesCounters(), callingNames: counters)
        #expect(metrics.status(HeraldConfiguration.Doors(callingNames: door)) == doors(["empty": 1]))
    }

    @Test func `the text has zone, address, trunk and results`() {
        let text = "zone cnam.example.net on 127.0.0.1:9483 by the rules of trunk carrier; "
        #expect(doors([:]).callingNames?.text == text + "no query since the start")
        #expect(doors(["named": 3, "empty": 2]).callingNames?.text == text + "2 empty, 3 named since the start")
    }

    @Test(
        arguments: [
            ([:], "note", "no query for zone cnam.example.net since the start"),
            (["named": 1], "ok", "1 named since the start"),
            (["not_allowed": 2], "warning", "2 queries came from clients that doors.enum.allow does not list"),
            (["named": 9, "dropped": 3], "warning", "3 queries were above doors.enum.rate"),
            (["malformed": 4], "warning", "4 queries were no DNS query"),
            (["refused": 5], "warning", "5 queries were not for zone cnam.example.net"),
        ] as [([String: UInt64], String, String)])
    func `the doctor reports rejected queries`(requests: [String: UInt64], level: String, text: String) {
        let findings = DoctorDoors.running(doors(requests))
        #expect(findings.count == 1 && findings[0].text.contains(text), "\(findings)")
        #expect("\(findings[0].level)" == level)
    }
}
