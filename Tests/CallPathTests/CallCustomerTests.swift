// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore
import Testing

@testable import CallPath

@Suite("Customers: brands, dialogs and calls from PBXs")
struct CallCustomerTests {
    private let trunk = GatewayUnderTest.trunk
    private let office = GatewayUnderTest.pbx
    private let other = PeerAddress(ipv4: 0xC000_0221, port: 5060)  // 192.0.2.33
    private let acme = CallCustomer(name: "acme", branding: Self.brands("Acme Acres"))
    private let beta = CallCustomer(name: "beta", branding: Self.brands("Beta Bank"))

    /// Brands in which the usual caller has this name.
    private static func brands(_ name: String) -> CurrentBranding {
        var builder = BrandIndexBuilder(profile: RenderingProfile(), generation: 1, expectedCount: 1)
        if let number = E164Number("+61491570156") {
            builder.add(
                BrandRecord(
                    number: number, name: name, brandID: name, logoURL: "", callReason: "",
                    updatedAt: "2026-01-01T00:00:00Z"))
        }
        return CurrentBranding(BrandingSnapshot(index: builder.finish(), gates: BrandingGates()))
    }

    /// Acme and beta on the other PBX by their numbers; `hasBeta` false removes beta.
    private func options(hasBeta: Bool = true, isAlone: Bool = false) throws -> GatewayUnderTest.Options {
        var options = GatewayUnderTest.Options()
        options.otherPBX = other
        var table = CalledNumberTable()
        _ = table.add(.number(try #require(E164Number("+61255502001"))), route: 0)
        if hasBeta { _ = table.add(.number(try #require(E164Number("+61255502002"))), route: 1) }
        options.routes = { pbx in
            CallRoutes(
                [CallRoute(name: "acme", pbx: pbx, customer: acme)]
                    + (hasBeta ? [CallRoute(name: "beta", pbx: isAlone ? nil : pbx, customer: beta)] : []),
                table: table)
        }
        return options
    }

    private func gateway(isAlone: Bool = false) throws -> GatewayUnderTest {
        try GatewayUnderTest(
            numbers: [try #require(E164Number("+61491570156"))], options: options(isAlone: isAlone))
    }

    private func invite(_ number: String, branch: String = "1") -> String {
        request("INVITE", branch: branch).replacing("sip:100@192.0.2.20 SIP", with: "sip:\(number)@192.0.2.20 SIP")
            .replacing("story@", with: "call\(branch)@")
    }

    @Test func `each customer's calls have the brands of its own account, and those of nobody the usual ones`() throws {
        let gateway = try gateway()
        for (number, name, mark) in [
            ("+61255502001", "Acme Acres", acme.mark), ("+61255502002", "Beta Bank", beta.mark),
        ] {
            let sent = try #require(gateway.receive(invite(number, branch: name), from: trunk).to(other).first)
            #expect(sent.contains("From: \"\(name)\""), "\(sent)")
            #expect(!sent.contains(name == "Beta Bank" ? "Acme" : "Beta"))
            #expect(gateway.updates().last?.customer == mark)
        }
        let sent = try #require(gateway.receive(invite("+61255501000", branch: "3"), from: trunk).to(office).first)
        #expect(sent.contains("Acme \\\"Bank\\\"") && gateway.updates().last?.customer == 0)
        #expect((acme.callCount, acme.brandedCallCount, beta.callCount) == (1, 1, 1))
    }

    @Test func `later requests of a dialog keep the name of its customer, and none once the customer is removed`()
        throws
    {
        let gateway = try gateway()
        let sent = try #require(gateway.receive(invite("+61255502002"), from: trunk).to(other).first)
        let answered = try #require(
            gateway.receive(response("200 OK", to: sent), from: other).to(trunk).first)
        let route = try #require(answered.firstMatch(of: /Record-Route: (<[^>]*>)/)).1
        func reinvite(_ branch: String) -> String {
            request("INVITE", extra: "Route: \(route)\n", toTag: ";tag=p", branch: branch, sequence: 2)
                .replacing("story@", with: "call1@").replacing("sip:100@192.0.2.20 SIP", with: "sip:a@192.0.2.33 SIP")
        }
        #expect(gateway.receive(reinvite("r1"), from: trunk).to(other).first?.contains("From: \"Beta Bank\"") == true)
        gateway.reload(try options(hasBeta: false))
        let later = try #require(gateway.receive(reinvite("r2"), from: trunk).to(other).first)
        #expect(later.contains("From: \"Carrier\"") && !later.contains("Acme"), "\(later)")
    }

    @Test func `the caller's response to a hold has the name of the dialog's customer, and the carrier's once removed`()
        throws
    {
        let gateway = try gateway()
        let forwarded = try #require(gateway.receive(invite("+61255502002"), from: trunk).to(other).first)
        let route = try #require(forwarded.firstMatch(of: /Record-(Route: <[^>]*>)/)).1
        func assertedName(ofHold branch: String) throws -> Substring {
            let hold = fromCalledSide(
                request("INVITE", extra: route + "\n", toTag: ";tag=p", branch: branch, sequence: 2)
            )
            .replacing("story@", with: "call1@").replacing("192.0.2.20 SIP/2.0", with: "203.0.113.5 SIP/2.0")
            let asked = try #require(gateway.receive(hold, from: other).to(trunk).first { $0.hasPrefix("INVITE ") })
            let asserted = "P-Asserted-Identity: \"Carrier\" <sip:+61491570156@c>\n"
            let sent = gateway.receive(response("200 OK", to: asked, extra: asserted), from: trunk).to(other)
            let success = try #require(sent.first { $0.hasPrefix("SIP/2.0 200") })
            return try #require(success.firstMatch(of: /P-Asserted-Identity: "([^"]*)"/)).1
        }
        #expect(try assertedName(ofHold: "h1") == "Beta Bank")
        gateway.reload(try options(hasBeta: false))
        #expect(try assertedName(ofHold: "h2") == "Carrier")
    }

    @Test func `a call of a PBX belongs to the customer of its calling number`() throws {
        let gateway = try gateway()
        func call(_ number: String, from pbx: PeerAddress, _ branch: String) -> UInt32? {
            let text = request("INVITE", branch: branch)
                .replacing("sip:100@192.0.2.20 SIP", with: "sip:+61491570156@203.0.113.5 SIP")
                .replacing("sip:+61491570156@carrier.example", with: "sip:\(number)@pbx.example")
                .replacing("story@", with: "out\(branch)@")
            _ = gateway.receive(text, from: pbx)
            return gateway.updates().last?.customer
        }
        #expect(call("+61255502001", from: other, "1") == acme.mark)
        #expect(call("+61255502002", from: other, "2") == beta.mark)
        #expect(call("+61255509999", from: other, "3") == 0)
        #expect(call("+61255502001", from: office, "4") == 0, "any PBX can write a number of another one")
    }

    @Test func `a traced request shows the customer of its call, from a trunk and from a PBX`() throws {
        let topology = try gateway().shared.settings.load().topology
        func customer(_ text: String, from source: PeerAddress) throws -> String? {
            var record = TraceRecord()
            (record.address, record.bytes) = (source, Array(text.replacing("\n", with: "\r\n").utf8))
            return topology.customer(of: record, try #require(TraceFacts(record.bytes)))
        }
        #expect(try customer(invite("+61255502002"), from: trunk) == "beta")
        #expect(try customer(invite("+61255509999"), from: trunk) == nil)
        let out = request("INVITE").replacing("sip:+61491570156@carrier.example", with: "sip:+61255502001@pbx.example")
        #expect(try customer(out, from: other) == "acme")
        #expect(try customer(out, from: office) == nil)
        #expect(try customer(out.replacing("Max-Forwards", with: "Privacy: id\nMax-Forwards"), from: other) == nil)
    }

    @Test func `a PBX of one customer alone has that customer's calls, whatever number it writes`() throws {
        let gateway = try gateway(isAlone: true)
        let text = request("INVITE").replacing("sip:100@192.0.2.20 SIP", with: "sip:+61491570156@203.0.113.5 SIP")
            .replacing("sip:+61491570156@carrier.example", with: "sip:+61255502002@pbx.example")
        _ = gateway.receive(text, from: other)
        #expect(gateway.updates().last?.customer == acme.mark)
    }

    @Test(arguments: [0, 1, 0xFFF, 0x1000, 0x3FF_FFFF] as [UInt32])
    func `the cookie has the customer beside the trunk and the largest number`(customer: UInt32) {
        let facts = DialogFacts(
            trunk: 0xFFFF, isInbound: true, isBranded: true, isNamed: true, caller: 999_999_999_999_999,
            isAsserted: true, customer: customer)
        #expect(DialogFacts(facts.payload) == facts)
    }

    @Test func `a thousand customers have a thousand marks`() {
        let marks = (0..<1_000).map { CallCustomer.mark(of: "customer-\($0)") }
        #expect(Set(marks).count == 1_000)
        #expect(marks.allSatisfy { $0 > 0 && $0 < 1 << 26 })
    }
}
