// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("What the call path leaves of rejected messages")
struct RejectionRecordsTests {
    private let trunk = GatewayUnderTest.trunk
    private let stranger = GatewayUnderTest.stranger

    /// The one record there is after a message.
    private func record(
        _ text: String, from source: PeerAddress, _ change: (inout GatewayUnderTest.Options) -> Void = { _ in }
    ) throws -> Rejection {
        var options = GatewayUnderTest.Options()
        change(&options)
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        _ = gateway.receive(text, from: source)
        let taken = gateway.shared.rejections.take()
        #expect(taken.rejections.count == 1 && taken.leftOut == 0)
        return try #require(taken.rejections.first)
    }

    @Test func `an INVITE of an unlisted address leaves address, transport, method and status`() throws {
        let record = try record(request("INVITE"), from: stranger)
        #expect(record.source == stranger && record.transport == .udp)
        #expect(record.method.visible == "INVITE")
        #expect(record.status == 403 && record.cause == .unlisted && record.sender == .unknown)
        #expect(record.count == 1 && record.first == record.last && record.first > 1_700_000_000_000_000)
    }

    @Test func `a response of an unlisted address leaves its status and method`() throws {
        // A PBX with two addresses that responds from the other one.
        let text =
            "SIP/2.0 180 Ringing\nVia: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd0\nFrom: <sip:a@a.example>;tag=a\n"
            + "To: <sip:b@b.example>;tag=b\nCall-ID: c@a.example\nCSeq: 7 INVITE\nContent-Length: 0\n\n"
        let record = try record(text, from: stranger)
        #expect(record.responseStatus == 180 && record.method.visible == "INVITE")
        #expect(record.status == 0 && record.cause == .unlisted)
    }

    @Test func `the ACK of a 403 leaves nothing`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        _ = gateway.receive(request("ACK"), from: stranger)
        #expect(gateway.shared.rejections.take().rejections.isEmpty)
    }

    @Test func `a known scanner differs from other unknown senders`() throws {
        let record = try record(request("REGISTER", extra: "User-Agent: friendly-scanner\n"), from: stranger)
        #expect(record.sender == .scanner && record.status == 0)
    }

    /// Requests of the trunk that break a rule, and the words kept of it.
    static let broken: [(what: String, by: String, status: UInt16, phrase: String, detail: String)] = [
        ("Max-Forwards: 70", "Max-Forwards: 0", 483, "Too Many Hops", ""),  // RFC 3261 §16.3 step 3
        ("Max-Forwards: 70", "Max-Forwards: x", 400, "Bad Max-Forwards", ""),
        ("Max-Forwards: 70", "Proxy-Require: foo, b\u{1B}r", 420, "Bad Extension", "foo, b\\x1Br"),  // §16.3 step 5
        ("INVITE sip:100@192.0.2.20", "INVITE callto:+61491570156", 416, "Unsupported URI Scheme", "callto"),  // step 2
        ("<sip:+61491570156@carrier.example>;tag=a", "sip:+61 491 570 156@x;tag=a", 400, "Bad From", ""),
        ("CSeq: 1 INVITE", "CSeq: 1 BYE", 400, "CSeq Method Mismatch", ""),  // §8.1.1.5
    ]

    @Test(arguments: broken)
    func `a broken rule leaves the peer and the header, and no number`(
        row: (what: String, by: String, status: UInt16, phrase: String, detail: String)
    ) throws {
        let record = try record(request("INVITE").replacing(row.what, with: row.by), from: trunk)
        #expect(record.sender == .trunk("carrier") && record.cause == .brokenRule)
        #expect(record.status == row.status && "\(record.phrase)" == row.phrase)
        #expect(record.detail.visible == row.detail)
        #expect(!record.causeText.contains("491"))
    }

    @Test func `a call above the trunk's limits leaves the limit`() throws {
        var options = GatewayUnderTest.Options()
        options.limits = .init(callsPerSecond: 0.001, burst: 1)
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        for branch in ["1", "2"] { _ = gateway.receive(request("INVITE", branch: branch), from: trunk) }
        let rate = try #require(gateway.shared.rejections.take().rejections.first)
        #expect(rate.status == 503 && rate.cause == .rate)
        let number = try record(request("INVITE"), from: trunk) { $0.limits = .init(mostCalls: 0) }
        #expect(number.cause == .number)
    }

    @Test func `a full table of transactions is the cause of a 503`() throws {
        var options = GatewayUnderTest.Options()
        options.mostTransactions = 1
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        for branch in ["1", "2"] {
            _ = gateway.receive(
                request("INVITE", branch: branch).replacing("story@", with: "\(branch)@"), from: trunk)
        }
        let record = try #require(gateway.shared.rejections.take().rejections.first)
        #expect(record.status == 503 && record.cause == .transactions && record.sender == .trunk("carrier"))
    }

    @Test func `a flood of one address stays one record`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        for port in 1...5_000 as ClosedRange<UInt16> {
            _ = gateway.receive(request("REGISTER", branch: "\(port)"), from: stranger.with(port: port))
        }
        let taken = gateway.shared.rejections.take()
        #expect(taken.rejections.map(\.count) == [5_000] && taken.leftOut == 0)
        #expect(gateway.shared.rejections.take().rejections.isEmpty)
    }

    @Test func `a flood of many addresses takes no more than the table, and the rest is counted`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        for host in 0..<20_000 as Range<UInt32> {
            _ = gateway.receive(request("REGISTER"), from: PeerAddress(ipv4: 0x0A00_0000 + host, port: 5060))
        }
        let taken = gateway.shared.rejections.take()
        #expect(taken.rejections.count <= 256 && taken.rejections.count > 200)
        #expect(taken.rejections.reduce(0) { $0 + $1.count } + taken.leftOut == 20_000)
    }
}
