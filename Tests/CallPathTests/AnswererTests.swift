// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("What the call path reads for the outcome: forwarding, machines that answer, session timers")
struct AnswererTests {
    private func gateway(_ rules: AnswererRules = AnswererRules()) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.answerers = rules
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    private var rules: AnswererRules {
        var rules = AnswererRules()
        rules.voicemail.users = ["voicemail", "*97", "vm-*"].map(TextPattern.init)
        rules.voicemail.hosts = [TextPattern("vm.example")]
        rules.system.headers = [
            AnswererRules.HeaderSign(name: "X-Answer", value: "queue-*"),
            AnswererRules.HeaderSign(name: "User-Agent", value: "ivr"),
            AnswererRules.HeaderSign(name: "Priority", value: "non-urgent"),
            AnswererRules.HeaderSign(name: "Session-Expires", value: "7777*"),
            AnswererRules.HeaderSign(name: "x-auth-ip", value: "192.0.2.99"),
        ]
        return rules
    }

    @Test(
        arguments: [
            ("", []),
            ("Diversion: <sip:100@192.0.2.20>;reason=no-answer\n", .forwarded),
            ("diversion : <tel:+61290000000>\n", .forwarded),
            ("History-Info: <sip:100@192.0.2.20>;index=1\n", []),
            ("History-Info: <sip:100@192.0.2.20>;index=1, <sip:200@192.0.2.20;cause=302>;index=1.1\n", .forwarded),
            ("History-Info: <sip:200@192.0.2.20?Reason=SIP%3Bcause%3D486>;index=1\n", .forwarded),
            (
                "History-Info: <sip:100@192.0.2.20>;index=1\nHistory-Info: <sip:200@192.0.2.20>;index=1.1;mp=1\n",
                .forwarded
            ),
            ("History-Info: cause\n", []),
            ("History-Info: <sip:vm-200@192.0.2.20?Reason=SIP%3Bcause%3D480>;index=1.1\n", [.forwarded, .voicemail]),
            ("History-Info: <sip:1@VM.example>;index=1.1\n", .voicemail),
        ] as [(String, CallUpdate.Marks)])
    func `an INVITE shows where it has been sent on to`(header: String, marks: CallUpdate.Marks) throws {
        let gateway = try gateway(rules)
        _ = gateway.receive(request("INVITE", extra: header), from: GatewayUnderTest.trunk)
        #expect(gateway.updates().first?.marks == marks)
    }

    @Test(
        arguments: [
            ("Contact: <sip:100@192.0.2.20>\n", []),
            ("Contact: <sip:Voicemail@192.0.2.20>\n", .voicemail),
            ("m: <sip:%2A97@192.0.2.20>;expires=5\n", .voicemail),
            ("Contact: <sip:1@192.0.2.20>\nP-Asserted-Identity: \"x\" <sip:vm-7@192.0.2.20>\n", .voicemail),
            ("Remote-Party-ID: <sip:voicemail@192.0.2.20>;party=called\n", .voicemail),
            ("x-answer: queue-sales\n", .system),
            ("X-Answer: person\n", []),
            ("User-Agent: IVR\n", .system),
            ("Priority: non-urgent\n", .system),
            ("x: 7777;refresher=uas\n", .system),  // RFC 3261 §7.3.3: a compact form means the same
            ("Session-Expires: 7777\n", .system),
            ("X-Auth-IP: 192.0.2.99\n", .system),
            ("X-Auth-Port: 192.0.2.99\n", []),
            ("Contact: <<<\n", []),
        ] as [(String, CallUpdate.Marks)])
    func `a 2xx shows the machine that sends it`(header: String, marks: CallUpdate.Marks) throws {
        let gateway = try gateway(rules)
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("200 OK", to: invite, extra: header), from: GatewayUnderTest.pbx)
        let update = gateway.updates().last
        #expect(update?.kind == .answered)
        #expect(update?.marks == marks)
    }

    @Test func `without rules nobody is taken for a machine`() throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(
            response("200 OK", to: invite, extra: "Contact: <sip:voicemail@192.0.2.20>\n"), from: GatewayUnderTest.pbx)
        #expect(gateway.updates().last?.marks == [])
    }

    @Test(
        arguments: [
            ("", 0), ("Session-Expires: 1800;refresher=uac\n", 1800), ("x: 90\n", 90), ("X : 4294967296\n", 0),
            ("Session-Expires: soon\n", 0), ("Session-Expires:\n", 0), ("Session-Expires: 600 ;refresher=uas\n", 600),
        ] as [(String, UInt32)])
    func `a 2xx has the duration of its session, RFC 4028 §4`(header: String, seconds: UInt32) throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("200 OK", to: invite, extra: header), from: GatewayUnderTest.pbx)
        #expect(gateway.updates().last?.sessionSeconds == seconds)
    }

    @Test(arguments: ["INVITE", "UPDATE"])
    func `a refresh inside the dialog names its call, RFC 4028 §10`(method: String) throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(
            response("200 OK", to: invite, extra: "Session-Expires: 600\n"), from: GatewayUnderTest.pbx)
        let call = try #require(gateway.updates().first?.call)
        let refresh = try #require(
            gateway.receive(
                request(method, toTag: ";tag=p", branch: "2", sequence: 2), from: GatewayUnderTest.trunk
            ).to(GatewayUnderTest.pbx).first)
        let before = gateway.updates().count
        _ = gateway.receive(
            response("200 OK", to: refresh, extra: "Session-Expires: 900;refresher=uac\n"), from: GatewayUnderTest.pbx)
        #expect(gateway.updates().count == before + 1)
        let update = try #require(gateway.updates().last)
        #expect(update.kind == .refreshed)
        #expect(update.sessionSeconds == 900)
        #expect(update.call == call || update.counterpart == .callIfSentByCallee(call))
    }

    @Test(arguments: ["INVITE", "UPDATE"])
    func `a refresh whose 2xx has no Session-Expires switches the timer off, RFC 4028 §7.2`(method: String) throws {
        let gateway = try gateway()
        let refresh = try #require(
            gateway.receive(request(method, toTag: ";tag=p"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
                .first)
        _ = gateway.receive(response("200 OK", to: refresh), from: GatewayUnderTest.pbx)
        let update = try #require(gateway.updates().last)
        #expect(update.kind == .refreshed)
        #expect(update.sessionSeconds == 0)
    }

    @Test(arguments: [
        ("INFO", "200 OK", "Session-Expires: 90\n"), ("OPTIONS", "200 OK", ""), ("MESSAGE", "200 OK", ""),
        // Only a 2xx says anything of the session (RFC 4028 §7.2).
        ("INVITE", "491 Request Pending", ""), ("UPDATE", "422 Session Interval Too Small", "Min-SE: 90\n"),
    ])
    func `what is no refresh says nothing of the session`(method: String, status: String, extra: String) throws {
        let gateway = try gateway()
        let asked = try #require(
            gateway.receive(request(method, toTag: ";tag=p"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
                .first)
        _ = gateway.receive(response(status, to: asked, extra: extra), from: GatewayUnderTest.pbx)
        #expect(gateway.updates().isEmpty)
    }

    @Test func `of a withheld caller neither number nor name enters a signal`() throws {
        let gateway = try gateway()
        _ = gateway.receive(request("INVITE", extra: "Privacy: id\n"), from: GatewayUnderTest.trunk)
        var words: [[UInt8]] = []
        _ = gateway.ring.read(after: 0, limit: 10) { update, texts in
            #expect(update.caller == 0)
            if let texts { words = [texts.brandName, texts.brandID, texts.subscriber, texts.carrierName] }
        }
        #expect(words.map { String(decoding: $0, as: UTF8.self) } == ["", "", "100", ""])
    }

    @Test func `a phone that goes on ringing is reported once a minute, RFC 3261 §13.3.1.1`() throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        func rings() -> Int {
            for _ in 1...5 {
                let out = gateway.receive(response("180 Ringing", to: invite), from: GatewayUnderTest.pbx)
                #expect(out.to(GatewayUnderTest.trunk).count == 1, "each goes to the carrier")
            }
            return gateway.updates().filter { $0.kind == .provisional && $0.status == 180 }.count
        }
        #expect(rings() == 1)
        _ = gateway.pass(.seconds(50))
        #expect(rings() == 1)
        for minute in 1...20 {
            _ = gateway.pass(.seconds(60))
            #expect(rings() == 1 + minute)
        }
    }
}
