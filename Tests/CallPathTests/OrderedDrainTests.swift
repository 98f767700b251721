// SPDX-License-Identifier: Apache-2.0

import CallPath
import Testing

@Suite("A drain by order of the operator")
struct OrderedDrainTests {
    private let trunk = GatewayUnderTest.trunk

    private func invite(_ number: Int) -> String {
        request("INVITE", branch: "d\(number)").replacing("story@", with: "drain\(number)@")
    }

    @Test func `new calls and OPTIONS get 503 while a call in progress goes on, until the order is taken back`() throws
    {
        let gateway = try GatewayUnderTest(numbers: [])
        let sent = try #require(gateway.receive(invite(1), from: trunk).to(GatewayUnderTest.pbx).first)
        #expect(gateway.shared.orderDrain(true))
        #expect(gateway.shared.isDraining)
        let refused = gateway.receive(invite(2), from: trunk)
        #expect(refused.to(trunk).first?.hasPrefix("SIP/2.0 503 ") == true)
        #expect(refused.to(GatewayUnderTest.pbx).isEmpty)
        let options = request("OPTIONS", branch: "o").replacing("sip:100@192.0.2.20 SIP", with: "sip:192.0.2.10 SIP")
        #expect(gateway.receive(options, from: trunk).to(trunk).first?.hasPrefix("SIP/2.0 503 ") == true)
        let ringing = gateway.receive(response("180 Ringing", to: sent), from: GatewayUnderTest.pbx)
        #expect(ringing.to(trunk).first?.hasPrefix("SIP/2.0 180 ") == true)
        #expect(gateway.shared.orderDrain(false))
        #expect(gateway.receive(invite(3), from: trunk).to(GatewayUnderTest.pbx).count == 1)
    }

    @Test func `an order may come twice, and ends no stop`() throws {
        let shared = try GatewayUnderTest(numbers: []).shared
        #expect(shared.orderDrain(false) && !shared.isDraining)
        #expect(shared.orderDrain(true) && shared.orderDrain(true) && shared.isDraining)
        shared.drain()
        #expect(!shared.orderDrain(false) && !shared.orderDrain(true) && shared.isDraining)
    }
}
