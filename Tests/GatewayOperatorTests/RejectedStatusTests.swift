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
}
