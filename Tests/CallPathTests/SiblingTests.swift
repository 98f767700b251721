// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// Two gateways with one secret: what one began, the other carries on without any memory of it.
@Suite("A sibling gateway carries on every call")
struct SiblingTests {
    private static let name = #""Acme \"Bank\"""#
    private static let other = PeerAddress(ipv4: 0xC000_020B, port: 5060)  // 192.0.2.11
    private static let old = Secret(key0: 7, key1: 8)
    private static let new = Secret(key0: 9, key1: 10)

    /// The common name of the nodes: a host name, a virtual address, or none.
    enum Route: String, CaseIterable {
        case name = "sip.example.com"
        case address = "192.0.2.9"
        case none
    }

    private func node(_ route: Route, isOther: Bool = false, secret: Secret = old) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.localAddress = isOther ? Self.other : GatewayUnderTest.local
        options.route = route == .none ? nil : route.rawValue
        options.ownNames = [OwnName(host: isOther ? "192.0.2.10" : "192.0.2.11", port: nil)]
        options.isClustered = true
        options.secret = secret
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    private func invite(_ gateway: GatewayUnderTest) throws -> String {
        try #require(gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
    }

    private func route(_ forwarded: String) throws -> String {
        let line = try #require(forwarded.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") })
        return "Route: \(line.dropFirst("Record-Route: ".count))\n"
    }

    private func topVia(_ message: String) throws -> Substring {
        try #require(message.split(separator: "\r\n").first { $0.hasPrefix("Via: ") })
    }

    private func call(_ gateway: GatewayUnderTest) throws -> CallIdentifier {
        try #require(gateway.updates().first { $0.kind == .invite }).call
    }

    @Test(arguments: Route.allCases, [true, false])
    func `a re-INVITE is branded, and the Route of the other node is taken off`(route: Route, isRotated: Bool) throws {
        let a = try node(route)
        let b = try node(route, isOther: true, secret: isRotated ? Self.new.replacing(Self.old) : Self.old)
        let forwarded = try invite(a)
        let again = request("INVITE", extra: try self.route(forwarded), toTag: ";tag=p", branch: "2", sequence: 2)
        let sent = try #require(b.receive(again, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(sent.contains(Self.name))
        #expect(!sent.contains("\r\nRoute:"))
    }

    @Test(arguments: Route.allCases)
    func `a request of the callee goes to the caller's trunk`(route: Route) throws {
        let (a, b) = (try node(route), try node(route, isOther: true))
        let again = fromCalledSide(
            request("INVITE", extra: try self.route(try invite(a)), toTag: ";tag=p", branch: "2", sequence: 2))
        let sent = try #require(b.receive(again, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).first)
        #expect(!sent.contains("\r\nRoute:"))
    }

    @Test(arguments: [true, false], [true, false])
    func `a BYE is forwarded and names the other node's call`(isRotated: Bool, hasRoute: Bool) throws {
        let a = try node(.name)
        let b = try node(.name, isOther: true, secret: isRotated ? Self.new.replacing(Self.old) : Self.old)
        let route = try self.route(try invite(a))
        let bye = request("BYE", extra: hasRoute ? route : "", toTag: ";tag=p", branch: "3", sequence: 3)
        let sent = try #require(b.receive(bye, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(!sent.contains("\r\nRoute:"))
        let call = try call(a)
        #expect(b.updates().contains { $0.kind == .bye && $0.call == call })
    }

    @Test(arguments: Route.allCases, ["180 Ringing", "200 OK", "486 Busy Here"])
    func `a response goes back to the trunk with the From that it sent`(route: Route, status: String) throws {
        let (a, b) = (try node(route), try node(route, isOther: true))
        let forwarded = try invite(a)
        let sent = b.receive(response(status, to: forwarded), from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk)
        let returned = try #require(sent.first)
        #expect(returned.contains("\r\nFrom: \"Carrier\" <sip:+61491570156@carrier.example>;tag=a\r\n"))
        #expect(try topVia(returned).hasPrefix("Via: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK1"))
        let call = try call(a)
        #expect(b.updates().contains { $0.call == call })
    }

    @Test func `Via carries the received From as a token, RFC 3261 §25.1`() throws {
        let via = try topVia(try invite(try node(.name)))
        #expect(via.contains(";hf=%22Carrier%22%20%3csip%3a+61491570156%40carrier.example%3e%3btag%3da"))
    }

    @Test(arguments: [("UPDATE", true), ("BYE", false), ("ACK", false)])
    func `Via of a later request carries the received From if its name changes`(method: String, isRenamed: Bool)
        throws
    {
        let a = try node(.name)
        let later = request(method, extra: try route(try invite(a)), toTag: ";tag=p", branch: "3", sequence: 3)
        let sent = try #require(a.receive(later, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(sent.contains("From: \(Self.name) ") == isRenamed)
        #expect(try topVia(sent).contains(";hf=") == isRenamed)
    }

    @Test func `an alone gateway writes no From into Via`() throws {
        let gateway = try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))])
        #expect(!(try topVia(try invite(gateway))).contains(";hf="))
    }

    @Test(arguments: ["%0D%0AX-Evil%3A%201", "%00", "", "%22A%22%20%3Csip%3Ax%40y%3E%3Btag%3Dother"])
    func `a target can put nothing else into From`(text: String) throws {
        let (a, b) = (try node(.name), try node(.name, isOther: true))
        var forwarded = try invite(a)
        let start = try #require(forwarded.firstRange(of: ";hf=")).upperBound
        let end = try #require(forwarded[start...].firstIndex(of: "\r\n"))
        forwarded.replaceSubrange(start..<end, with: text)
        let sent = b.receive(response("180 Ringing", to: forwarded), from: GatewayUnderTest.pbx)
        let returned = try #require(sent.to(GatewayUnderTest.trunk).first)
        #expect(returned.contains("\r\nFrom: \(Self.name) <sip:+61491570156@carrier.example>;tag=a\r\n"))
        #expect(!returned.contains("X-Evil"))
    }

    @Test(arguments: [Route.name, .address])
    func `a repeated INVITE is the same transaction at the PBX`(route: Route) throws {
        let (a, b) = (try node(route), try node(route, isOther: true))
        let (first, second) = (try invite(a), try invite(b))
        #expect(try topVia(first) == (try topVia(second)))
        #expect(try call(a) == (try call(b)))
    }

    @Test(arguments: [Route.name, .address])
    func `a CANCEL has the branch of the other node's INVITE`(route: Route) throws {
        let (a, b) = (try node(route), try node(route, isOther: true))
        let via = try topVia(try invite(a))
        let sent = try #require(
            b.receive(request("CANCEL"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let cancel = try topVia(sent)
        #expect(via.prefix { $0 != ";" } == cancel.prefix { $0 != ";" })
        #expect(via.split(separator: ";")[1] == cancel.split(separator: ";")[1])
        let call = try call(a)
        #expect(b.updates().contains { $0.kind == .cancelled && $0.call == call })
    }

    @Test func `a CANCEL and a retransmission after a change of the secret find their INVITE`() throws {
        var options = GatewayUnderTest.Options()
        options.secret = Self.old
        let gateway = try GatewayUnderTest(numbers: [], options: options)
        let forwarded = try invite(gateway)
        _ = gateway.receive(response("180 Ringing", to: forwarded), from: GatewayUnderTest.pbx)
        options.secret = Self.new.replacing(Self.old)
        gateway.reload(options)
        #expect(gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).requests("INVITE").isEmpty)
        let sent = gateway.receive(request("CANCEL"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
        let branch = try topVia(forwarded).split(separator: ";")[1]
        #expect(try topVia(try #require(sent.first)).contains(branch))
        let call = try call(gateway)
        #expect(gateway.updates().contains { $0.kind == .cancelled && $0.call == call })
    }

    @Test func `a call that began under an older secret ends by its BYE`() throws {
        let second = Self.new.replacing(Self.old)
        let secrets = [Self.old, second, Secret(key0: 1, key1: 2).replacing(second)]
        for secret in secrets {
            let (a, b) = (try node(.name), try node(.name, isOther: true, secret: secret))
            let bye = request("BYE", extra: try route(try invite(a)), toTag: ";tag=p", branch: "3", sequence: 3)
            _ = b.receive(bye, from: GatewayUnderTest.trunk)
            let call = try call(a)
            #expect(b.updates().count { $0.kind == .bye && $0.call == call } == 1)
        }
    }

    @Test func `a secret that is no longer listed seals nothing`() throws {
        let (a, b) = (try node(.none), try node(.none, isOther: true, secret: Self.new))
        let again = request("INVITE", extra: try route(try invite(a)), toTag: ";tag=p", branch: "2", sequence: 2)
        let sent = try #require(b.receive(again, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(!sent.contains(Self.name))
    }

    @Test func `the address of a sibling is no peer`() throws {
        let b = try node(.none, isOther: true)
        let sent = b.receive(request("INVITE"), from: GatewayUnderTest.local)
        #expect(sent.to(GatewayUnderTest.pbx).isEmpty)
        #expect(sent.allSatisfy { String(decoding: $0.bytes.prefix(11), as: UTF8.self) == "SIP/2.0 403" })
    }

    @Test func `a call that comes back through the sibling is not branded twice`() throws {
        let (a, b) = (try node(.name), try node(.name, isOther: true))
        let forwarded = try invite(a).replacing("INVITE sip:100@", with: "INVITE sip:101@")
        _ = b.receive(forwarded, from: GatewayUnderTest.trunk)
        let update = try #require(b.updates().first { $0.kind == .invite })
        #expect(update.reason == .alreadyBranded)
    }
}
