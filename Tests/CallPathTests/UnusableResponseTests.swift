// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// A PBX that answers with the gateway's Via alone, as one does that keeps the topmost Via instead of all.
@Suite("Responses without any Via below the gateway's, RFC 3261 §16.7 step 3")
struct UnusableResponseTests {
    private let trunk = GatewayUnderTest.trunk
    private let pbx = GatewayUnderTest.pbx
    private static let contact = "Contact: <sip:100@192.0.2.20:5070>\n"

    private func gateway(shards: Int = 1) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.shards = shards
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    /// The same response with the topmost Via alone.
    private func alone(_ response: String) -> String {
        var isFirst = true
        return response.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            guard line.hasPrefix("Via:") else { return true }
            defer { isFirst = false }
            return isFirst
        }.joined(separator: "\n")
    }

    @Test(arguments: ["486 Busy Here", "487 Request Terminated", "404 Not Found", "603 Decline"])
    func `a failure is acknowledged, and the caller gets 502`(status: String) throws {
        let gateway = try gateway()
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        _ = gateway.receive(response("180 Ringing", to: invite), from: pbx)
        let out = gateway.receive(alone(response(status, to: invite)), from: pbx)
        #expect(out.to(pbx).map { $0.prefix(4) } == ["ACK "])
        let failed = try #require(out.to(trunk).first)
        #expect(failed.hasPrefix("SIP/2.0 502 Bad Gateway\r\nVia: SIP/2.0/UDP 203.0.113.5:5060"))
        #expect(out.to(trunk).count == 1)
        let record = try #require(gateway.shared.rejections.take().rejections.first)
        #expect(record.source == pbx && record.sender == .pbx("office"))
        #expect("\(record.phrase)".hasPrefix("its only Via is Herald's"))
        #expect(gateway.updates().last?.status == 502)
    }

    @Test(arguments: [1, 2, 3, 7, 16])
    func `a callee that answered is acknowledged and hung up, and the call counts as failed`(shards: Int) throws {
        let gateway = try gateway(shards: shards)
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        let answer = alone(response("200 OK", to: invite, extra: Self.contact))
        let out = gateway.receive(answer, from: pbx)
        #expect(out.to(trunk).map { $0.prefix(12) } == ["SIP/2.0 502 "])
        let sent = out.to(pbx)
        try #require(sent.count == 2)
        for (text, line) in zip(sent, ["ACK sip:100@192.0.2.20:5070 SIP/2.0", "BYE sip:100@192.0.2.20:5070 SIP/2.0"]) {
            #expect(text.hasPrefix(line + "\r\nVia: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd"))
            // §12.2.1.1: the dialog as the callee knows it, with the name it was shown.
            let from = try #require(invite.split(separator: "\r\n").first { $0.hasPrefix("From: ") })
            #expect(text.contains("\r\n\(from)\r\nTo: <sip:100@192.0.2.20>;tag=p\r\n"))
            #expect(!text.contains("\r\nRoute:"))
        }
        #expect(sent[0].contains("CSeq: 1 ACK\r\n") && sent[1].contains("CSeq: 2 BYE\r\n"))
        #expect(gateway.updates().map(\.kind) == [.invite, .failed])
        let again = gateway.receive(answer, from: pbx)
        #expect(again.to(pbx).map { $0.prefix(4) } == ["ACK "] && again.to(trunk).isEmpty)
        #expect(
            gateway.receive(response("200 OK", to: sent[1]), from: pbx).isEmpty, "the response to the BYE ends here")
        var later: [OutgoingMessage] = []
        for _ in 0..<400 { later += gateway.pass(.milliseconds(100)) }
        #expect(!later.to(pbx).contains { $0.hasPrefix("BYE ") })
        for _ in 0..<60 { _ = gateway.pass(.seconds(1)) }
        #expect(gateway.transactions == 0 && gateway.shared.calls.count == 0)
    }

    @Test func `elements behind the gateway are in the Route of the BYE, and those of the caller are not`() throws {
        let gateway = try gateway()
        let caller = "Record-Route: <sip:203.0.113.99;lr>\n"
        let invite = try #require(gateway.receive(request("INVITE", extra: caller), from: trunk).to(pbx).first)
        let text = alone(response("200 OK", to: invite, extra: Self.contact)).replacing(
            "Record-Route: <sip:192.0.2.10",
            with: "Record-Route: <sip:192.0.2.31;lr>\nRecord-Route: <sip:192.0.2.32;lr>\nRecord-Route: <sip:192.0.2.10")
        let bye = try #require(gateway.receive(text, from: pbx).to(pbx).last)
        let routes = bye.split(separator: "\r\n").filter { $0.hasPrefix("Route:") }
        // §12.1.2: in reverse order.
        #expect(routes == ["Route: <sip:192.0.2.32;lr>", "Route: <sip:192.0.2.31;lr>"])
    }

    @Test func `a provisional one rings nobody, and the next response with all its Vias goes on`() throws {
        let gateway = try gateway()
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        #expect(gateway.receive(alone(response("180 Ringing", to: invite)), from: pbx).isEmpty)
        #expect(gateway.receive(alone(response("100 Trying", to: invite)), from: pbx).isEmpty)
        #expect(gateway.shared.rejections.take().rejections.map(\.responseStatus) == [180])
        let out = gateway.receive(response("200 OK", to: invite), from: pbx)
        #expect(out.to(trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
    }

    @Test func `inside a dialog the sender gets 502, and the call is not hung up`() throws {
        let gateway = try gateway()
        let again = request("INVITE", toTag: ";tag=p", branch: "re", sequence: 2)
        let sent = try #require(gateway.receive(again, from: trunk).to(pbx).first)
        let out = gateway.receive(alone(response("200 OK", to: sent, extra: Self.contact)), from: pbx)
        #expect(out.to(pbx).map { $0.prefix(4) } == ["ACK "])
        #expect(out.to(trunk).map { $0.prefix(12) } == ["SIP/2.0 502 "])
        let info = request("INFO", toTag: ";tag=p", branch: "info", sequence: 3)
        let asked = try #require(gateway.receive(info, from: trunk).to(pbx).first)
        let told = gateway.receive(alone(response("200 OK", to: asked)), from: pbx)
        #expect(told.to(trunk).map { $0.prefix(12) } == ["SIP/2.0 502 "] && told.to(pbx).isEmpty)
    }

    @Test func `without the request in memory it is dropped, and the line reports why`() throws {
        let first = try gateway()
        let invite = try #require(first.receive(request("INVITE"), from: trunk).to(pbx).first)
        let restarted = try gateway()
        #expect(restarted.receive(alone(response("200 OK", to: invite)), from: pbx).isEmpty)
        #expect(
            restarted.shared.rejections.take().rejections.map { "\($0.phrase)" }
                == ["its only Via is Herald's, and the request is not in memory"])
    }

    @Test(arguments: ["v: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK1;rport=5060;received=203.0.113.5", ","])
    func `several Vias in one line or in short form are as good`(second: String) throws {
        let gateway = try gateway()
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        let vias = invite.split(separator: "\r\n").filter { $0.hasPrefix("Via:") }
        let joined =
            second == ","
            ? "\(vias[0]), \(vias[1].dropFirst(5))" : "\(vias[0])\nX-Between: a\n\(second)"
        let text = alone(response("200 OK", to: invite)).replacing(String(vias[0]), with: joined)
        #expect(gateway.receive(text, from: pbx).to(trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
    }
}
