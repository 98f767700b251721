// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("Admission of new calls, RFC 3261 §21.5.4")
struct AdmissionStoryTests {
    private let trunk = GatewayUnderTest.trunk

    private func gateway(
        _ limits: TrunkAdmission.Limits = .init(), sockets: [UInt16] = [5060]
    ) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.sockets = sockets
        options.limits = limits
        return try GatewayUnderTest(numbers: [], options: options)
    }

    private func invite(_ number: Int) -> String {
        request("INVITE", branch: "c\(number)").replacing("story@", with: "call\(number)@")
    }

    @Test func `calls above the trunk's number are refused with Retry-After until one ends`() throws {
        let gateway = try gateway(.init(mostCalls: 2))
        let sent = (1...2).map { gateway.receive(invite($0), from: trunk).to(GatewayUnderTest.pbx).first }
        let refused = gateway.receive(invite(3), from: trunk)
        let rejection = try #require(refused.to(trunk).first)
        #expect(rejection.hasPrefix("SIP/2.0 503 Service Unavailable"))
        #expect(rejection.contains("\r\nRetry-After: "))
        #expect(refused.to(GatewayUnderTest.pbx).isEmpty)
        #expect(gateway.counters.count(.callsRefusedByNumber) == 1)
        _ = gateway.receive(response("486 Busy Here", to: try #require(sent[0])), from: GatewayUnderTest.pbx)
        #expect(gateway.receive(invite(4), from: trunk).to(GatewayUnderTest.pbx).count == 1)
    }

    @Test func `an answered call counts until its BYE`() throws {
        let gateway = try gateway(.init(mostCalls: 1))
        let sent = try #require(gateway.receive(invite(1), from: trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("200 OK", to: sent), from: GatewayUnderTest.pbx)
        #expect(gateway.shared.calls.count == 1)
        #expect(gateway.receive(invite(2), from: trunk).to(GatewayUnderTest.pbx).isEmpty)
        let bye = request("BYE", toTag: ";tag=p", branch: "bye", sequence: 2).replacing("story@", with: "call1@")
        _ = gateway.receive(bye, from: trunk)
        #expect(gateway.shared.calls.count == 0)
        #expect(gateway.receive(invite(3), from: trunk).to(GatewayUnderTest.pbx).count == 1)
    }

    @Test func `an answered call without a BYE counts until max_call_duration is over`() throws {
        var options = GatewayUnderTest.Options()
        options.limits = .init(mostCalls: 1)
        options.longestCall = 600_000
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let sent = try #require(gateway.receive(invite(1), from: trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("200 OK", to: sent), from: GatewayUnderTest.pbx)
        // One part of the table a second: 64 of them are all calls.
        _ = gateway.pass(.seconds(600 - 64))
        for _ in 0..<63 { _ = gateway.pass(.seconds(1)) }
        #expect(gateway.shared.calls.count == 1)
        #expect(gateway.receive(invite(2), from: trunk).to(GatewayUnderTest.pbx).isEmpty)
        for _ in 0..<65 { _ = gateway.pass(.seconds(1)) }
        #expect(gateway.shared.calls.count == 0)
        #expect(gateway.receive(invite(3), from: trunk).to(GatewayUnderTest.pbx).count == 1)
    }

    @Test func `a retransmission is no second call`() throws {
        let gateway = try gateway(.init(mostCalls: 1))
        _ = gateway.receive(invite(1), from: trunk)
        let again = gateway.receive(invite(1), from: trunk)
        #expect(again.to(trunk).allSatisfy { !$0.hasPrefix("SIP/2.0 503") })
        #expect(gateway.shared.calls.count == 1)
    }

    @Test func `a copy of a call that came by another path ends it neither in the count nor in the accounts`() throws {
        let gateway = try gateway(.init(mostCalls: 3))
        let first = try #require(gateway.receive(invite(1), from: trunk).to(GatewayUnderTest.pbx).first)
        let copy = invite(1).replacing("z9hG4bKc1", with: "z9hG4bKother")
        let second = try #require(gateway.receive(copy, from: trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("180 Ringing", to: first), from: GatewayUnderTest.pbx)
        // RFC 3261 §8.2.2.2: the server rejects a merged request with 482.
        let merged = gateway.receive(response("482 Loop Detected", to: second), from: GatewayUnderTest.pbx)
        #expect(merged.to(trunk).contains { $0.hasPrefix("SIP/2.0 482") })
        #expect(gateway.shared.calls.count == 1)
        _ = gateway.receive(response("200 OK", to: first), from: GatewayUnderTest.pbx)
        let kinds = gateway.updates().map(\.kind)
        #expect(!kinds.contains(.failed))
        #expect(kinds.last == .answered)
    }

    @Test(arguments: [
        // Finals in the order they come, of branch 1 or 2; the status told, the calls left.
        ([(1, "480 Temporarily Unavailable")], [] as [UInt16], 1),
        ([(1, "480 Temporarily Unavailable"), (2, "486 Busy Here")], [486], 0),
        ([(2, "486 Busy Here"), (1, "480 Temporarily Unavailable")], [480], 0),
        ([(1, "486 Busy Here"), (2, "482 Loop Detected")], [486], 0),
        ([(1, "482 Loop Detected"), (2, "486 Busy Here")], [486], 0),
        ([(1, "482 Loop Detected"), (2, "482 Loop Detected")], [482], 0),
        ([(1, "480 Temporarily Unavailable"), (2, "200 OK")], [200], 1),
        ([(2, "200 OK"), (1, "487 Request Terminated")], [200], 1),
    ]) func `a call forked upstream has failed when its last branch has, RFC 3261 §16.7`(
        finals: [(branch: Int, status: String)], told: [UInt16], left: Int
    ) throws {
        let gateway = try gateway(.init(mostCalls: 3))
        let first = try #require(gateway.receive(invite(1), from: trunk).to(GatewayUnderTest.pbx).first)
        let fork = invite(1).replacing("z9hG4bKc1", with: "z9hG4bKfork").replacing("sip:100@", with: "sip:101@")
        let second = try #require(gateway.receive(fork, from: trunk).to(GatewayUnderTest.pbx).first)
        for (branch, status) in finals {
            let responses = gateway.receive(
                response(status, to: branch == 1 ? first : second), from: GatewayUnderTest.pbx)
            #expect(responses.to(trunk).contains { $0.hasPrefix("SIP/2.0 \(status)") }, "each branch gets its own")
        }
        #expect(gateway.updates().filter { $0.status >= 200 }.map(\.status) == told)
        #expect(gateway.shared.calls.count == left)
    }

    @Test func `calls above the trunk's rate are refused until time has passed`() throws {
        let gateway = try gateway(.init(callsPerSecond: 2, burst: 2))
        for number in 1...2 {
            #expect(gateway.receive(invite(number), from: trunk).to(GatewayUnderTest.pbx).count == 1)
        }
        #expect(gateway.receive(invite(3), from: trunk).to(GatewayUnderTest.pbx).isEmpty)
        _ = gateway.pass(.milliseconds(500))
        #expect(gateway.receive(invite(4), from: trunk).to(GatewayUnderTest.pbx).count == 1)
        #expect(gateway.counters.count(.callsRefusedByRate) == 1)
    }

    @Test(arguments: ["Priority: psap-callback\n", "Resource-Priority: esnet.1\n"])
    func `an emergency call passes whatever the limits say`(header: String) throws {
        let gateway = try gateway(.init(mostCalls: 1))
        _ = gateway.receive(invite(1), from: trunk)
        let call = request("INVITE", extra: header, branch: "e").replacing("story@", with: "emergency@")
        #expect(gateway.receive(call, from: trunk).to(GatewayUnderTest.pbx).count == 1)
        gateway.shared.drain()
        let later = request("INVITE", extra: header, branch: "f").replacing("story@", with: "later@")
        let whileDraining = gateway.receive(later, from: trunk)
        #expect(whileDraining.to(GatewayUnderTest.pbx).count == 1)
    }

    @Test func `what a trunk may bring does not hold back the PBX's own calls`() throws {
        let gateway = try gateway(.init(callsPerSecond: 1, burst: 1, mostCalls: 1))
        func outbound(_ number: Int) -> String { invite(number).replacing("192.0.2.20 SIP", with: "203.0.113.5 SIP") }
        for number in 1...2 {
            let out = gateway.receive(outbound(number), from: GatewayUnderTest.pbx)
            #expect(out.requests("INVITE").count == 1)
        }
        #expect(gateway.shared.calls.count == 2, "they are waited for when the gateway drains")
        #expect(gateway.receive(invite(3), from: trunk).to(GatewayUnderTest.pbx).count == 1)
    }

    @Test func `while more comes in than can be carried new calls are refused, requests of dialogs are not`() throws {
        let gateway = try gateway()
        flood(gateway)
        let refused = try #require(gateway.receive(invite(1), from: trunk).to(trunk).first)
        #expect(refused.hasPrefix("SIP/2.0 503"))
        #expect(!refused.contains("Retry-After"), "§21.5.4: the carrier would hold back all calls")
        let bye = request("BYE", toTag: ";tag=p", branch: "bye", sequence: 2)
        #expect(gateway.receive(bye, from: trunk).to(GatewayUnderTest.pbx).count == 1)
        let again = request("INVITE", toTag: ";tag=p", branch: "again", sequence: 3)
        #expect(gateway.receive(again, from: trunk).to(GatewayUnderTest.pbx).count == 1)
        let folded = try #require(gateway.receive(invite(3).replacing("From: ", with: "From:\n "), from: trunk).first)
        #expect(String(decoding: folded.bytes, as: UTF8.self).hasPrefix("SIP/2.0 503"), "§7.3.1: a folded field")
        let emergency = request("INVITE", extra: "Resource-Priority: esnet.1\n", branch: "e")
        #expect(gateway.receive(emergency, from: trunk).to(GatewayUnderTest.pbx).count == 1)
        gateway.gateway.filling = 0
        _ = gateway.pass(.seconds(1))
        #expect(gateway.receive(invite(2), from: trunk).to(GatewayUnderTest.pbx).count == 1)
    }

    /// Fills the queue for so long that every new call is shed.
    private func flood(_ gateway: GatewayUnderTest) {
        gateway.gateway.filling = 1
        for number in 0..<100 {
            _ = gateway.pass(.milliseconds(10))
            _ = gateway.receive(invite(1_000 + number), from: trunk)
        }
    }

    @Test func `a quiet socket lets a flood on another one be shed all the same`() throws {
        let gateway = try gateway(sockets: [5060, 5070])
        for number in 0..<1_000 {
            _ = gateway.pass(.milliseconds(1))
            gateway.gateway.filling = 0
            _ = gateway.receive(invite(10_000 + number), from: trunk, on: 1)
            gateway.gateway.filling = 0.8
            _ = gateway.receive(invite(1_000 + number), from: trunk)
        }
        let responses = (0..<20).flatMap { gateway.receive(invite($0), from: trunk).to(trunk) }
        #expect(responses.count { $0.hasPrefix("SIP/2.0 503") } == 20)
        gateway.gateway.filling = 0
        let quiet = gateway.receive(invite(20_000), from: trunk, on: 1)
        #expect(!quiet.to(trunk).contains { $0.hasPrefix("SIP/2.0 503") })
    }

    @Test func `calls that come by a connection are shed like those of datagrams, and what is in a dialog is not`()
        throws
    {
        var options = GatewayUnderTest.Options()
        options.hasStream = true
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let own = trunk.with(port: 40_000)
        func receive(_ text: String) -> [OutgoingMessage] {
            gateway.receive(text.replacing("SIP/2.0/UDP", with: "SIP/2.0/TCP"), from: own, on: 1, connection: 7)
        }
        #expect(receive(invite(1)).to(GatewayUnderTest.pbx).count == 1)
        gateway.gateway.filling = 1
        for number in 0..<100 {
            _ = gateway.pass(.milliseconds(10))
            _ = receive(invite(1_000 + number))
        }
        let refused = receive(invite(2))
        #expect(refused.count == 1 && refused[0].connection == 7)
        #expect(String(decoding: refused[0].bytes, as: UTF8.self).hasPrefix("SIP/2.0 503"))
        let bye = request("BYE", toTag: ";tag=p", branch: "bye", sequence: 2)
        #expect(receive(bye).to(GatewayUnderTest.pbx).count == 1)
    }

    @Test func `a repetition of a call that was taken is absorbed in a flood, not refused`() throws {
        let gateway = try gateway()
        #expect(gateway.receive(invite(1), from: trunk).to(GatewayUnderTest.pbx).count == 1)
        flood(gateway)
        let again = gateway.receive(invite(1), from: trunk)
        #expect(!again.to(trunk).contains { $0.hasPrefix("SIP/2.0 503") })
    }

    @Test func `a call that was shed is so for good: its repetition is, the next try after its ACK is not`() throws {
        let gateway = try gateway()
        flood(gateway)
        let refused = try #require(gateway.receive(invite(1), from: trunk).to(trunk).first)
        gateway.gateway.filling = 0
        _ = gateway.pass(.seconds(1))
        // RFC 3261 §17.1.1.2: sent again by who had not heard of the refusal yet.
        let again = gateway.receive(invite(1), from: trunk)
        #expect(again.to(GatewayUnderTest.pbx).isEmpty)
        #expect(again.to(trunk) == [refused])
        let other = gateway.receive(invite(1).replacing("z9hG4bKc1", with: "z9hG4bKother"), from: trunk)
        #expect(other.to(GatewayUnderTest.pbx).count == 1, "§16.7: the next try of a proxy is another transaction")
        let tag = try #require(refused.firstMatch(of: /To: [^\r]*(;tag=hd[0-9a-f]{16})/)).1
        let ack = invite(1).replacing("INVITE", with: "ACK").replacing("192.0.2.20>\n", with: "192.0.2.20>\(tag)\n")
        _ = gateway.receive(ack, from: trunk)
        #expect(gateway.receive(invite(1), from: trunk).to(trunk).allSatisfy { !$0.hasPrefix("SIP/2.0 503") })
    }

    @Test func `unknown peers are dropped without a response while more comes in than can be read`() throws {
        let gateway = try gateway()
        let stranger = PeerAddress(ipv4: 0xC633_6407, port: 5060)
        #expect(gateway.receive(invite(1), from: stranger).to(stranger).first?.hasPrefix("SIP/2.0 403") == true)
        gateway.gateway.filling = 0.5
        for method in ["INVITE", "REGISTER", "OPTIONS"] {
            #expect(gateway.receive(request(method, branch: method), from: stranger).isEmpty)
        }
        #expect(gateway.counters.count(.strangersDropped) == 3)
        #expect(gateway.receive(invite(2), from: trunk).to(GatewayUnderTest.pbx).count == 1)
    }

    @Test func `the ACK of a shed call ends here by its kept tag, and so does its retransmission by the computed one`()
        throws
    {
        let gateway = try gateway()
        flood(gateway)
        let refused = try #require(gateway.receive(invite(1), from: trunk).to(trunk).first)
        let tag = try #require(refused.firstMatch(of: /To: [^\r]*(;tag=hd[0-9a-f]{16})/)).1
        let ack = invite(1).replacing("INVITE", with: "ACK").replacing("192.0.2.20>\n", with: "192.0.2.20>\(tag)\n")
        #expect((1...2).allSatisfy { _ in gateway.receive(ack, from: trunk).isEmpty })
    }

    @Test func `in-dialog requests pass whatever the limits say`() throws {
        let gateway = try gateway(.init(callsPerSecond: 1, burst: 1, mostCalls: 1))
        _ = gateway.receive(invite(1), from: trunk)
        let info = request("INFO", toTag: ";tag=p", branch: "info", sequence: 2)
        #expect(gateway.receive(info, from: trunk).to(GatewayUnderTest.pbx).count == 1)
    }

    @Test func `a draining gateway refuses new calls and OPTIONS, and carries on those in progress`() throws {
        let gateway = try gateway()
        let sent = try #require(gateway.receive(invite(1), from: trunk).to(GatewayUnderTest.pbx).first)
        gateway.shared.drain()
        #expect(gateway.receive(invite(2), from: trunk).to(trunk).first?.hasPrefix("SIP/2.0 503") == true)
        let options = request("OPTIONS", branch: "o").replacing("sip:100@192.0.2.20 ", with: "sip:192.0.2.10 ")
        #expect(gateway.receive(options, from: trunk).to(trunk).first?.hasPrefix("SIP/2.0 503") == true)
        let answered = gateway.receive(response("200 OK", to: sent), from: GatewayUnderTest.pbx)
        #expect(answered.to(trunk).first?.hasPrefix("SIP/2.0 200 OK") == true)
    }

    @Test func `a draining gateway refuses new calls of the PBX, so that it takes another way`() throws {
        let gateway = try gateway()
        gateway.shared.drain()
        let pbx = GatewayUnderTest.pbx
        let call = request("INVITE", branch: "out").replacing("sip:100@192.0.2.20 ", with: "sip:0255502000@192.0.2.10 ")
        let refused = gateway.receive(call, from: pbx)
        let response = try #require(refused.to(pbx).first { $0.hasPrefix("SIP/2.0 503") })
        #expect(response.contains("\r\nRetry-After: 10\r\n"))
        #expect(refused.requests("INVITE").isEmpty)
        #expect(gateway.counters.count(.callsRefusedWhileDraining) == 1)
        #expect(gateway.shared.calls.count == 0)
    }

    @Test func `a call whose BYE never came ends after the longest call time`() throws {
        let gateway = try gateway()
        let sent = try #require(gateway.receive(invite(1), from: trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("200 OK", to: sent), from: GatewayUnderTest.pbx)
        _ = gateway.pass(.seconds(14_401))
        for _ in 0..<64 { _ = gateway.pass(.seconds(1)) }
        #expect(gateway.shared.calls.count == 0)
    }
}
