// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// The cookie of a dialog serves the trunk that has the dialog, and nobody else.
@Suite("Nobody gains by the cookie of another's dialog")
struct ForeignCookieTests {
    private static let other = PeerAddress(ipv4: 0xCB00_7142, port: 5060)  // 203.0.113.66
    private static let name = #""Acme \"Bank\"""#

    /// A gateway with the trusted trunk of the call and another one, and the Route of a branded call of the first.
    private func gateway(
        isOtherTrusted: Bool, isTrusted: Bool = true
    ) throws -> (gateway: GatewayUnderTest, route: String) {
        var options = GatewayUnderTest.Options()
        options.secondTrunk = Self.other
        options.isSecondTrusted = isOtherTrusted
        let number = try #require(E164Number("+61491570156"))
        let gateway = try GatewayUnderTest(numbers: [number], options: options)
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(invite.contains(Self.name))
        _ = gateway.receive(response("200 OK", to: invite), from: GatewayUnderTest.pbx)
        let line = try #require(invite.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") })
        if !isTrusted {
            options.isTrusted = false
            gateway.reload(options)
        }
        return (gateway, "Route: \(line.dropFirst("Record-Route: ".count))\n")
    }

    /// A request of the other trunk in the dialog, which it has seen.
    private func stolen(_ method: String, _ route: String, toTag: String = ";tag=p") -> String {
        request(method, from: "", extra: route, toTag: toTag, branch: "stolen\(method)", sequence: 9)
            .replacing("203.0.113.5:5060", with: "203.0.113.66:5060")
    }

    @Test(arguments: ["INVITE", "UPDATE", "BYE"], [true, false])
    func `another trunk's request gets no name by it`(method: String, isOtherTrusted: Bool) throws {
        let (gateway, route) = try gateway(isOtherTrusted: isOtherTrusted)
        let sent = gateway.receive(stolen(method, route), from: Self.other).to(GatewayUnderTest.pbx)
        #expect(!(try #require(sent.first)).contains(Self.name))
    }

    @Test func `the dialog's own trunk gets it still, and not while it is untrusted`() throws {
        for isTrusted in [true, false] {
            let (gateway, route) = try gateway(isOtherTrusted: false, isTrusted: isTrusted)
            let sent = gateway.receive(
                request("INVITE", extra: route, toTag: ";tag=p", branch: "hold", sequence: 2),
                from: GatewayUnderTest.trunk)
            let invite = try #require(sent.to(GatewayUnderTest.pbx).first)
            #expect(invite.contains(Self.name) == isTrusted)
        }
    }

    @Test func `another From tag makes it another's dialog`() throws {
        let (gateway, route) = try gateway(isOtherTrusted: false)
        let invite = request("INVITE", extra: route, toTag: ";tag=p", branch: "tag", sequence: 2)
            .replacing(";tag=a", with: ";tag=b")
        let sent = gateway.receive(invite, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
        #expect(!(try #require(sent.first)).contains(Self.name))
    }

    @Test func `an initial INVITE with it is judged by itself`() throws {
        let (gateway, route) = try gateway(isOtherTrusted: false)
        let sent = gateway.receive(stolen("INVITE", route, toTag: ""), from: Self.other).to(GatewayUnderTest.pbx)
        let invite = try #require(sent.first)
        #expect(!invite.contains(Self.name))
        #expect(!invite.contains("Route: <sip:192.0.2.10:5060;lr;hd=") || invite.contains("Record-Route: "))
        #expect(gateway.updates().last { $0.kind == .invite }?.reason == .untrusted)
    }

    @Test(arguments: [true, false])
    func `a BYE of another trunk ends no call in the accounts, whatever its route`(hasRoute: Bool) throws {
        let (gateway, route) = try gateway(isOtherTrusted: true)
        #expect(gateway.shared.calls.count == 1)
        _ = gateway.receive(stolen("BYE", hasRoute ? route : ""), from: Self.other)
        #expect(gateway.shared.calls.count == 1)
        #expect(!gateway.updates().contains { $0.kind == .bye })
        _ = gateway.receive(
            request("BYE", extra: hasRoute ? route : "", toTag: ";tag=p", branch: "bye", sequence: 2),
            from: GatewayUnderTest.trunk)
        #expect(gateway.shared.calls.count == 0)
        #expect(gateway.updates().contains { $0.kind == .bye })
    }

    @Test func `a CANCEL of another trunk cancels nothing and says nothing, RFC 3261 §9.2`() throws {
        var options = GatewayUnderTest.Options()
        options.secondTrunk = Self.other
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("180 Ringing", to: invite), from: GatewayUnderTest.pbx)
        let out = gateway.receive(request("CANCEL"), from: Self.other)
        let branch = try #require(invite.firstRange(of: "branch=z9hG4bKhd").map { invite[$0.lowerBound...].prefix(32) })
        #expect(out.to(GatewayUnderTest.pbx).allSatisfy { !$0.contains(branch) }, "it names no transaction of the PBX")
        #expect(!gateway.updates().contains { $0.kind == .cancelled })
        let own = gateway.receive(request("CANCEL"), from: GatewayUnderTest.trunk)
        #expect(own.to(GatewayUnderTest.pbx).first?.contains(branch) == true)
        #expect(gateway.updates().contains { $0.kind == .cancelled })
    }

    @Test(arguments: ["203.0.113.5", "10.0.0.5:5062", "carrier.example", "203.0.113.5:5060"])
    func `a CANCEL that spells its sender otherwise cancels, RFC 3261 §9.1`(sentBy: String) throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("180 Ringing", to: invite), from: GatewayUnderTest.pbx)
        let cancel = request("CANCEL").replacing("203.0.113.5:5060", with: sentBy)
        let out = gateway.receive(cancel, from: GatewayUnderTest.trunk)
        #expect(out.to(GatewayUnderTest.pbx).first?.hasPrefix("CANCEL ") == true)
    }
}
