// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// PBXs dial digits; many cannot send `urn:service:sos` at all.
@Suite("Emergency calls as they are dialled, RFC 5031, RFC 6881 §6.2")
struct EmergencyCallTests {
    private let trunk = GatewayUnderTest.trunk
    private let pbx = GatewayUnderTest.pbx

    private func gateway(_ change: (inout GatewayUnderTest.Options) -> Void = { _ in }) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        change(&options)
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    /// An INVITE to a Request-URI.
    private func invite(to uri: String, extra: String = "", call: String = "help") -> String {
        request("INVITE", extra: extra, branch: call).replacing("sip:100@192.0.2.20 SIP", with: "\(uri) SIP")
            .replacing("story@", with: "\(call)@")
    }

    static let forms = [
        "sip:000@203.0.113.5", "sips:000@203.0.113.5", "sip:112@203.0.113.5;user=phone", "tel:112",
        "tel:000;phone-context=+61",
        "sip:000;phone-context=+61@203.0.113.5;user=phone", "sip:000@203.0.113.5;phone-context=carrier.example",
        "sip:%30%30%30@203.0.113.5", "sip:0-0-0@203.0.113.5", "tel:1-1-2", "sip:+61000@203.0.113.5", "tel:+61112",
        "SIP:106@203.0.113.5", "sip:000:secret@203.0.113.5", "urn:service:sos", "urn:service:sos.police",
    ]

    static let others = [
        "sip:0000@203.0.113.5", "sip:999@203.0.113.5", "sip:100@203.0.113.5", "sip:alice000@203.0.113.5",
        "sip:203.0.113.5",
        "sip:61000@203.0.113.5", "tel:112;phone-context=+12025550", "sip:+61255501303@203.0.113.5",
    ]

    private func isRefused(_ sent: [OutgoingMessage], to peer: PeerAddress) -> Bool {
        sent.to(peer).contains { $0.hasPrefix("SIP/2.0 503") } && sent.requests("INVITE").isEmpty
    }

    // MARK: From the PBX

    @Test(arguments: forms.map { ($0, true) } + others.map { ($0, false) })
    func `a draining gateway takes them`(uri: String, isEmergency: Bool) throws {
        let gateway = try gateway()
        gateway.shared.drain()
        let sent = gateway.receive(invite(to: uri), from: pbx)
        #expect(isRefused(sent, to: pbx) != isEmergency, "\(uri)")
        #expect(sent.requests("INVITE").count == (isEmergency ? 1 : 0))
    }

    @Test(arguments: forms.map { ($0, true) } + others.map { ($0, false) })
    func `an overloaded gateway takes them`(uri: String, isEmergency: Bool) throws {
        for source in [pbx, trunk] {
            let gateway = try gateway()
            gateway.gateway.filling = 1
            for number in 0..<100 {
                _ = gateway.pass(.milliseconds(10))
                _ = gateway.receive(invite(to: "sip:100@203.0.113.5", call: "c\(number)"), from: source)
            }
            for extra in ["", "Subject: a\n b\n"] {
                let call = extra.isEmpty ? "short" : "folded"
                let sent = gateway.receive(invite(to: uri, extra: extra, call: call), from: source)
                #expect(isRefused(sent, to: source) != isEmergency, "\(uri)")
            }
        }
    }

    @Test(arguments: forms.map { ($0, true) } + others.map { ($0, false) })
    func `a gateway that did not run for a while takes them at once`(uri: String, isEmergency: Bool) throws {
        let gateway = try gateway()
        gateway.gateway.followsPause = true
        #expect(gateway.receive(invite(to: uri), from: pbx).requests("INVITE").count == (isEmergency ? 1 : 0))
    }

    @Test(arguments: forms.map { ($0, true) } + others.map { ($0, false) })
    func `a trunk that may not know who calls learns it all the same`(uri: String, isEmergency: Bool) throws {
        let gateway = try gateway { $0.takesWithheldIdentity = false }
        let lines = """
            P-Asserted-Identity: <sip:+61491570777@pbx.example>
            Remote-Party-ID: <sip:+61491570777@pbx.example>;party=calling;privacy=full
            Privacy: id

            """
        let sent = try #require(gateway.receive(invite(to: uri, extra: lines), from: pbx).requests("INVITE").first)
        #expect(String(decoding: sent, as: UTF8.self).contains("+61491570777") == isEmergency, "\(uri)")
    }

    @Test(arguments: [("sip:000@203.0.113.5", true), ("sip:100@203.0.113.5", false)])
    func `later requests of the call show it as well`(uri: String, isEmergency: Bool) throws {
        let gateway = try gateway { $0.takesWithheldIdentity = false }
        let lines = "Privacy: id\nP-Asserted-Identity: <sip:+61491570777@pbx.example>\n"
        let to = "To: <\(uri)>"
        let first = invite(to: uri, extra: lines).replacing("To: <sip:100@192.0.2.20>", with: to)
        let sent = try #require(gateway.receive(first, from: pbx).to(trunk).first)
        let success = try #require(gateway.receive(response("200 OK", to: sent), from: trunk).to(pbx).last)
        let route = try #require(success.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") }).dropFirst(
            14)
        let update = request("UPDATE", extra: "Route: \(route)\n\(lines)", toTag: ";tag=p", branch: "u", sequence: 2)
            .replacing("sip:100@192.0.2.20 SIP", with: "sip:gw@203.0.113.5 SIP")
            .replacing("To: <sip:100@192.0.2.20>", with: to)
        let later = try #require(gateway.receive(update, from: pbx).to(trunk).first)
        #expect(later.hasPrefix("UPDATE ") && later.contains("+61491570777") == isEmergency)
    }

    @Test func `a full table of transactions has space for them`() throws {
        let gateway = try gateway { $0.mostTransactions = 1 }
        #expect(gateway.receive(invite(to: "sip:100@203.0.113.5", call: "a"), from: pbx).requests("INVITE").count == 1)
        #expect(isRefused(gateway.receive(invite(to: "sip:100@203.0.113.5", call: "b"), from: pbx), to: pbx))
        #expect(gateway.receive(invite(to: "sip:000@203.0.113.5", call: "c"), from: pbx).requests("INVITE").count == 1)
    }

    @Test(arguments: [("sip:000@203.0.113.5", true), ("sip:100@203.0.113.5", false)])
    func `a target that is down is asked all the same`(uri: String, isEmergency: Bool) throws {
        let gateway = try gateway()
        // The carrier's one target has refused everything for a minute.
        let first = try #require(gateway.receive(invite(to: "sip:100@203.0.113.5"), from: pbx).to(trunk).first)
        for _ in 0..<8 {
            let targetState = try #require(
                gateway.shared.settings.load().topology.trunks.first?.targets.targets.first?.targetState)
            targetState.record(.refused(retryAfter: 60), at: 1_000_000)
            targetState.record(.unreachable, at: 1_000_000)
        }
        #expect(first.hasPrefix("INVITE"))
        let sent = gateway.receive(invite(to: uri, call: "second"), from: pbx)
        #expect(sent.requests("INVITE").count == (isEmergency ? 1 : 0))
    }

    @Test(arguments: [
        ("US", "sip:911@203.0.113.5", true), ("US", "sip:000@203.0.113.5", false), ("DE", "tel:110", true),
    ])
    func `the carrier's region decides`(region: String, uri: String, isEmergency: Bool) throws {
        let gateway = try gateway { $0.region = region }
        gateway.shared.drain()
        #expect(gateway.receive(invite(to: uri), from: pbx).requests("INVITE").isEmpty != isEmergency)
    }

    @Test(arguments: ["sip:0000@203.0.113.5", "sip:9112@203.0.113.5"])
    func `numbers with a prefix count where the operator lists them`(uri: String) throws {
        for own in [[], ["0000", "9112"]] {
            let gateway = try gateway { $0.emergencyNumbers = own }
            gateway.shared.drain()
            #expect(gateway.receive(invite(to: uri), from: pbx).requests("INVITE").isEmpty == own.isEmpty)
        }
    }

    // MARK: From the trunk

    @Test(arguments: forms.map { ($0, true) } + others.map { ($0, false) })
    func `no brand is on an inbound one, and no limit holds it back`(uri: String, isEmergency: Bool) throws {
        let gateway = try gateway { $0.limits = .init(mostCalls: 1) }
        let first = try #require(gateway.receive(invite(to: uri), from: trunk).requests("INVITE").first)
        #expect(String(decoding: first, as: UTF8.self).contains("Acme") != isEmergency, "\(uri)")
        #expect((gateway.updates().first?.reason == .emergency) == isEmergency)
        let second = gateway.receive(invite(to: uri, call: "second"), from: trunk)
        #expect(isRefused(second, to: trunk) != isEmergency, "\(uri)")
        gateway.shared.drain()
        #expect(isRefused(gateway.receive(invite(to: uri, call: "third"), from: trunk), to: trunk) != isEmergency)
    }

    @Test func `a sender that nobody configured is refused whatever it dials`() throws {
        let gateway = try gateway()
        let sent = gateway.receive(invite(to: "sip:000@203.0.113.5"), from: GatewayUnderTest.stranger)
        #expect(sent.to(GatewayUnderTest.stranger).first?.hasPrefix("SIP/2.0 403") == true)
    }
}
