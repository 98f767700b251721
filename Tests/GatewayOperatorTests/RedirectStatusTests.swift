// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import Host
import Testing

@testable import ConfigurationFiles
@testable import GatewayDoors
@testable import GatewayOperator

@Suite("Metrics, status and doctor of redirections")
struct RedirectStatusTests {
    private func doors(_ requests: [String: UInt64]) -> GatewayStatus.Doors {
        GatewayStatus.Doors(redirect: .init(listen: "127.0.0.1:9484", trunk: "carrier", requests: requests))
    }

    @Test func `requests are counted by result, beside those of the other doors`() {
        let counters = RedirectCounters()
        let metrics = DoorMetrics(names: NamesCounters(), callingNames: NumberZoneCounters(), redirect: counters)
        for _ in 0..<2 { counters.add(.matched) }
        counters.add(.unmatched(.noMatch))
        counters.add(.notAllowed)
        #expect(
            metrics.counters.map { $0.labels.map(\.value) + ["\($0.value)"] } == [
                ["names", "matched", "0"], ["redirect", "matched", "2"], ["redirect", "no_match", "1"],
                ["redirect", "not_allowed", "1"],
            ])
    }

    @Test func `the status has the door of the configuration`() {
        let counters = RedirectCounters()
        counters.add(.returned)
        let listen = EndpointAddress(host: "127.0.0.1", port: 9484, isIPv6: false)
        let door = HeraldConfiguration.Doors.Redirect(listen: listen, trunk: "carrier", allow: [])
        let metrics = DoorMetrics(names: NamesCounters(), callingNames: NumberZoneCounters(), redirect: counters)
        #expect(metrics.status(HeraldConfiguration.Doors(redirect: door)) == doors(["returned": 1]))
    }

    @Test func `the text has address, trunk and results`() {
        let text = "127.0.0.1:9484 by the rules of trunk carrier; "
        #expect(doors([:]).redirect?.text == text + "no request since the start")
        #expect(doors(["matched": 3, "no_match": 2]).redirect?.text == text + "3 matched, 2 no_match since the start")
    }

    @Test(
        arguments: [
            ([:], "note", "no request for a redirection since the start"),
            (["matched": 1], "ok", "1 matched since the start"),
            (["not_allowed": 2], "warning", "2 requests came from senders that doors.redirect.allow does not list"),
            (["matched": 9, "limited": 3], "warning", "3 requests were above doors.redirect.rate"),
            (["returned": 4], "warning", "4 INVITEs came back after their redirection"),
            (["refused": 5], "warning", "5 requests were no INVITE of a new call"),
        ] as [([String: UInt64], String, String)])
    func `the doctor reports rejected requests`(requests: [String: UInt64], level: String, text: String) {
        let findings = DoctorDoors.running(doors(requests))
        #expect(findings.count == 1 && findings[0].text.contains(text), "\(findings)")
        #expect("\(findings[0].level)" == level)
    }
}
