// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import SIPCore
import Testing

@testable import GatewayOperator

@Suite("The caller of a test call, by RFC 3261 and the flows of RFC 3665")
struct TestCallMachineTests {
    private static let plan = TestCallPlan(
        trunk: "carrier", isTrusted: true, policy: "standard", pbx: "office", from: "+61255501001",
        brand: "Harbour Dental", to: "2001", returnsAnswered: false, host: "127.0.0.1", port: 15_070)

    /// A caller and the messages that it gets, by a clock of its own.
    private struct Call {
        var machine: TestCallMachine
        private(set) var now: UInt64 = 1_000_000
        private(set) var invite = ""

        init(_ change: (inout TestCallMachine.Times) -> Void = { _ in }, attestation: Attestation = .none) {
            var times = TestCallMachine.Times(ring: 10_000, talk: 2_000)
            change(&times)
            let messages = TestCallMessages(
                TestCallMachineTests.plan, port: 40_711, mediaPort: 40_712, attestation: attestation,
                token: "abcdefghijkmnpqr")
            machine = TestCallMachine(messages, times, branch: "zyxwv")
            invite = machine.begin(at: now).joined()
        }

        mutating func pass(_ milliseconds: UInt64) -> [String] {
            var out: [String] = []
            for _ in 0..<(milliseconds / 50) {
                now += 50
                out += machine.tick(at: now)
            }
            return out
        }

        mutating func receive(_ text: String) -> [String] {
            machine.receive(Array(text.replacing("\n", with: "\r\n").utf8), at: now)
        }

        /// A response of the PBX as the gateway forwards it.
        mutating func respond(_ status: String, to method: String = "INVITE", extra: String = "") -> [String] {
            receive(response(status, method, extra: extra))
        }

        func response(_ status: String, _ method: String, extra: String = "") -> String {
            """
            SIP/2.0 \(status)
            Via: SIP/2.0/UDP 127.0.0.1:40711;branch=z9hG4bKzyxwvi;rport=40711;received=127.0.0.1
            From: "Herald test call" <sip:+61255501001@127.0.0.1;user=phone>;tag=htabcdefgh
            To: <sip:2001@127.0.0.1:15070>;tag=p
            Call-ID: herald-test-abcdefghijkmnpqr
            CSeq: \(method == "BYE" ? 2 : 1) \(method)
            \(extra)Content-Length: 0


            """
        }

        /// A request of the PBX within the call.
        mutating func request(_ method: String, callID: String = "herald-test-abcdefghijkmnpqr") -> [String] {
            let tag = callID.hasPrefix("herald") ? ";tag=htabcdefgh" : ""
            return receive(
                """
                \(method) sip:+61255501001@127.0.0.1:40711 SIP/2.0
                Via: SIP/2.0/UDP 127.0.0.1:15070;branch=z9hG4bKpbx\(method)
                v: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKfar
                From: <sip:2001@192.0.2.20>;tag=p
                To: <sip:+61255501001@127.0.0.1>\(tag)
                Call-ID: \(callID)
                CSeq: 9 \(method)
                Max-Forwards: 69
                Content-Length: 0


                """)
        }
    }

    private static let dialog = """
        Record-Route: <sip:192.0.2.10:5060;lr;hc=a>
        Record-Route: <sip:127.0.0.1:15070;lr;hc=a>
        Contact: <sip:2001@192.0.2.20:5060;x=1>

        """

    @Test func `the INVITE is a carrier's: no hold, no reliable provisional responses, one Via`() throws {
        let invite = Call(attestation: .b).invite
        let message = try SIPMessage.index(Array(invite.utf8).span, limits: SIPLimits())
        #expect(message.method == .invite && !message.hasSecondVia)
        let body = try #require(invite.components(separatedBy: "\r\n\r\n").last)
        #expect(message.contentLength == body.utf8.count)
        #expect(invite.hasPrefix("INVITE sip:2001@127.0.0.1:15070 SIP/2.0\r\n"))
        #expect(invite.contains("P-Asserted-Identity: \"Herald test call\" <sip:+61255501001@127.0.0.1;user=phone>"))
        #expect(invite.contains("\r\nP-Attestation-Indicator: B\r\n"))
        // A first offer on hold is rejected with 488 by some PBXs, and a held one plays music at the phone.
        for word in ["100rel", "Require", "0.0.0.0", "sendonly", "inactive", "recvonly"] {
            #expect(!invite.contains(word), "\(word)")
        }
        #expect(body.contains("c=IN IP4 127.0.0.1\r\n") && body.contains("m=audio 40712 RTP/AVP 8 0 101\r\n"))
        #expect(Call(attestation: .failed).invite.contains("verstat=TN-Validation-Failed@127.0.0.1"))
    }

    @Test func `an answered call has an ACK by its route, and a BYE after the talk, RFC 3665 §3.2`() {
        var call = Call()
        #expect(call.respond("100 Trying").isEmpty && call.respond("180 Ringing").isEmpty)
        #expect(call.pass(1_000).isEmpty)
        let ack = call.respond("200 OK", extra: Self.dialog)
        #expect(ack.count == 1 && ack[0].hasPrefix("ACK sip:2001@192.0.2.20:5060;x=1 SIP/2.0\r\n"))
        let routes = ack[0].components(separatedBy: "\r\n").filter { $0.hasPrefix("Route: ") }
        #expect(routes == ["Route: <sip:127.0.0.1:15070;lr;hc=a>", "Route: <sip:192.0.2.10:5060;lr;hc=a>"])
        #expect(ack[0].contains("To: <sip:2001@127.0.0.1:15070>;tag=p\r\n") && ack[0].contains("CSeq: 1 ACK\r\n"))
        #expect(call.respond("200 OK", extra: Self.dialog) == ack, "a repeated 2xx gets the same ACK")
        let bye = call.pass(2_100)
        #expect(bye.first?.hasPrefix("BYE sip:2001@192.0.2.20:5060;x=1 SIP/2.0\r\n") == true && bye.count == 1)
        #expect(call.pass(500) == bye, "it is repeated, RFC 3261 §17.1.2.2")
        #expect(call.respond("200 OK", to: "BYE").isEmpty && call.machine.isOver)
        let result = call.machine.result
        #expect(result.outcome == .answered && result.answeredAfter == 1_000 && result.talked == 2_000)
    }

    @Test func `a missed call ends with a CANCEL of the INVITE's branch, RFC 3665 §3.8`() {
        var call = Call()
        _ = call.respond("100 Trying")
        _ = call.pass(3_000)
        _ = call.respond("180 Ringing")
        #expect(call.pass(9_900).isEmpty)
        let cancel = call.pass(200)
        #expect(cancel.first?.hasPrefix("CANCEL sip:2001@127.0.0.1:15070 SIP/2.0\r\n") == true)
        #expect(cancel.first?.contains("branch=z9hG4bKzyxwvi;rport\r\n") == true)
        #expect(cancel.first?.contains("CSeq: 1 CANCEL\r\n") == true)
        #expect(call.respond("200 OK", to: "CANCEL").isEmpty && !call.machine.isOver)
        let ack = call.respond("487 Request Terminated")
        #expect(ack.first?.hasPrefix("ACK sip:2001@127.0.0.1:15070") == true && call.machine.isOver)
        #expect(ack.first?.contains("branch=z9hG4bKzyxwvi;rport") == true)
        #expect(call.machine.result.outcome == .missed && call.machine.result.ringAfter == 3_000)
    }

    @Test func `a CANCEL waits for a provisional response, RFC 3261 §9.1`() {
        var call = Call()
        #expect(call.machine.interrupt("interrupted", at: call.now).isEmpty)
        #expect(call.respond("100 Trying").first?.hasPrefix("CANCEL ") == true)
        #expect(call.respond("180 Ringing").isEmpty, "one CANCEL")
    }

    @Test func `a 2xx that crosses the CANCEL is acknowledged and hung up, RFC 3261 §9.1`() {
        var call = Call()
        _ = call.respond("180 Ringing")
        _ = call.machine.interrupt("interrupted", at: call.now)
        let out = call.respond("200 OK", extra: Self.dialog)
        #expect(out.map { $0.prefix(4) } == ["ACK ", "BYE "])
        _ = call.respond("200 OK", to: "BYE")
        #expect(call.machine.isOver)
    }

    @Test(
        arguments: [
            ("486 Busy Here", true, "", CallOutcome.rejected), ("486 Busy Here", false, "", .busy),
            ("603 Decline", true, "", .rejected), ("480 Temporarily Unavailable", true, "", .missed),
            // Asterisk: a declined call is 403 with cause 21, and one that nobody takes 603 with cause 16.
            ("403 Forbidden", true, "Reason: Q.850;cause=21\n", .rejected),
            ("603 Decline", true, "Reason: Q.850;cause=16\n", .missed),
            ("404 Not Found", false, "", .failed), ("503 Service Unavailable", false, "", .failed),
            ("401 Unauthorized", false, "WWW-Authenticate: Digest realm=\"x\"\n", .failed),
            ("302 Moved Temporarily", false, "Contact: <sip:3000@192.0.2.20>\n", .failed),
            ("608 Rejected", true, "", .blocked),
        ] as [(String, Bool, String, CallOutcome)])
    func `each final response is acknowledged, and its outcome is that of the ledger`(
        status: String, rings: Bool, extra: String, outcome: CallOutcome
    ) {
        var call = Call()
        if rings { _ = call.respond("180 Ringing") }
        #expect(call.respond(status, extra: extra).first?.hasPrefix("ACK ") == true)
        #expect(call.machine.isOver && call.machine.result.outcome == outcome)
        #expect(call.machine.result.response == status)
        #expect(call.respond(status, extra: extra).first?.hasPrefix("ACK ") == true, "a repeated one as well")
    }

    @Test func `an INVITE without any response is repeated for 32 seconds, RFC 3261 §17.1.1.2`() {
        var call = Call()
        let repeated = call.pass(33_000)
        #expect(repeated.allSatisfy { $0 == call.invite } && repeated.count == 6)
        #expect(call.machine.isOver && call.machine.result.isSilent && call.machine.result.status == nil)
    }

    @Test func `a PBX that never rings is cancelled after 34 seconds`() {
        var call = Call()
        _ = call.respond("100 Trying")
        #expect(call.pass(33_900).isEmpty)
        #expect(call.pass(200).first?.hasPrefix("CANCEL ") == true)
    }

    @Test(arguments: [
        ("INVITE", "200 OK", true), ("UPDATE", "200 OK", false), ("INFO", "200 OK", false),
        ("OPTIONS", "200 OK", false),
        ("NOTIFY", "200 OK", false), ("REFER", "405 Method Not Allowed", false),
        ("PRACK", "405 Method Not Allowed", false),
    ])
    func `requests of the PBX in the call get a response`(method: String, status: String, hasSession: Bool) {
        var call = Call()
        _ = call.respond("200 OK", extra: Self.dialog)
        let out = call.request(method)
        #expect(out.count == 1 && out[0].hasPrefix("SIP/2.0 \(status)\r\n"))
        #expect(out[0].components(separatedBy: "\r\n").filter { $0.hasPrefix("Via:") || $0.hasPrefix("v:") }.count == 2)
        #expect(out[0].contains("CSeq: 9 \(method)\r\n") && out[0].contains("m=audio") == hasSession)
        // RFC 3261 §8.2.1: a 405 has the methods that are taken.
        let allowed = out[0].components(separatedBy: "\r\n").first { $0.hasPrefix("Allow: ") }
        #expect((allowed != nil) == status.hasPrefix("405") && allowed?.contains(method) != true)
        #expect(call.request("ACK").isEmpty)
    }

    @Test(arguments: ["CANCEL", "BYE"])
    func `a gateway that restarts rejects the end of the call, and gets it again`(method: String) {
        var call = Call()
        _ = call.respond("180 Ringing")
        if method == "BYE" { _ = call.respond("200 OK", extra: Self.dialog) }
        call.machine.isAdmitted = false
        let end = call.machine.interrupt("the gateway went away", at: call.now)
        #expect(end.first?.hasPrefix("\(method) ") == true)
        #expect(call.respond("403 Forbidden", to: method).isEmpty && !call.machine.isOver)
        #expect(call.pass(500) == end)
        call.machine.isAdmitted = true
        #expect(call.pass(1_000) == end)
        _ = call.respond("200 OK", to: method)
        if method == "CANCEL" { _ = call.respond("487 Request Terminated") }
        #expect(call.machine.isOver && call.pass(40_000).isEmpty)
    }

    @Test func `a PBX that hangs up ends the call`() {
        var call = Call()
        _ = call.respond("200 OK", extra: Self.dialog)
        _ = call.pass(500)
        #expect(call.request("BYE").first?.hasPrefix("SIP/2.0 200 OK") == true)
        #expect(call.machine.isOver && call.machine.result.wasEndedByPBX && call.machine.result.talked == 500)
    }

    // MARK: The call back

    @Test func `after a missed call the call back gets 486 and is in the result`() {
        var call = Call { $0.wait = 60_000 }
        _ = call.respond("180 Ringing")
        #expect(call.request("INVITE", callID: "back@192.0.2.20").first?.hasPrefix("SIP/2.0 486") == true, "too early")
        _ = call.respond("480 Temporarily Unavailable")
        #expect(!call.machine.isOver && call.machine.result.callBack == nil)
        _ = call.pass(5_000)
        let busy = call.request("INVITE", callID: "back@192.0.2.20")
        #expect(busy.first?.hasPrefix("SIP/2.0 486 Busy Here\r\n") == true && call.machine.isOver)
        #expect(busy.first?.contains("To: <sip:+61255501001@127.0.0.1>;tag=htabcdefgh\r\n") == true)
        #expect(call.machine.result.callBack?.from == "<sip:2001@192.0.2.20>;tag=p")
        #expect(call.request("ACK", callID: "back@192.0.2.20").isEmpty)
    }

    @Test(arguments: [("200 OK", false, true), ("200 OK", true, false), ("404 Not Found", true, true)])
    func `a call back is awaited after a call that it can return`(status: String, answeredToo: Bool, isOver: Bool) {
        var call = Call {
            $0.wait = 60_000
            $0.awaitsAfterAnswer = answeredToo
        }
        _ = call.respond(status, extra: Self.dialog)
        if status.hasPrefix("200") { _ = call.request("BYE") }
        #expect(call.machine.isOver == isOver)
        _ = call.pass(61_000)
        #expect(call.machine.isOver)
    }

    // MARK: Interruptions and hostile input

    @Test func `an interruption ends each phase as it must`() {
        var talking = Call()
        _ = talking.respond("200 OK", extra: Self.dialog)
        #expect(talking.machine.interrupt("interrupted", at: talking.now).first?.hasPrefix("BYE ") == true)
        var waiting = Call { $0.wait = 60_000 }
        _ = waiting.respond("180 Ringing")
        _ = waiting.respond("486 Busy Here")
        #expect(waiting.machine.interrupt("the gateway drains", at: waiting.now).isEmpty && waiting.machine.isOver)
        #expect(waiting.machine.result.interruption == "the gateway drains")
        #expect(waiting.machine.interrupt("again", at: waiting.now).isEmpty)
    }

    @Test(arguments: [
        "", "\n\n", "SIP/2.0 200 OK\n\n", "garbage", "SIP/2.0 999999999999 x\nCall-ID: a\nCSeq: 1 INVITE\n\n",
        "BYE sip:x SIP/2.0\nCall-ID: herald-test-abcdefghijkmnpqr\nCSeq: 1\n\n",
    ])
    func `what cannot be read changes nothing`(text: String) {
        var call = Call()
        #expect(call.receive(text).isEmpty && !call.machine.isOver)
    }

    @Test func `responses of other calls and transactions change nothing`() {
        var call = Call()
        let answer = call.response("200 OK", "INVITE", extra: Self.dialog)
        for (old, new) in [
            ("herald-test-abcdefghijkmnpqr", "herald-test-other"), ("tag=htabcdefgh", "tag=other"),
            ("CSeq: 1 INVITE", "CSeq: 7 INVITE"), ("CSeq: 1 INVITE", "CSeq: 1 OPTIONS"),
        ] {
            #expect(call.receive(answer.replacing(old, with: new)).isEmpty, "\(new)")
        }
        #expect(call.machine.result.answeredAfter == nil)
    }

    @Test(arguments: [
        ("2001", true), ("+61255502000", true), ("front.desk_1*", true), ("", false), ("2001\r\nX: y", false),
        ("a@b", false), ("2001;x=y", false), ("2001?Replaces=x", false), (String(repeating: "1", count: 65), false),
        ("20 01", false), ("20%30", false), ("<x>", false), ("é", false),
    ])
    func `the called number has no character that means something in a URI`(user: String, isGood: Bool) {
        #expect(TestCallOrder.isUser(user) == isGood)
        #expect((TestCallWish(to: user).problem == nil) == isGood)
    }

    @Test func `by TCP the messages name it, and nothing is repeated`() {
        var plan = Self.plan
        plan.transport = .tcp
        let messages = TestCallMessages(
            plan, port: 40_711, mediaPort: 40_712, attestation: .none, token: "abcdefghijkmnpqr")
        var machine = TestCallMachine(messages, TestCallMachine.Times(), branch: "zyxwv")
        let invite = machine.begin(at: 0).joined()
        #expect(invite.contains("Via: SIP/2.0/TCP 127.0.0.1:40711;branch=z9hG4bKzyxwvi;rport\r\n"), "\(invite)")
        #expect(invite.contains("Contact: <sip:+61255501001@127.0.0.1:40711;transport=tcp>\r\n"), "\(invite)")
        for now in stride(from: UInt64(0), to: 32_000, by: 50) { #expect(machine.tick(at: now).isEmpty, "\(now)") }
        _ = machine.tick(at: 32_000)
        #expect(machine.isOver && machine.result.isSilent)
    }
}
