// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import GatewaySync
import GatewayTesting
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

/// Requirements: a list of authorities decides on fetched signers too, and a chain that counts no more is fetched once more.
@Suite("Fetched signers and the list of authorities", .timeLimit(.minutes(8)))
struct DelistedSignerTests {
    private let lists: ListAuthority

    init() throws { lists = try ListAuthority() }

    /// A gateway whose anchors are those of the list alone.
    private func gateway(
        _ response: @escaping @Sendable (FaultyPeer.Request, Int) -> FaultyPeer.Response
    ) async throws -> FetchFixture {
        let regime = RegimeText(keys: "list_root: pa.pem\n", files: ["pa.pem": try lists.rootFile])
        let gateway = try await FetchFixture(regime: regime, response)
        try await gateway.take(lists.signerFile, lists.list(1, of: ["root", "rsa_root"]))
        return gateway
    }

    @Test func `a signer whose authority has left the list fails, and is fetched once more`() async throws {
        let gateway = try await gateway { _, _ in FetchFixture.chain("spc") }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        #expect(try gateway.call(address).number == .passed(.a))
        let outcome = try await gateway.take(lists.list(2, of: ["rsa_root"]))
        #expect(outcome.refused == 0 && outcome.changes.contains { $0.kind == "decided" && $0.subject == address })
        // The provider may have changed to another authority meanwhile.
        let left = try gateway.call(address)
        #expect(left.causes == [.untrustedSigner] && left.number == .failed && left.requests.count == 1)
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        for _ in 0..<3 {
            let again = try gateway.call(address)
            #expect(again.causes == [.untrustedSigner] && again.number == .failed && again.requests.isEmpty)
            await gateway.settle()
        }
        // Neither a call nor a refresh has it fetched again.
        gateway.signers.time.advance(by: .seconds(86_400))
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        let text = try await TrustListing(
            gateway.signers.configuration(FetchFixture.trust), now: gateway.signers.time.now
        ).explanation(of: address)
        #expect(text.contains("under private: untrusted_signer"), "\(text)")
        #expect(text.contains("renewed     fetched again for a call that it failed"), "\(text)")
    }

    @Test func `a signer that has changed to a listed authority is found by that fetch`() async throws {
        let gateway = try await gateway { _, position in FetchFixture.chain(position == 0 ? "spc" : "rsa") }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        #expect(try gateway.call(address).number == .passed(.a))
        let row = try #require(try gateway.signers.stored().signers.first { $0.address == address }).row
        try await gateway.take(lists.list(2, of: ["rsa_root"]))
        #expect(try gateway.call(address).causes == [.untrustedSigner])
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        #expect(try gateway.call(address, by: "rsa").number == .passed(.a))
        #expect(try gateway.signers.stored().signers.first { $0.address == address }?.row == row)
    }

    @Test func `an authority that returns to the list brings its signer back without a fetch`() async throws {
        let gateway = try await gateway { _, _ in FetchFixture.chain("spc") }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        try await gateway.take(lists.list(2, of: ["rsa_root"]))
        try gateway.call(address)
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        // A list with a lower sequence is refused, so it brings nobody back.
        #expect(try await gateway.take(lists.list(1, of: ["root", "rsa_root"])).refused == 1)
        #expect(try gateway.call(address).causes == [.untrustedSigner])
        try await gateway.take(lists.list(3, of: ["root", "rsa_root"]))
        #expect(try gateway.call(address).number == .passed(.a))
        #expect(gateway.peer.requests.count == 2)
    }

    @Test func `while its authority is not listed a host that is down keeps the cause`() async throws {
        let gateway = try await gateway { _, position in position == 0 ? FetchFixture.chain("spc") : .status(503) }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        try await gateway.take(lists.list(2, of: ["rsa_root"]))
        #expect(try gateway.call(address).causes == [.untrustedSigner])
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        let verdict = try gateway.call(address)
        #expect(verdict.causes == [.untrustedSigner] && verdict.number == .failed, "a stored chain is evidence")
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2, "the pause after a failure holds")
    }
}
