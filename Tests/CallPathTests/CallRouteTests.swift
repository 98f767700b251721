// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

@Suite("Routes by called number")
struct CallRouteTests {
    private let trunk = GatewayUnderTest.trunk
    private let office = GatewayUnderTest.pbx
    private let acme = PeerAddress(ipv4: 0xC000_0221, port: 5060)  // 192.0.2.33

    private func gateway(
        unmatched: UnmatchedCalls = .trunk, source: CalledField = .requestURI,
        limits: TrunkAdmission.Limits? = nil, policy: BrandingPolicy? = nil, brands: BrandMode = .on
    ) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.otherPBX = acme
        var table = CalledNumberTable()
        _ = table.add(.number(try #require(E164Number("+61255502000"))), route: 0)
        _ = table.add(.prefix(612555), route: 1)
        options.routes = { pbx in
            CallRoutes(
                [
                    CallRoute(
                        name: "acme", pbx: pbx, policy: policy, brands: brands,
                        admission: limits.map { TrunkAdmission($0) }),
                    CallRoute(name: "rest"),
                ], table: table, source: source, unmatched: unmatched)
        }
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    private func invite(_ user: String, to: String = "100", branch: String = "1", extra: String = "") -> String {
        request("INVITE", extra: extra, branch: branch).replacing(
            "sip:100@192.0.2.20 SIP", with: "sip:\(user)@192.0.2.20 SIP"
        )
        .replacing("To: <sip:100@", with: "To: <sip:\(to)@").replacing("story@", with: "call\(branch)@")
    }

    @Test(arguments: [
        ("+61255502000", true), ("0255502000", true), ("00 61 2 5550 2000", true), ("+61-2-5550-2000", true),
        ("tel", false), ("+61255501000", false), ("+61755501000", false), ("100", false),
    ])
    func `the called number is read as the trunk writes it, and its route names the PBX`(
        user: String, isOfAcme: Bool
    ) throws {
        let gateway = try gateway()
        let sent = gateway.receive(invite(user.replacing(" ", with: "")), from: trunk)
        #expect(sent.to(acme).count == (isOfAcme ? 1 : 0))
        #expect(sent.to(office).count == (isOfAcme ? 0 : 1))
    }

    @Test func `an account's name in the Request-URI leaves the number to To, and routes may read To first`() throws {
        let first = try gateway()
        #expect(first.receive(invite("account4711", to: "+61255502000"), from: trunk).to(acme).count == 1)
        #expect(first.receive(invite("+61255501000", to: "+61255502000", branch: "2"), from: trunk).to(acme).isEmpty)
        let second = try gateway(source: .to)
        #expect(second.receive(invite("+61255501000", to: "+61255502000"), from: trunk).to(acme).count == 1)
        #expect(second.receive(invite("+61255502000", branch: "2"), from: trunk).to(acme).count == 1)
    }

    @Test func `a number without a route gets 404 where the routes demand one`() throws {
        let gateway = try gateway(unmatched: .reject)
        let sent = gateway.receive(invite("+61755501000"), from: trunk)
        let rejection = try #require(sent.to(trunk).first)
        #expect(rejection.hasPrefix("SIP/2.0 404 Not Found\r\n"))
        #expect(sent.to(office).isEmpty && sent.to(acme).isEmpty)
        #expect(gateway.counters.count(.callsWithoutRoute) == 1)
        #expect(gateway.shared.rejections.take().rejections.map(\.cause) == [.noRoute])
        #expect(gateway.updates().isEmpty && gateway.shared.calls.count == 0)
        #expect(gateway.receive(invite("+61255501000", branch: "2"), from: trunk).to(office).count == 1)
    }

    @Test(arguments: ["000", "112", "+61000"])
    func `an emergency call is never rejected for want of a route`(user: String) throws {
        let gateway = try gateway(unmatched: .reject)
        #expect(gateway.receive(invite(user), from: trunk).to(office).count == 1)
    }

    @Test func `the callback of an emergency centre goes to its route's PBX, above the route's limits too`() throws {
        let gateway = try gateway(unmatched: .reject, limits: .init(mostCalls: 1))
        #expect(gateway.receive(invite("+61255502000"), from: trunk).to(acme).count == 1)
        let callback = invite("+61255502000", branch: "2", extra: "Priority: psap-callback\n")
        #expect(gateway.receive(callback, from: trunk).to(acme).count == 1)
        let unknown = invite("+61755501000", branch: "3", extra: "Priority: psap-callback\n")
        #expect(gateway.receive(unknown, from: trunk).to(office).count == 1)
    }

    @Test func `the limits of a route hold for its calls alone`() throws {
        let gateway = try gateway(limits: .init(mostCalls: 1))
        let first = try #require(gateway.receive(invite("+61255502000"), from: trunk).to(acme).first)
        let second = gateway.receive(invite("+61255502000", branch: "2"), from: trunk)
        #expect(second.to(trunk).first?.hasPrefix("SIP/2.0 503") == true && second.to(acme).isEmpty)
        #expect(gateway.counters.count(.callsRefusedByNumber) == 1)
        #expect(gateway.receive(invite("+61255501000", branch: "3"), from: trunk).to(office).count == 1)
        _ = gateway.receive(response("486 Busy Here", to: first), from: acme)
        #expect(gateway.receive(invite("+61255502000", branch: "4"), from: trunk).to(acme).count == 1)
    }

    @Test func `the policy of a route replaces that of the trunk, and a route may have no brands`() throws {
        let usual = try gateway()
        #expect(
            usual.receive(invite("+61255502000"), from: trunk).to(acme).first?.contains("Acme \\\"Bank\\\"") == true)
        let strict = try gateway(policy: .strict)
        #expect(strict.receive(invite("+61255502000"), from: trunk).to(acme).first?.contains("Bank") == false)
        #expect(strict.updates().map(\.reason) == [.policy])
        #expect(
            strict.receive(invite("+61255501000", branch: "2"), from: trunk).to(office).first?.contains("Bank") == true)
        let without = try gateway(brands: false)
        #expect(without.receive(invite("+61255502000"), from: trunk).to(acme).first?.contains("Bank") == false)
        #expect(without.updates().map(\.reason) == [.policy])
    }

    @Test func `requests of the dialog, CANCEL after a restart and BYE go to the PBX of the route`() throws {
        let gateway = try gateway()
        let sent = try #require(gateway.receive(invite("+61255502000"), from: trunk).to(acme).first)
        let answered = try #require(
            gateway.receive(response("200 OK", to: sent, extra: "Contact: <sip:a@192.0.2.33>\n"), from: acme).to(trunk)
                .first)
        let route = try #require(answered.firstMatch(of: /Record-Route: (<[^>]*>)/)).1
        let bye = request("BYE", extra: "Route: \(route)\n", toTag: ";tag=p", branch: "bye", sequence: 2)
            .replacing("sip:100@192.0.2.20 SIP", with: "sip:a@192.0.2.33 SIP").replacing("story@", with: "call1@")
        #expect(gateway.receive(bye, from: trunk).to(acme).count == 1)
        #expect(gateway.updates().map(\.kind) == [.invite, .answered, .bye])
        #expect(gateway.shared.calls.count == 0)
        let restarted = try self.gateway()
        let cancel = invite("+61255502000").replacing("INVITE", with: "CANCEL")
        #expect(restarted.receive(cancel, from: trunk).to(acme).count == 1)
    }

    @Test func `another PBX does not end a call by a BYE without the route's cookie`() throws {
        let gateway = try gateway()
        let sent = try #require(gateway.receive(invite("+61255502000"), from: trunk).to(acme).first)
        _ = gateway.receive(response("200 OK", to: sent), from: acme)
        let bye = fromCalledSide(request("BYE", toTag: ";tag=p", branch: "x", sequence: 2)).replacing(
            "story@", with: "call1@")
        _ = gateway.receive(bye, from: office)
        #expect(gateway.shared.calls.count == 1)
        _ = gateway.receive(bye.replacing("z9hG4bKx", with: "z9hG4bKy"), from: acme)
        #expect(gateway.shared.calls.count == 0)
    }
}
