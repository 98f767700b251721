// SPDX-License-Identifier: Apache-2.0

import CallPath
import Foundation
import SIPCore
import Testing

@testable import GatewayOperator

@Suite("Rejected senders on the status page")
struct RejectedStatusTests {
    @Test func `the status page has the texts of the log, and times in seconds`() throws {
        var rejection = Rejection(
            source: PeerAddress(ipv4: 0xC633_6409, port: 5060), transport: .udp, sender: .unknown,
            method: ShortText("INVITE"), status: 403, cause: .unlisted, at: 1_800_000_000_000_000)
        rejection.count = 3
        let json = try JSONEncoder().encode(GatewayStatus.Rejected(rejection))
        let fields = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(fields["address"] as? String == "198.51.100.9:5060")
        #expect(fields["method"] as? String == "INVITE" && fields["count"] as? Int == 3)
        #expect(fields["last"] as? Int == 1_800_000_000)
        #expect(fields["cause"] as? String == rejection.causeText)
    }

    @Test func `calls that a limit rejects are in the status and in the doctor's findings, for ten minutes`() {
        func sender(
            _ peer: String?, _ cause: String, method: String = "INVITE", status: Int? = 503, last: Int64 = 1_000
        ) -> GatewayStatus.Rejected {
            GatewayStatus.Rejected(
                address: "203.0.113.5:5060", transport: "udp", peer: peer, method: method, status: status, cause: cause,
                count: 3, first: 900, last: last)
        }
        var status = FixedStatus.ready
        status.rejected = [
            sender("trunk carrier", "a limit is reached"), sender("trunk carrier", "a limit is reached", last: 990),
            sender("pbx office", "the callee is missing", status: 400), sender(nil, "unknown", status: 403),
            sender("trunk second", "a limit is reached", method: "OPTIONS"),
            sender("trunk third", "dropped", status: nil),
        ]
        #expect(
            status.rejectedCalls(at: 1_005) == [
                "a call of trunk carrier got 503 5 s ago: a limit is reached",
                "a call of pbx office got 400 5 s ago: the callee is missing",
            ])
        #expect(status.rejectedCalls(at: 1_600).count == 2 && status.rejectedCalls(at: 1_601).isEmpty)
    }
}
