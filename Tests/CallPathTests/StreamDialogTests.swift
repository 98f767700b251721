// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import SIPCore
import Testing

/// Requests of the PBX to a carrier that connected itself, from a port where nobody listens.
///
/// Twilio and Telnyx name that port in Contact, or a port of the same host that accepts no connection of others.
@Suite("Later requests of a dialog whose INVITE came by TCP, RFC 3261 §18.1.1, RFC 5923 §4")
struct StreamDialogTests {
    private static let carrier = GatewayUnderTest.trunk
    private static let pbx = GatewayUnderTest.pbx
    private static let ephemeral = carrier.with(port: 40_123)
    private static let number: UInt64 = 0x0123_4567_89AB_CDEF
    /// Position of the TCP socket.
    private static let tcp = 1

    /// A carrier whose next hop is by TCP, and one that has a second target.
    private func gateway(_ change: (inout GatewayUnderTest.Options) -> Void = { _ in }) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.hasStream = true
        options.trunkTargets = [
            Target(
                targetState: TargetState(name: "next hop", rules: TargetHealthRules()), address: Self.carrier,
                socket: Self.tcp)
        ]
        change(&options)
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    /// The INVITE of the carrier by its connection, as the PBX gets it.
    private func invite(_ gateway: GatewayUnderTest) throws -> String {
        let text = request("INVITE").replacing("SIP/2.0/UDP 203.0.113.5:5060", with: "SIP/2.0/TCP 203.0.113.5:40123")
        let sent = gateway.receive(text, from: Self.ephemeral, on: Self.tcp, connection: Self.number)
        return try #require(sent.to(Self.pbx).first)
    }

    private func later(_ method: String, to uri: String, _ invite: String, sequence: Int = 2) -> String {
        let routes = invite.split(separator: "\r\n").filter { $0.hasPrefix("Record-Route: ") }
            .map { "Route: \($0.dropFirst("Record-Route: ".count))\n" }.joined()
        return fromCalledSide(
            request(method, extra: routes, toTag: ";tag=p", branch: "p\(method)\(sequence)", sequence: sequence)
        ).replacing("sip:100@192.0.2.20 SIP/2.0", with: "\(uri) SIP/2.0")
            .replacing("SIP/2.0/UDP 203.0.113.5:5060", with: "SIP/2.0/UDP 192.0.2.20:5060")
    }

    /// Contacts of the carrier: its ephemeral port, a port that listens, the next hop, no address of the trunk.
    static let contacts = [
        "sip:c@203.0.113.5:40123;transport=tcp", "sip:c@203.0.113.5:40123", "sip:c@203.0.113.5:5071;transport=tcp",
        "sip:c@203.0.113.5:5060;transport=tcp", "sip:c@203.0.113.5;transport=tcp", "sip:c@10.9.8.7:40123;transport=tcp",
        "sip:c@inside.carrier.example;transport=tcp",
    ]

    @Test(arguments: ["BYE", "INVITE", "ACK", "PRACK", "UPDATE", "REFER", "NOTIFY", "INFO", "MESSAGE"], contacts)
    func `a request of the PBX uses the connection, and else the next hop`(method: String, uri: String) throws {
        let gateway = try gateway()
        let invite = try invite(gateway)
        let sent = gateway.receive(later(method, to: uri, invite), from: Self.pbx)
        let request = try #require(sent.first { $0.bytes.starts(with: method.utf8) })
        #expect(request.connection == Self.number)
        #expect(request.socket == Self.tcp)
        #expect(request.destination == Self.carrier, "where the connection is closed")
        let text = String(decoding: request.bytes, as: UTF8.self)
        #expect(text.contains("Via: SIP/2.0/TCP 192.0.2.10:5060") && text.hasPrefix("\(method) \(uri) SIP/2.0\r\n"))
    }

    @Test func `a re-INVITE's CANCEL and ACK use it too`() throws {
        let gateway = try gateway()
        let invite = try invite(gateway)
        let uri = Self.contacts[0]
        let sent = gateway.receive(later("INVITE", to: uri, invite), from: Self.pbx)
        let forwarded = try #require(sent.requests("INVITE").first).map { $0 }
        let text = String(decoding: forwarded, as: UTF8.self)
        let ringing = fromCarrier("180 Ringing", to: text)
        _ = gateway.receive(ringing, from: Self.ephemeral, on: Self.tcp, connection: Self.number)
        let cancel = later("INVITE", to: uri, invite).replacing("INVITE ", with: "CANCEL ").replacing(
            " INVITE", with: " CANCEL")
        let cancelled = gateway.receive(cancel, from: Self.pbx).first { $0.bytes.starts(with: "CANCEL".utf8) }
        #expect(cancelled?.connection == Self.number)
        let ended = gateway.receive(
            fromCarrier("487 Request Terminated", to: text), from: Self.ephemeral, on: Self.tcp,
            connection: Self.number)
        #expect(ended.first { $0.bytes.starts(with: "ACK".utf8) }?.connection == Self.number)
    }

    private func fromCarrier(_ status: String, to request: String) -> String {
        let kept = request.split(separator: "\r\n").filter { line in
            ["Via:", "From:", "To:", "Call-ID:", "CSeq:"].contains { line.hasPrefix($0) }
        }
        return "SIP/2.0 \(status)\n" + kept.joined(separator: "\n") + "\nContent-Length: 0\n\n"
    }

    @Test func `an undelivered request goes to the next hop, and to the carrier's other targets`() throws {
        let second = PeerAddress(ipv4: 0xCB00_7111, port: 5060)  // 203.0.113.17
        let gateway = try gateway { options in
            options.trunkTargets.insert(
                Target(
                    targetState: TargetState(name: "other", rules: TargetHealthRules()), address: second, socket: 0,
                    priority: 0), at: 0)
        }
        let invite = try invite(gateway)
        var sent = gateway.receive(later("BYE", to: Self.contacts[0], invite), from: Self.pbx)
        var ways: [String] = []
        while let request = sent.first(where: { $0.bytes.starts(with: "BYE".utf8) }), ways.count < 9 {
            ways.append("\(request.destination) \(request.socket) \(request.connection == Self.number)")
            gateway.gateway.sendFailed(request.token, at: gateway.now)
            sent = gateway.pass(.zero)
        }
        // The host of the connection first.
        #expect(ways == ["203.0.113.5:5060 1 true", "203.0.113.5:5060 1 false", "203.0.113.17:5060 0 false"])
        #expect(sent.to(Self.pbx).last?.hasPrefix("SIP/2.0 500 ") == true)
    }

    @Test func `a silent carrier gets the request by no second way`() throws {
        let gateway = try gateway()
        let invite = try invite(gateway)
        var sent = gateway.receive(later("BYE", to: Self.contacts[0], invite), from: Self.pbx)
        for _ in 0..<330 { sent += gateway.pass(.milliseconds(100)) }
        #expect(sent.requests("BYE").count == 1)
    }

    @Test func `a host of the trunk's that is another one is dialled, as Contact asks`() throws {
        let other = PeerAddress(ipv4: 0xCB00_7121, port: 5080)  // 203.0.113.33
        let gateway = try gateway {
            $0.trunkSources = [PeerSource(network: other.with(port: 0), prefixLength: 32, port: nil)]
        }
        let invite = try invite(gateway)
        let bye = later("BYE", to: "sip:c@203.0.113.33:5080;transport=tcp", invite)
        let sent = try #require(gateway.receive(bye, from: Self.pbx).first { $0.bytes.starts(with: "BYE".utf8) })
        #expect(sent.destination == other && sent.connection == 0)
        gateway.gateway.sendFailed(sent.token, at: gateway.now)
        #expect(gateway.pass(.zero).first { $0.bytes.starts(with: "BYE".utf8) }?.destination == Self.carrier)
    }

    @Test func `the PBX's own connection carries the carrier's requests of a call that it placed`() throws {
        let gateway = try gateway()
        let call = request("INVITE", branch: "out").replacing(
            "sip:100@192.0.2.20 SIP", with: "sip:0155@203.0.113.5 SIP"
        )
        .replacing("SIP/2.0/UDP 203.0.113.5:5060", with: "SIP/2.0/TCP 192.0.2.20:41000")
        let sent = gateway.receive(call, from: Self.pbx.with(port: 41_000), on: Self.tcp, connection: 99)
        let invite = try #require(sent.to(Self.carrier).first { $0.hasPrefix("INVITE ") })
        let bye = later("BYE", to: "sip:100@192.0.2.20:41000;transport=tcp", invite).replacing(
            "SIP/2.0/UDP 192.0.2.20:5060", with: "SIP/2.0/TCP 203.0.113.5:5060")
        let back = gateway.receive(bye, from: Self.carrier, on: Self.tcp, connection: 7)
        #expect(back.first { $0.bytes.starts(with: "BYE".utf8) }?.connection == 99)
    }

    @Test func `without the dialog's cookie, and in another trunk's request, no connection is named`() throws {
        let gateway = try gateway()
        let invite = try invite(gateway)
        let bye = later("BYE", to: Self.contacts[0], invite)
        let bare = bye.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("Route:") }
        let sent = gateway.receive(bare.joined(separator: "\n"), from: Self.pbx)
        #expect(sent.requests("BYE").count == 1 && sent.allSatisfy { $0.connection == 0 })
        // The seal covers Call-ID and tags: the cookie of this dialog leads no other one to its connection.
        let other = gateway.receive(bye.replacing("story@", with: "other@"), from: Self.pbx)
        #expect(other.allSatisfy { $0.connection == 0 })
    }

    @Test func `by UDP nothing changes`() throws {
        let gateway = try gateway { $0.trunkTargets = [] }
        let invite = try #require(gateway.receive(request("INVITE"), from: Self.carrier).to(Self.pbx).first)
        let sent = gateway.receive(later("BYE", to: "sip:c@203.0.113.5:5071", invite), from: Self.pbx)
        let bye = try #require(sent.first { $0.bytes.starts(with: "BYE".utf8) })
        #expect(bye.destination == Self.carrier.with(port: 5071) && bye.connection == 0 && bye.socket == 0)
        gateway.gateway.sendFailed(bye.token, at: gateway.now)
        #expect(gateway.pass(.zero).to(Self.pbx).last?.hasPrefix("SIP/2.0 500 ") == true)
    }
}
