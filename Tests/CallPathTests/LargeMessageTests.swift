// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import SIPCore
import Testing

/// Messages at the limits of the reader, and messages without an end.
///
/// Carriers sign calls with Identity fields of many kilobytes, in requests and in what they respond.
@Suite("No message vanishes: large, malformed and unfinished ones, RFC 3261 §7.3, §18.3, §21.4.1, §21.5.7")
struct LargeMessageTests {
    private let trunk = GatewayUnderTest.trunk
    private let pbx = GatewayUnderTest.pbx
    private let stranger = GatewayUnderTest.stranger

    private func gateway(_ limits: SIPLimits = SIPLimits()) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.messageLimits = limits
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    private func long(_ name: String, _ bytes: Int) -> String {
        "\(name): " + String(repeating: "a", count: bytes - name.utf8.count - 2) + "\n"
    }

    @Test(arguments: ["Identity", "X-Carrier-Data", "Reason"], [16_375, 40_000, 60_000])
    func `a large field goes on with the brand, both in a request and in a response`(name: String, bytes: Int) throws {
        let gateway = try gateway()
        let field = long(name, bytes)
        let invite = try #require(gateway.receive(request("INVITE", extra: field), from: trunk).to(pbx).first)
        #expect(invite.contains("Acme") && invite.contains(field.dropLast() + "\r\n"))
        for status in ["180 Ringing", "200 OK"] {
            let back = gateway.receive(response(status, to: invite, extra: field), from: pbx).to(trunk)
            #expect(back.first?.contains(field.dropLast() + "\r\n") == true)
        }
        #expect(gateway.shared.rejections.take().rejections.isEmpty)
    }

    @Test func `a response with more fields than a request may have goes on`() throws {
        let gateway = try gateway()
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        let fields = (1...400).map { "X-Field-\($0): a\n" }.joined()
        #expect(gateway.receive(response("200 OK", to: invite, extra: fields), from: pbx).to(trunk).count == 1)
    }

    /// What is above a limit, what a request gets, and the line about it.
    static let above: [(limits: SIPLimits, status: Int, line: String)] = [
        (
            SIPLimits(messageBytes: 1_300), 513,
            "bytes, the longest field is Identity with 1210 bytes, above limits.max_message (1300); raise it, or let the sender send less"
        ),
        (
            SIPLimits(headerFields: 7), 513,
            "8 header fields, the longest field is Identity with 1210 bytes, above limits.max_headers (7); raise it, or let the sender send less"
        ),
    ]

    @Test(arguments: above)
    func `a request above a limit gets its response, and the log line names field, size and limit`(
        row: (limits: SIPLimits, status: Int, line: String)
    ) throws {
        let gateway = try gateway(row.limits)
        let text = request("INVITE", extra: long("Identity", 1_208))
        let out = gateway.receive(text, from: trunk)
        #expect(out.to(pbx).isEmpty)
        let refused = try #require(out.to(trunk).first)
        #expect(refused.hasPrefix("SIP/2.0 \(row.status) ") && refused.contains("CSeq: 1 INVITE\r\n"))
        let record = try #require(gateway.shared.rejections.take().rejections.first)
        #expect(record.status == UInt16(row.status) && record.method.visible == "INVITE")
        let line = try #require(RejectionDigestText.lines(of: record).first)
        #expect(line.hasPrefix("INVITE from 203.0.113.5:5060 (trunk carrier) rejected (513): "))
        #expect(line.hasSuffix(row.line), "\(line)")
        #expect(gateway.receive(text.replacing("INVITE", with: "ACK"), from: trunk).isEmpty)
        #expect(gateway.shared.rejections.take().rejections.map(\.method.visible) == ["ACK"])
    }

    @Test func `a response above the message limit leaves a line`() throws {
        let gateway = try gateway(SIPLimits(messageBytes: 1_300))
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        #expect(
            gateway.receive(response("200 OK", to: invite, extra: long("X-Data", 1_208)), from: pbx).to(trunk).isEmpty)
        let record = try #require(gateway.shared.rejections.take().rejections.first)
        #expect(record.responseStatus == 200 && record.method.visible == "INVITE" && record.status == 0)
        #expect(
            try #require(RejectionDigestText.lines(of: record).first).contains(
                "response 200 to INVITE from 192.0.2.20:5060 (pbx office) dropped: "))
    }

    // MARK: No end of the header section

    /// A request whose bytes end behind the last line, or within it.
    @Test(arguments: ["OPTIONS", "INVITE", "BYE"])
    func `a datagram without its empty line gets 400, and a line`(method: String) throws {
        let whole = Array(request(method).replacing("\n", with: "\r\n").utf8)
        for cut in [2, 4, 6] {
            let gateway = try gateway()
            let out = gateway.receive(Array(whole.dropLast(cut)), from: trunk)
            #expect(out.to(trunk).first?.hasPrefix("SIP/2.0 400 ") == true, "\(cut)")
            let record = try #require(gateway.shared.rejections.take().rejections.first)
            #expect(record.method.visible == method && record.status == 400)
            #expect(
                try #require(RejectionDigestText.lines(of: record).first).contains(
                    "no empty line ends its header fields"))
        }
    }

    @Test func `what lost a field of the response, an ACK and a response leave a line alone`() throws {
        let ack = request("ACK")
        let cut = request("INVITE").prefix { $0 != "C" }.description + "Call-ID: c\nCSeq: 1 INV"
        let ringing = "SIP/2.0 180 Ringing\nVia: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd0\nCSeq: 7 INVITE\n"
        for (text, method) in [(String(ack.dropLast(2)), "ACK"), (cut, "INVITE"), (ringing, "INVITE")] {
            let gateway = try gateway()
            #expect(gateway.receive(text, from: trunk).isEmpty)
            let record = try #require(gateway.shared.rejections.take().rejections.first)
            #expect(record.method.visible == method && record.status == 0)
        }
    }

    // MARK: Everything else that was dropped by a counter alone

    @Test func `noise of a peer leaves a line, a keep-alive does not, and an unknown peer has its own cause`() throws {
        let gateway = try gateway()
        for bytes in [[], [13, 10], [13, 10, 13, 10], [0]] as [[UInt8]] { _ = gateway.receive(bytes, from: trunk) }
        let noise = gateway.shared.rejections.take().rejections
        #expect(noise.map(\.method.visible) == [""] && noise.first?.sender == .trunk("carrier"))
        _ = gateway.receive(Array("GET / HTTP/1.1\r\n\r\n".utf8), from: stranger)
        #expect(gateway.shared.rejections.take().rejections.map(\.cause) == [.unlisted])
    }

    /// Changes to a response of the PBX after which it has no way, and the reason of its line.
    static let lost: [(what: String, by: String, reason: String)] = [
        ("Via: SIP/2.0/UDP 192.0.2.10", "Via: SIP/2.0/UDP 192.0.2.99", "its topmost Via is not Herald's"),
        ("Content-Length: 0", "Content-Length: 9", "its body is shorter than Content-Length"),
        ("CSeq: 1 INVITE", "CSeq: 1", "its CSeq cannot be read"),
        ("CSeq: 1 INVITE", "CSeq 1 INVITE", "Bad Header Line"),
        ("CSeq: 1 INVITE", "CSeq: 1 INVITE\nX: \0", "a NUL byte is in a header line"),
    ]

    @Test(arguments: lost)
    func `a response that goes nowhere leaves its reason`(row: (what: String, by: String, reason: String)) throws {
        let gateway = try gateway()
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        let text = response("200 OK", to: invite).replacing(row.what, with: row.by)
        #expect(gateway.receive(text, from: pbx).to(trunk).isEmpty)
        let record = try #require(gateway.shared.rejections.take().rejections.first)
        #expect("\(record.phrase)" == row.reason && record.responseStatus == 200)
        #expect(try #require(RejectionDigestText.lines(of: record).first).hasSuffix("must correct its responses"))
    }

    @Test func `on a stream the header part of a message without end gets its response and a line`() throws {
        let whole = Array(request("INVITE", extra: long("Identity", 1_208)).replacing("\n", with: "\r\n").utf8)
        for (bytes, fault) in [
            (Array(whole.dropLast(2)), StreamFault.tooLong), (whole, .tooLong), (whole, .badContentLength),
        ] {
            let gateway = try gateway(SIPLimits(messageBytes: 1_300))
            var flow = Flow(source: trunk.with(port: 40_000), socket: 0, connection: 7)
            flow.fault = fault
            gateway.gateway.receive(bytes.span, by: flow, at: gateway.now)
            let out = gateway.pass(.zero)
            #expect(out.count == 1 && out.first?.connection == 7)
            #expect(gateway.shared.rejections.take().rejections.count == 1)
        }
    }
}

/// The log lines of records.
enum RejectionDigestText {
    static func lines(of record: Rejection) -> [String] {
        var digest = RejectionDigest()
        return digest.take([record], at: 1_000).map(\.text)
    }
}
