// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import GatewayTesting
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

@Suite("Permissions of fetches", .timeLimit(.minutes(8)))
struct FetchPermissionTests {
    @Test func `a trunk with private networks opens them to no other trunk`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        let address = gateway.address()
        try gateway.call(address, trunk: 2, rules: FetchFixture.publicRules)
        await gateway.settle()
        #expect(gateway.peer.requests.isEmpty)
        #expect(
            try gateway.call(address, trunk: 2, rules: FetchFixture.publicRules).causes == [.certificateUnreachable])
        #expect(try await gateway.stored(address)?.reason.contains("x5u_private") == true)
        await gateway.settle()
        #expect(gateway.peer.requests.isEmpty)
        #expect(await gateway.service.fetchFigures?.counts == ["forbidden_address": 1], "the pause holds")
        // Calls of the other trunk do not wait for that pause.
        try gateway.call(address)
        await gateway.settle()
        #expect(gateway.peer.requests.count == 1)
        #expect(try gateway.call(address).number == .passed(.a))
    }

    @Test func `the same address of two trunks is two requests, each with its rules`() throws {
        let requests = SignerRequests()
        let address = "https://signer.example/1.pem"
        for (trunk, rules) in [(1, []), (2, [AddressRules()]), (3, [AddressRules()]), (4, [])]
            as [(UInt16, [AddressRules])]
        {
            requests.add(.fetch(address: address), trunk: trunk, rules: rules)
        }
        #expect(requests.takeAll().map(\.trunk) == [1, 2])
    }
}
