// SPDX-License-Identifier: Apache-2.0

import GatewayDoors
import Host
import Testing
import Trust

@testable import ConfigurationFiles
@testable import GatewayOperator

@Suite("Metrics, status and doctor of verifications")
struct VerificationStatusTests {
    private func doors(_ requests: [String: UInt64]) -> GatewayStatus.Doors {
        GatewayStatus.Doors(
            verification: .init(
                listen: "127.0.0.1:9485", path: "/v1/verification", trunk: "carrier", requests: requests))
    }

    private func metrics(_ counters: VerificationCounters) -> DoorMetrics {
        DoorMetrics(names: NamesCounters(), callingNames: NumberZoneCounters(), verification: counters)
    }

    @Test func `requests are counted by cause, beside those for names`() {
        let counters = VerificationCounters()
        for _ in 0..<2 { counters.add(.judged(.passed)) }
        counters.add(.judged(.stale))
        counters.add(.notReady)
        #expect(
            metrics(counters).counters.map { $0.labels.map(\.value) + ["\($0.value)"] } == [
                ["names", "matched", "0"], ["verification", "not_ready", "1"], ["verification", "passed", "2"],
                ["verification", "stale", "1"],
            ])
    }

    @Test func `the status has the door of the configuration`() {
        let counters = VerificationCounters()
        counters.add(.judged(.unsigned))
        let door = HeraldConfiguration.Doors.Verification(
            listen: EndpointAddress(host: "127.0.0.1", port: 9485, isIPv6: false), trunk: "carrier", allow: [])
        #expect(
            metrics(counters).status(HeraldConfiguration.Doors(verification: door)) == doors(["unsigned": 1]))
    }

    @Test(
        arguments: [
            ([:], "note", "no request for a verification since the start"),
            (
                ["passed": 1], "ok",
                "http://127.0.0.1:9485/v1/verification by the rules of trunk carrier; 1 passed since the start"
            ),
            (["not_allowed": 2], "warning", "2 requests came from clients that doors.verification.allow does not list"),
            (["passed": 9, "invalid": 3], "warning", "3 requests for a verification were rejected"),
            (["crowded": 4], "warning", "4 connections for verifications had no place"),
            (["not_ready": 5], "warning", "5 requests found no rules: trunk carrier verifies nothing"),
            (["signer_not_yet_known": 6], "warning", "6 requests had a signer whose certificate is not stored"),
        ] as [([String: UInt64], String, String)])
    func `the doctor reports requests without a verdict`(requests: [String: UInt64], level: String, text: String) {
        let findings = DoctorDoors.running(doors(requests))
        #expect(findings.count == 1 && findings[0].text.contains(text), "\(findings)")
        #expect("\(findings[0].level)" == level)
    }
}
