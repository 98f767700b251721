// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("Calls and OPTIONS while the only PBX is silent, unreachable or down")
struct AbsentPBXTests {
    private let trunk = GatewayUnderTest.trunk
    private let pbx = GatewayUnderTest.pbx

    /// A gateway with one target, probed by default as the configuration has it, and its health.
    private func gateway(
        _ change: (inout GatewayUnderTest.Options) -> Void = { _ in }
    ) throws -> (gateway: GatewayUnderTest, targetState: TargetState) {
        var rules = TargetHealthRules()
        rules.probes = false
        rules.trustsSilence = false
        let targetState = TargetState(name: "pbx office 192.0.2.20:5060", group: "pbx office", rules: rules)
        var options = GatewayUnderTest.Options()
        options.targets = [Target(targetState: targetState, address: pbx, socket: 0)]
        change(&options)
        return (try GatewayUnderTest(numbers: [], options: options), targetState)
    }

    private func pass(_ tenths: Int, _ gateway: GatewayUnderTest) -> [OutgoingMessage] {
        (0..<tenths).flatMap { _ in gateway.pass(.milliseconds(100)) }
    }

    private func options(_ branch: String) -> String {
        request("OPTIONS", branch: branch).replacing("sip:100@192.0.2.20 ", with: "sip:192.0.2.10 ")
    }

    /// The carrier's call waits for a slow PBX as long as RFC 3261 lets it (Timer B, §17.1.1.2).
    @Test(arguments: [45, 120, 310])
    func `a lone target that is slow to respond gets the call`(tenths: Int) throws {
        let (gateway, targetState) = try gateway()
        let sent = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        #expect(pass(tenths, gateway).to(trunk).isEmpty)
        let answered = gateway.receive(response("200 OK", to: sent), from: pbx)
        #expect(answered.to(trunk).first?.hasPrefix("SIP/2.0 200") == true)
        #expect(answered.to(pbx).isEmpty && targetState.isUp(at: gateway.now.milliseconds))
        #expect(gateway.updates().map(\.kind) == [.invite, .answered])
    }

    @Test func `without last_patience a lone target that stays silent loses the call after Timer B`() throws {
        let (gateway, _) = try gateway()
        _ = gateway.receive(request("INVITE"), from: trunk)
        #expect(pass(319, gateway).to(trunk).isEmpty)
        #expect(pass(2, gateway).to(trunk).first?.hasPrefix("SIP/2.0 503") == true)
    }

    @Test func `a call to a silent target fails within last_patience, with the status that leads to another server`()
        throws
    {
        let (gateway, _) = try gateway { $0.lastPatience = .seconds(4) }
        _ = gateway.receive(request("INVITE"), from: trunk)
        #expect(pass(39, gateway).to(trunk).isEmpty)
        let rejection = try #require(pass(2, gateway).to(trunk).first)
        // RFC 3263 §4.3: 503, a transport failure or a timeout; RFC 3261 §21.5.4: of this call alone.
        #expect(rejection.hasPrefix("SIP/2.0 503 Service Unavailable\r\n") && !rejection.contains("Retry-After"))
        #expect(gateway.updates().map(\.kind) == [.invite, .failed])
        #expect(gateway.updates().last?.status == 408, "the accounts say what the target did")
        #expect(gateway.shared.rejections.take().rejections.map(\.cause) == [.noTarget])
    }

    /// Behind a dispatcher, the responses of a PBX may come to another gateway of the cluster, which forwards them.
    @Test(arguments: [CallsInProgress.SiblingReport.Message.alerting, .answered, .rejected])
    func `a target whose response passed a sibling is neither silent, nor is the call rejected`(
        message: CallsInProgress.SiblingReport.Message
    ) throws {
        let (gateway, targetState) = try gateway()
        for number in 1...3 {
            let invite = request("INVITE", branch: "b\(number)").replacing("story@", with: "story\(number)@")
            #expect(!gateway.receive(invite, from: trunk).to(pbx).isEmpty)
            let call = try #require(gateway.updates().last { $0.kind == .invite }?.call)
            report(message, call, gateway)
        }
        let sent = pass(400, gateway)
        #expect(sent.to(trunk).isEmpty)
        #expect(targetState.isUp(at: gateway.now.milliseconds))
        #expect(gateway.updates().map(\.kind) == [.invite, .invite, .invite])
        #expect(gateway.shared.calls.count == (message == .rejected ? 0 : 3))
    }

    private func report(
        _ message: CallsInProgress.SiblingReport.Message, _ call: CallIdentifier, _ gateway: GatewayUnderTest,
        ago milliseconds: Int64 = 0
    ) {
        let time = gateway.now.wallMicroseconds - milliseconds * 1000
        gateway.shared.calls.leave([.init(message, of: call, at: time)])
    }

    private func ringing(_ gateway: GatewayUnderTest) throws -> (invite: String, call: CallIdentifier) {
        let invite = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        let call = try #require(gateway.updates().first?.call)
        report(.alerting, call, gateway)
        return (invite, call)
    }

    @Test func `a call that rings through a sibling can still end here, and then counts no more`() throws {
        let (gateway, _) = try gateway()
        let (invite, _) = try ringing(gateway)
        #expect(pass(100, gateway).to(trunk).isEmpty)
        let ended = gateway.receive(response("486 Busy Here", to: invite), from: pbx)
        #expect(ended.to(trunk).first?.hasPrefix("SIP/2.0 486") == true)
        #expect(ended.to(pbx).first?.hasPrefix("ACK ") == true)
        #expect(gateway.shared.calls.count == 0)
    }

    // RFC 3261 §9.1: a CANCEL leaves once a provisional response has come, and the sibling has seen one.
    @Test(arguments: [10, 100])
    func `a call that rings through a sibling is cancelled at once`(tenths: Int) throws {
        let (gateway, _) = try gateway()
        let (invite, _) = try ringing(gateway)
        _ = pass(tenths, gateway)
        let cancelled = gateway.receive(request("CANCEL"), from: trunk)
        #expect(cancelled.to(pbx).first?.hasPrefix("CANCEL ") == true)
        let ended = gateway.receive(response("487 Request Terminated", to: invite), from: pbx)
        #expect(ended.to(trunk).first?.hasPrefix("SIP/2.0 487") == true)
        #expect(gateway.shared.calls.count == 0)
    }

    @Test func `a call that rang through a sibling and whose PBX dies ends by Timer C, RFC 3261 §16.8`() throws {
        let (gateway, _) = try gateway()
        _ = try ringing(gateway)
        let sent = pass(2_300, gateway)
        #expect(sent.to(pbx).contains { $0.hasPrefix("CANCEL ") })
        #expect(sent.to(trunk).last?.hasPrefix("SIP/2.0 408") == true)
        #expect(gateway.shared.calls.count == 0)
    }

    @Test func `a call that was answered through a sibling and is over already is not rejected`() throws {
        let (gateway, targetState) = try gateway()
        _ = gateway.receive(request("INVITE"), from: trunk)
        let call = try #require(gateway.updates().first?.call)
        report(.answered, call, gateway)
        _ = pass(20, gateway)
        report(.bye, call, gateway)
        #expect(pass(400, gateway).to(trunk).isEmpty)
        #expect(targetState.isUp(at: gateway.now.milliseconds))
        #expect(gateway.updates().map(\.kind) == [.invite])
        #expect(gateway.shared.calls.count == 0)
    }

    @Test func `a report about an earlier attempt means nothing for the next one`() throws {
        let (gateway, _) = try gateway()
        _ = gateway.receive(request("INVITE"), from: trunk)
        let call = try #require(gateway.updates().first?.call)
        for message in [CallsInProgress.SiblingReport.Message.rejected, .alerting, .answered] {
            report(message, call, gateway, ago: 500)
        }
        #expect(pass(321, gateway).to(trunk).contains { $0.hasPrefix("SIP/2.0 503") })
        #expect(gateway.shared.calls.count == 0)
    }

    @Test func `a target that said 100 is waited for as long as Timer C allows`() throws {
        let (gateway, _) = try gateway()
        let sent = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        _ = gateway.receive(response("100 Trying", to: sent), from: pbx)
        #expect(pass(1_200, gateway).to(trunk).isEmpty)
        #expect(
            gateway.receive(response("200 OK", to: sent), from: pbx).to(trunk).first?.hasPrefix("SIP/2.0 200") == true)
    }

    @Test func `a request of a dialog is not given up before Timer F`() throws {
        let (gateway, _) = try gateway()
        _ = gateway.receive(request("INFO", toTag: ";tag=p", branch: "info", sequence: 2), from: trunk)
        let heard = pass(310, gateway).to(trunk)
        #expect(heard.allSatisfy { $0.hasPrefix("SIP/2.0 100 ") }, "RFC 4320 §4.1")
    }

    @Test func `a PBX that rings after its call was given up is cancelled, and one that answers is hung up`() throws {
        let (gateway, _) = try gateway { $0.lastPatience = .seconds(4) }
        let sent = try #require(gateway.receive(request("INVITE"), from: trunk).to(pbx).first)
        #expect(pass(41, gateway).to(trunk).contains { $0.hasPrefix("SIP/2.0 503") })
        let late = gateway.receive(response("180 Ringing", to: sent), from: pbx)
        #expect(late.to(trunk).isEmpty)
        #expect(late.to(pbx).first?.hasPrefix("CANCEL ") == true, "RFC 3261 §16.7 step 10")
        let ended = gateway.receive(response("487 Request Terminated", to: sent), from: pbx)
        #expect(ended.to(pbx).first?.hasPrefix("ACK ") == true && ended.to(trunk).isEmpty)
        let other = try #require(
            gateway.receive(request("INVITE", branch: "2").replacing("story@", with: "other@"), from: trunk).to(pbx)
                .first)
        #expect(pass(41, gateway).to(trunk).contains { $0.hasPrefix("SIP/2.0 503") })
        let contact = "Contact: <sip:100@192.0.2.20:5070;x=y>\n"
        let answered = gateway.receive(response("200 OK", to: other, extra: contact), from: pbx)
        #expect(answered.to(trunk).isEmpty, "an ordinary caller drops it")
        let (ack, bye) = (answered.to(pbx).first ?? "", answered.to(pbx).last ?? "")
        #expect(ack.hasPrefix("ACK sip:100@192.0.2.20:5070;x=y SIP/2.0\r\n") && ack.contains("CSeq: 1 ACK\r\n"))
        #expect(bye.hasPrefix("BYE sip:100@192.0.2.20:5070;x=y SIP/2.0\r\n") && bye.contains("CSeq: 2 BYE\r\n"))
        let taken = gateway.shared.rejections.take().rejections.filter { $0.cause == .tooLate }
        #expect(taken.map(\.responseStatus) == [200])
        // §13.2.2.4: each repeated 2xx gets an ACK; the BYE has retransmissions of its own (§17.1.2.2).
        let again = gateway.receive(response("200 OK", to: other, extra: contact), from: pbx)
        #expect(again.to(pbx).map { $0.prefix(4) } == ["ACK "] && again.to(trunk).isEmpty)
        #expect(pass(6, gateway).to(pbx).contains { $0.hasPrefix("BYE ") })
        #expect(gateway.receive(response("200 OK", to: bye), from: pbx).isEmpty)
        #expect(!pass(100, gateway).to(pbx).contains { $0.hasPrefix("BYE ") })
        #expect(gateway.updates().allSatisfy { $0.kind != .answered })
    }

    @Test func `an INVITE that comes back as undeliverable fails at once, RFC 3261 §18.4`() throws {
        let (gateway, targetState) = try gateway()
        for number in 1...2 {
            let text = request("INVITE", branch: "\(number)").replacing("story@", with: "call\(number)@")
            let sent = try #require(gateway.receive(text, from: trunk).first { $0.destination == pbx })
            gateway.gateway.cameBack(Array(sent.bytes.prefix(520)).span, at: gateway.now)
            let out = gateway.pass(.zero)
            #expect(out.to(trunk).first?.hasPrefix("SIP/2.0 503 ") == true)
        }
        #expect(targetState.state.state == .down)
    }

    @Test func `a message that anybody could have made up is not a target's`() throws {
        let (gateway, targetState) = try gateway()
        let sent = try #require(gateway.receive(request("INVITE"), from: trunk).first { $0.destination == pbx })
        let text = String(decoding: sent.bytes, as: UTF8.self)
        let branch = try #require(text.firstMatch(of: /branch=(z9hG4bKhd[0-9a-f]{16})/)).1
        for forged in [
            String(text.prefix(8)),  // RFC 792: no more need come back
            text.replacing(branch, with: "z9hG4bKhd0123456789abcdef"),
            text.replacing("INVITE sip", with: "CANCEL sip"), text.replacing("INVITE sip", with: "ACK sip"),
            "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP x;branch=\(branch)\r\n",
            "INVITE sip:a;branch=\(branch) SIP/2.0\r\nVia: SIP/2.0/UDP x;branch=z9hG4bKx\r\n", "",
        ] {
            gateway.gateway.cameBack(Array(forged.utf8).span, at: gateway.now)
            #expect(gateway.pass(.zero).to(trunk).isEmpty, "\(forged)")
        }
        #expect(targetState.state.state == .up)
    }

    @Test func `a carrier's OPTIONS get 503 while no target of its PBX is up, and 200 when one is`() throws {
        let (gateway, targetState) = try gateway()
        #expect(gateway.receive(options("1"), from: trunk).to(trunk).first?.hasPrefix("SIP/2.0 200") == true)
        for _ in 0..<3 { targetState.record(.probeRefused(status: 503), at: gateway.now.milliseconds) }
        let refused = try #require(gateway.receive(options("2"), from: trunk).to(trunk).first)
        #expect(refused.hasPrefix("SIP/2.0 503 ") && !refused.contains("Retry-After"))
        #expect(gateway.receive(options("3"), from: pbx).to(pbx).first?.hasPrefix("SIP/2.0 200") == true)
        let problem = try #require(gateway.shared.settings.load().topology.pbxProblem(at: gateway.now.milliseconds))
        #expect(problem == "no target of pbx office is up: calls are rejected with 503 until one responds")
        _ = gateway.pass(.seconds(120))
        #expect(gateway.receive(options("4"), from: trunk).to(trunk).first?.hasPrefix("SIP/2.0 503") == true)
        for _ in 0..<2 { targetState.record(.probeSucceeded, at: gateway.now.milliseconds) }
        #expect(gateway.receive(options("5"), from: trunk).to(trunk).first?.hasPrefix("SIP/2.0 200") == true)
        #expect(gateway.shared.settings.load().topology.pbxProblem(at: gateway.now.milliseconds) == nil)
    }

    @Test func `OPTIONS may speak of the gateway alone`() throws {
        let (gateway, targetState) = try gateway { $0.reportsPBX = false }
        for _ in 0..<3 { targetState.record(.probeRefused(status: 503), at: gateway.now.milliseconds) }
        #expect(gateway.receive(options("1"), from: trunk).to(trunk).first?.hasPrefix("SIP/2.0 200") == true)
    }

    @Test func `in a full table new calls get 503, and what belongs to calls goes on without memory, RFC 3261 §16.11`()
        throws
    {
        let (gateway, _) = try gateway { $0.mostTransactions = 2 }
        func call(_ number: Int) -> String {
            request("INVITE", branch: "\(number)").replacing("story@", with: "call\(number)@")
        }
        for number in 1...2 { #expect(gateway.receive(call(number), from: trunk).to(pbx).count == 1) }
        #expect(gateway.receive(call(3), from: trunk).to(trunk).first?.hasPrefix("SIP/2.0 503") == true)
        for number in 1...6 {
            let info = request("INFO", toTag: ";tag=p", branch: "info\(number)", sequence: number)
            let out = gateway.receive(info, from: trunk)
            #expect(out.to(pbx).count == 1 && out.to(trunk).isEmpty, "\(number)")
        }
        let bye = request("BYE", toTag: ";tag=p", branch: "bye", sequence: 9).replacing("story@", with: "call1@")
        let sent = try #require(gateway.receive(bye, from: trunk).to(pbx).first)
        #expect(gateway.updates().last?.kind == .bye)
        #expect(
            gateway.receive(response("200 OK", to: sent), from: pbx).to(trunk).first?.hasPrefix("SIP/2.0 200") == true)
        let emergency = request("INVITE", extra: "Priority: psap-callback\n", branch: "e").replacing(
            "story@", with: "e@")
        #expect(gateway.receive(emergency, from: trunk).to(pbx).count == 1)
        #expect(gateway.transactions <= 4)
    }
}
