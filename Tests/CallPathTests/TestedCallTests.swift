// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// A test call takes the way of a carrier's call, and no account has anything of it.
@Suite("A test call")
struct TestedCallTests {
    private static let brand = E164Number("+61491570156")
    private static let caller = PeerAddress(ipv4: 0x7F00_0001, port: 40_711)

    private func gateway(_ change: (inout GatewayUnderTest.Options) -> Void = { _ in }) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        change(&options)
        return try GatewayUnderTest(numbers: [try #require(Self.brand)], options: options)
    }

    /// A request of the carrier as the caller of a test sends it.
    private func tested(_ text: String) -> String { text.replacing("203.0.113.5:5060", with: "127.0.0.1:40711") }

    /// What no account may have: updates, and counts of calls.
    private func expectNoAccount(_ gateway: GatewayUnderTest, _ place: Comment) {
        #expect(gateway.updates().isEmpty, place)
        #expect(gateway.counters.count(.callsBranded) == 0, place)
        #expect(PassThroughReason.allCases.allSatisfy { gateway.counters.count($0) == 0 }, place)
    }

    private func record(_ invite: String, as name: String) throws -> String {
        let line = try #require(invite.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") })
        return name + line.dropFirst("Record-Route".count) + "\n"
    }

    @Test func `the PBX gets the same INVITE as from the carrier, except for addresses and seals`() throws {
        let gateway = try gateway()
        let ordinary = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let other = try self.gateway()
        other.admitTest(Self.caller)
        let test = try #require(
            other.receive(tested(request("INVITE")), from: Self.caller).to(GatewayUnderTest.pbx).first)
        func comparable(_ text: String) -> [String] {
            text.split(separator: "\r\n").map(String.init).filter {
                !$0.hasPrefix("Via:") && !$0.hasPrefix("Record-Route:")
            }
        }
        #expect(comparable(test) == comparable(ordinary))
        #expect(test.contains(#""Acme \"Bank\"""#) && test.contains("Call-Info: <https://logos.example/"))
        #expect(gateway.updates().count == 1)
        expectNoAccount(other, "after the INVITE")
    }

    /// The ends that a call may have.
    enum End: CaseIterable { case callerHangsUp, pbxHangsUp, declined, cancelled, silent }

    @Test(arguments: End.allCases) func `no account has anything of it at any moment`(end: End) throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller)
        let invite = try #require(
            gateway.receive(tested(request("INVITE")), from: Self.caller).to(GatewayUnderTest.pbx).first)
        #expect(gateway.shared.calls.count == 1, "a drain waits for it")
        let route = try record(invite, as: "Route")
        let contact = "Contact: <sip:100@192.0.2.20>\n"
        switch end {
        case .callerHangsUp, .pbxHangsUp:
            for status in ["180 Ringing", "200 OK"] {
                let out = gateway.receive(response(status, to: invite, extra: contact), from: GatewayUnderTest.pbx)
                #expect(out.to(Self.caller).first?.hasPrefix("SIP/2.0 \(status)") == true)
                expectNoAccount(gateway, "after \(status)")
            }
            let bye = request("BYE", extra: route, toTag: ";tag=p", branch: "bye", sequence: 2)
            let isCaller = end == .callerHangsUp
            let out = gateway.receive(
                isCaller ? tested(bye) : pbxBye(route), from: isCaller ? Self.caller : GatewayUnderTest.pbx)
            #expect(out.to(isCaller ? GatewayUnderTest.pbx : Self.caller).first?.hasPrefix("BYE ") == true)
        case .declined:
            let out = gateway.receive(response("603 Decline", to: invite), from: GatewayUnderTest.pbx)
            #expect(out.to(Self.caller).first?.hasPrefix("SIP/2.0 603") == true)
        case .cancelled:
            _ = gateway.receive(response("180 Ringing", to: invite), from: GatewayUnderTest.pbx)
            let out = gateway.receive(tested(request("CANCEL")), from: Self.caller)
            #expect(out.to(GatewayUnderTest.pbx).first?.hasPrefix("CANCEL ") == true)
            _ = gateway.receive(response("487 Request Terminated", to: invite), from: GatewayUnderTest.pbx)
        case .silent:
            for _ in 0..<40 { _ = gateway.pass(.seconds(1)) }
        }
        expectNoAccount(gateway, "at the end")
        #expect(gateway.shared.calls.count == 0)
    }

    /// A BYE of the PBX to the caller of a test.
    private func pbxBye(_ route: String) -> String {
        fromCalledSide(request("BYE", extra: route, toTag: ";tag=p", branch: "bye", sequence: 2))
            .replacing("BYE sip:100@192.0.2.20", with: "BYE sip:+61491570156@127.0.0.1:40711")
            .replacing("Via: SIP/2.0/UDP 203.0.113.5", with: "Via: SIP/2.0/UDP 192.0.2.20")
    }

    @Test func `once the test is over the PBX's BYE gets 481, and no carrier gets it`() throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller)
        let invite = try #require(
            gateway.receive(tested(request("INVITE")), from: Self.caller).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(
            response("200 OK", to: invite, extra: "Contact: <sip:100@192.0.2.20>\n"), from: GatewayUnderTest.pbx)
        gateway.admitTest(nil)
        let out = gateway.receive(pbxBye(try record(invite, as: "Route")), from: GatewayUnderTest.pbx)
        #expect(out.to(GatewayUnderTest.pbx).map { $0.prefix(11) } == ["SIP/2.0 481"])
        #expect(out.to(GatewayUnderTest.trunk).isEmpty && out.to(Self.caller).isEmpty)
        expectNoAccount(gateway, "after the BYE")
    }

    @Test func `after a restart the call is answered, cancelled or ended, and stays without an account`() throws {
        let before = try gateway()
        before.admitTest(Self.caller)
        let invite = try #require(
            before.receive(tested(request("INVITE")), from: Self.caller).to(GatewayUnderTest.pbx).first)
        let contact = "Contact: <sip:100@192.0.2.20>\n"
        let answer = response("200 OK", to: invite, extra: contact)
        let after = try gateway()
        // The command has not opened its test again.
        #expect(after.receive(answer, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).isEmpty)
        expectNoAccount(after, "before the caller is known again")
        after.admitTest(Self.caller)
        #expect(
            after.receive(answer, from: GatewayUnderTest.pbx).to(Self.caller).first?.hasPrefix("SIP/2.0 200") == true)
        let bye = request(
            "BYE", extra: try record(invite, as: "Route"), toTag: ";tag=p", branch: "bye", sequence: 2)
        #expect(after.receive(tested(bye), from: Self.caller).to(GatewayUnderTest.pbx).first?.hasPrefix("BYE ") == true)
        let cancel = after.receive(tested(request("CANCEL")), from: Self.caller)
        #expect(cancel.to(GatewayUnderTest.pbx).first?.hasPrefix("CANCEL ") == true)
        expectNoAccount(after, "after the restart")
    }

    @Test(arguments: [
        PeerAddress(ipv4: 0x7F00_0001, port: 40_712), PeerAddress(ipv4: 0x7F00_0002, port: 40_711),
        GatewayUnderTest.stranger,
    ])
    func `another port or address is no caller of a test`(sender: PeerAddress) throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller)
        let out = gateway.receive(tested(request("INVITE")), from: sender)
        #expect(out.to(GatewayUnderTest.pbx).isEmpty)
        #expect(out.allSatisfy { String(decoding: $0.bytes.prefix(11), as: UTF8.self) == "SIP/2.0 403" })
    }

    /// Everything but a 403 to the caller, and a record that proposes no new source.
    private func expectRefused(_ out: [OutgoingMessage], _ gateway: GatewayUnderTest, _ place: Comment) {
        #expect(out.to(Self.caller).map { $0.prefix(11) } == ["SIP/2.0 403"] && out.count == 1, place)
        let records = gateway.shared.rejections.take().rejections
        #expect(records.map(\.cause) == [.testCall] && records.first?.sender == .unknown, place)
        #expect(records.first?.causeText.contains("another Call-ID") == true, place)
        var digest = RejectionDigest()
        let lines = digest.take(records, at: 100)
        #expect(lines.map(\.text).allSatisfy { !$0.contains("sources") && !$0.contains("story") }, place)
        #expect(digest.unknownCallers.summary(at: 100) == nil, "no carrier with a new address")
        #expect(gateway.updates().isEmpty && gateway.shared.calls.count == 0, place)
    }

    @Test(arguments: [
        "other@carrier.example", "story@carrier.exampl", "story@carrier.example2", "STORY@carrier.example", "story",
    ])
    func `an INVITE of the same source with another Call-ID is one of an unknown peer`(callID: String) throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller)
        let invite = tested(request("INVITE", branch: "other")).replacing("story@carrier.example", with: callID)
        expectRefused(gateway.receive(invite, from: Self.caller), gateway, "\(callID)")
        let own = gateway.receive(tested(request("INVITE")), from: Self.caller)
        #expect(own.to(GatewayUnderTest.pbx).count == 1, "the ordered call still comes through")
    }

    @Test(arguments: ["OPTIONS", "REGISTER", "MESSAGE", "BYE", "SUBSCRIBE"])
    func `other requests with another Call-ID are refused as well`(method: String) throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller)
        let text = tested(request(method, branch: "other")).replacing("story@", with: "other@")
        expectRefused(gateway.receive(text, from: Self.caller), gateway, "\(method)")
    }

    @Test func `a response with another Call-ID is dropped unless a call back is awaited`() throws {
        let text = """
            SIP/2.0 180 Ringing
            Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd0123456789abcdef
            Via: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKpbx
            From: <sip:100@192.0.2.20>;tag=b
            To: <sip:+61491570156@192.0.2.10>;tag=c
            Call-ID: other@192.0.2.20
            CSeq: 1 INVITE
            Content-Length: 0


            """
        let gateway = try gateway()
        gateway.admitTest(Self.caller)
        #expect(gateway.receive(text, from: Self.caller).isEmpty)
        #expect(gateway.shared.rejections.take().rejections.map(\.cause) == [.testCall])
        gateway.admitTest(Self.caller, callBack: try callBack())
        #expect(gateway.receive(text, from: Self.caller).to(GatewayUnderTest.pbx).count == 1)
        expectNoAccount(gateway, "a response to a call back")
    }

    @Test func `another local address is not the way of the test, as a TCP port can belong to another program`() throws
    {
        let gateway = try gateway { $0.sockets = [5060, 5062] }
        var options = GatewayUnderTest.Options()
        options.sockets = [5060, 5062]
        gateway.admitTest(Self.caller, options)
        let out = gateway.receive(tested(request("INVITE")), from: Self.caller, on: 1)
        #expect(out.to(GatewayUnderTest.pbx).isEmpty)
        #expect(out.to(Self.caller).first?.hasPrefix("SIP/2.0 403") == true)
    }

    @Test func `bytes that are no message of the test get no response`() throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller)
        let unreadable = tested(request("INVITE")).replacing("Max-Forwards: 70", with: "Max-Forwards 70")
        #expect(gateway.receive(unreadable, from: Self.caller).isEmpty)
        #expect(gateway.shared.rejections.take().rejections.map(\.sender) == [.unknown])
    }

    @Test func `a listed source stays the peer's for every other call`() throws {
        var options = GatewayUnderTest.Options()
        options.trunkSources = [PeerSource(network: Self.caller, prefixLength: 32, port: nil)]
        let gateway = try gateway { $0.trunkSources = options.trunkSources }
        gateway.admitTest(Self.caller, options)
        let invite = tested(request("INVITE", branch: "other")).replacing("story@", with: "other@")
        #expect(gateway.receive(invite, from: Self.caller).to(GatewayUnderTest.pbx).count == 1)
        #expect(gateway.updates().map(\.kind) == [.invite], "an ordinary call with its account")
    }

    @Test func `a carrier cannot have the mark: not by a copy of the INVITE, nor by the test's own cookie`() throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller)
        let invite = try #require(
            gateway.receive(tested(request("INVITE")), from: Self.caller).to(GatewayUnderTest.pbx).first)
        expectNoAccount(gateway, "the test itself")
        let copy = tested(request("INVITE", extra: try record(invite, as: "Record-Route"), branch: "copy"))
            .replacing("story@", with: "copied@")
        #expect(gateway.receive(copy, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).count == 1)
        #expect(gateway.updates().map(\.kind) == [.invite], "the carrier's call has its account")
    }

    @Test func `a PBX's call with the test's cookie is an ordinary call`() throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller)
        let invite = try #require(
            gateway.receive(tested(request("INVITE")), from: Self.caller).to(GatewayUnderTest.pbx).first)
        let call = pbxInvite(from: "100", to: "+61491570199").replacing(
            "Content-Length", with: try record(invite, as: "Route") + "Content-Length")
        let out = gateway.receive(call, from: GatewayUnderTest.pbx)
        #expect(out.to(GatewayUnderTest.trunk).count == 1 && out.to(Self.caller).isEmpty)
        #expect(gateway.updates().map(\.kind) == [.invite])
    }

    @Test(arguments: ["000", "112", "+61000", "urn:service:sos"])
    func `an emergency service gets no test call`(called: String) throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller)
        let uri = called.hasPrefix("urn:") ? called : "sip:\(called)@192.0.2.20"
        let text = tested(request("INVITE")).replacing("INVITE sip:100@192.0.2.20", with: "INVITE \(uri)")
        let out = gateway.receive(text, from: Self.caller)
        #expect(out.map { String(decoding: $0.bytes.prefix(11), as: UTF8.self) } == ["SIP/2.0 403"])
        expectNoAccount(gateway, "an emergency number")
    }

    @Test func `a gateway that drains and a trunk at its limit reject it as any call`() throws {
        let draining = try gateway()
        draining.admitTest(Self.caller)
        #expect(draining.shared.orderDrain(true))
        let refused = draining.receive(tested(request("INVITE")), from: Self.caller)
        #expect(refused.to(Self.caller).first?.hasPrefix("SIP/2.0 503") == true)
        var options = GatewayUnderTest.Options()
        options.limits.mostCalls = 0
        let full = try gateway { $0.limits.mostCalls = 0 }
        full.admitTest(Self.caller, options)
        let out = full.receive(tested(request("INVITE")), from: Self.caller)
        #expect(out.to(Self.caller).first?.hasPrefix("SIP/2.0 503") == true)
        expectNoAccount(full, "rejected")
    }

    // MARK: The call back

    private func pbxInvite(from user: String, to number: String, extra: String = "") -> String {
        """
        INVITE sip:\(number)@192.0.2.10 SIP/2.0
        Via: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKback;rport
        Max-Forwards: 70
        From: <sip:\(user)@192.0.2.20>;tag=b
        To: <sip:\(number)@192.0.2.10>
        Call-ID: back@192.0.2.20
        CSeq: 1 INVITE
        \(extra)Content-Length: 0


        """
    }

    private func callBack(_ groups: [String: String] = [:]) throws -> TestTrunk.CallBack {
        TestTrunk.CallBack(
            to: try #require(Self.brand), from: CalledParty(number: nil, user: "100"), of: nil,
            policy: ReturnPolicy(groups: groups))
    }

    @Test func `the call back of the called party comes to the test, and no carrier gets it`() throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller, callBack: try callBack())
        let out = gateway.receive(pbxInvite(from: "100", to: "+61491570156"), from: GatewayUnderTest.pbx)
        let invite = try #require(out.to(Self.caller).first)
        #expect(invite.hasPrefix("INVITE sip:+61491570156@") && out.to(GatewayUnderTest.trunk).isEmpty)
        let busy = gateway.receive(response("486 Busy Here", to: invite), from: Self.caller)
        #expect(busy.to(GatewayUnderTest.pbx).first?.hasPrefix("SIP/2.0 486") == true)
        expectNoAccount(gateway, "the call back")
        #expect(gateway.counters.count(.outboundCalls) == 0 && gateway.shared.calls.count == 0)
    }

    @Test(arguments: [
        ("101", "+61491570156", ""), ("100", "+61491570199", ""),
        ("100", "+61491570156", "Privacy: id\n"), ("anonymous", "+61491570156", ""),
    ])
    func `every other call of the PBX goes to its carrier with its account`(
        user: String, number: String, extra: String
    ) throws {
        let gateway = try gateway()
        gateway.admitTest(Self.caller, callBack: try callBack())
        let out = gateway.receive(pbxInvite(from: user, to: number, extra: extra), from: GatewayUnderTest.pbx)
        #expect(out.to(GatewayUnderTest.trunk).count == 1 && out.to(Self.caller).isEmpty)
        #expect(gateway.updates().map(\.kind) == [.invite] && gateway.counters.count(.outboundCalls) == 1)
    }

    @Test func `names of one subscriber count as one, and without a test nothing is taken`() throws {
        let gateway = try gateway()
        let groups = ["100": "desk", "+61255502000": "desk"]
        gateway.admitTest(Self.caller, callBack: try callBack(groups))
        let call = pbxInvite(from: "+61255502000", to: "+61491570156")
        #expect(gateway.receive(call, from: GatewayUnderTest.pbx).to(Self.caller).count == 1)
        gateway.admitTest(nil)
        let next = call.replacing("z9hG4bKback", with: "z9hG4bKnext").replacing("back@", with: "next@")
        #expect(gateway.receive(next, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).count == 1)
    }
}
