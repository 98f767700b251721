// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// A carrier that gets no response tries the next gateway after some seconds (RFC 3263 §4.3).
///
/// Kamailio's dispatcher did so with a gateway under SIGSTOP, which then rang the phone a second time.
@Suite("INVITEs that waited while the process did not run")
struct LateInviteTests {
    private let trunk = GatewayUnderTest.trunk
    private let pbx = GatewayUnderTest.pbx

    @Test func `a new call gets no response, its repetition goes on`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        gateway.gateway.followsPause = true
        #expect(gateway.receive(request("INVITE"), from: trunk).isEmpty)
        #expect(gateway.counters.count(.lateInvites) == 1)
        #expect(gateway.shared.calls.count == 0)
        #expect(gateway.updates().isEmpty)
        gateway.gateway.followsPause = false
        // RFC 3261 §17.1.1.2, timer A.
        #expect(gateway.receive(request("INVITE"), from: trunk).to(pbx).count == 1)
    }

    @Test func `the log has the sender, the cause and the remedy`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        gateway.gateway.followsPause = true
        _ = gateway.receive(request("INVITE"), from: trunk)
        let record = try #require(gateway.shared.rejections.take().rejections.first)
        #expect(record.status == 0 && record.cause == .pause && record.sender == .trunk("carrier"))
        #expect(record.causeText.contains("did not run"))
    }

    @Test(arguments: ["BYE", "INFO", "INVITE", "CANCEL", "ACK"])
    func `messages of a call in progress go on`(method: String) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let forwarded = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        if method != "CANCEL" { _ = gateway.receive(response("200 OK", to: forwarded), from: pbx) }
        gateway.gateway.followsPause = true
        let later =
            method == "CANCEL" ? request(method) : request(method, toTag: ";tag=p", branch: "later", sequence: 2)
        let sent = gateway.receive(later, from: trunk)
        // RFC 3261 §9.1: before a provisional response the CANCEL has its 200 alone.
        #expect(sent.to(pbx).count == (method == "CANCEL" ? 0 : 1))
        #expect(gateway.counters.count(.lateInvites) == 0)
    }

    @Test func `a call over a stream goes on, because nobody repeats it`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        gateway.gateway.followsPause = true
        #expect(gateway.receive(request("INVITE"), from: trunk, connection: 1).to(pbx).count == 1)
    }

    @Test func `a repetition of a known call is absorbed as ever`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        _ = gateway.receive(request("INVITE"), from: trunk)
        gateway.gateway.followsPause = true
        _ = gateway.receive(request("INVITE"), from: trunk)
        #expect(gateway.counters.count(.lateInvites) == 0)
        #expect(gateway.counters.count(.retransmissionsAbsorbed) == 1)
    }
}
