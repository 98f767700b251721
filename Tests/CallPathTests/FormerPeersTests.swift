// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore
import Testing

@testable import CallPath

@Suite("A reload leaves the calls of peers alone that it removes or moves")
struct FormerPeersTests {
    private static let elsewhere = PeerAddress(ipv4: 0xCB00_71C8, port: 5060)  // 203.0.113.200
    private static let newOffice = PeerAddress(ipv4: 0xC000_02C8, port: 5060)  // 192.0.2.200

    /// What a reload changes about one side.
    enum Change: CaseIterable {
        case trunkRemoved, trunkReplaced, trunkMoved, pbxMoved

        func applied() -> GatewayUnderTest.Options {
            var options = GatewayUnderTest.Options()
            switch self {
            case .trunkRemoved: options.hasTrunk = false
            case .trunkReplaced:
                options.hasTrunk = false
                options.secondTrunk = elsewhere
            case .trunkMoved: options.trunkAddress = elsewhere
            case .pbxMoved: options.pbxAddress = newOffice
            }
            return options
        }
    }

    /// A gateway with an answered call, and the route both sides have to it.
    private func answeredCall() throws -> (gateway: GatewayUnderTest, route: String) {
        let gateway = try GatewayUnderTest(numbers: [])
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(
            response("200 OK", to: invite, extra: "Contact: <sip:100@192.0.2.20>\n"), from: GatewayUnderTest.pbx)
        let route = try #require(
            invite.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") }.map { $0.dropFirst(7) })
        return (gateway, route + "\n")
    }

    private func carrierBye(_ route: String) -> String {
        request("BYE", extra: route, toTag: ";tag=p", branch: "bye", sequence: 2)
    }

    private func pbxBye(_ route: String) -> String {
        fromCalledSide(request("BYE", extra: route, toTag: ";tag=p", branch: "bye", sequence: 2))
            .replacing("192.0.2.20 SIP/2.0", with: "203.0.113.5 SIP/2.0")
            .replacing("Via: SIP/2.0/UDP 203.0.113.5", with: "Via: SIP/2.0/UDP 192.0.2.20")
    }

    @Test(arguments: Change.allCases, [true, false])
    func `a BYE reaches the side that has the call, and its response comes back`(change: Change, byCarrier: Bool) throws
    {
        let (gateway, route) = try answeredCall()
        gateway.reload(change.applied())
        let (sender, receiver) =
            byCarrier
            ? (GatewayUnderTest.trunk, GatewayUnderTest.pbx) : (GatewayUnderTest.pbx, GatewayUnderTest.trunk)
        let out = gateway.receive(byCarrier ? carrierBye(route) : pbxBye(route), from: sender)
        let bye = try #require(out.to(receiver).first)
        let end = gateway.receive(response("200 OK", to: bye), from: receiver)
        #expect(end.to(sender).first?.hasPrefix("SIP/2.0 200") == true)
    }

    @Test(arguments: Change.allCases) func `a call that rings is still answered or cancelled`(change: Change) throws {
        for ends in ["200 OK", "CANCEL"] {
            let gateway = try GatewayUnderTest(numbers: [])
            let invite = try #require(
                gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
            _ = gateway.receive(response("180 Ringing", to: invite), from: GatewayUnderTest.pbx)
            gateway.reload(change.applied())
            if ends == "CANCEL" {
                let out = gateway.receive(request("CANCEL"), from: GatewayUnderTest.trunk)
                #expect(out.to(GatewayUnderTest.pbx).first?.hasPrefix("CANCEL ") == true)
            } else {
                let out = gateway.receive(response(ends, to: invite), from: GatewayUnderTest.pbx)
                #expect(out.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 200") == true)
            }
        }
    }

    @Test func `a removed peer brings no new call, and nothing without the gateway's cookie`() throws {
        let (gateway, route) = try answeredCall()
        gateway.reload(Change.trunkReplaced.applied())
        let note = try #require(route.firstRange(of: "hd="))
        let foreign = route.replacingCharacters(in: route.index(after: note.upperBound)..., with: ">\n")
        for message in [
            request("INVITE", branch: "new").replacing("story@", with: "next@"),
            request("OPTIONS", branch: "o").replacing("story@", with: "next@"),
            request("BYE", toTag: ";tag=p", branch: "b2", sequence: 2),
            request("BYE", extra: foreign, toTag: ";tag=p", branch: "b3", sequence: 2),
            carrierBye(route).replacing("story@", with: "other@"),
        ] {
            let out = gateway.receive(message, from: GatewayUnderTest.trunk)
            #expect(out.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 403") == true, "\(message)")
            #expect(out.to(GatewayUnderTest.pbx).isEmpty)
        }
    }

    @Test func `after the longest time a call may take, a removed peer is unknown`() throws {
        let (gateway, route) = try answeredCall()
        gateway.reload(Change.trunkReplaced.applied())
        _ = gateway.pass(.milliseconds(14_400_000))
        let out = gateway.receive(carrierBye(route), from: GatewayUnderTest.trunk)
        #expect(out.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 403") == true)
    }

    @Test func `names with another address each time are remembered once each, and not without end`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        func former() -> Int { gateway.shared.settings.load().topology.former.count }
        var options = GatewayUnderTest.Options()
        for turn in 0..<10 {
            options.pbxAddress = turn % 2 == 0 ? Self.newOffice : GatewayUnderTest.pbx
            gateway.reload(options)
            // The trunk knows its PBX, but what it is known and reached by is the same.
            #expect(former() == 1)
        }
        for turn in 0..<200 {
            options.pbxAddress = PeerAddress(ipv4: 0x0A00_0000 + UInt32(turn), port: 5060)
            gateway.reload(options)
        }
        #expect(former() == FormerPeers.most)
    }
}
