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

@Suite("Fetched chains that are less than the stored one", .timeLimit(.minutes(8)))
struct LesserChainTests {
    private static let now: Int64 = 1_700_000_000
    private static let both: [TrustCause] = [.passed, .passed]

    private func lesser(
        _ fetched: ClosedRange<Int64>, _ standings: [TrustCause], beside stored: ClosedRange<Int64>,
        _ former: [TrustCause]
    ) -> LesserChain? {
        func times(_ range: ClosedRange<Int64>) -> ClosedRange<Int64> {
            Self.now + range.lowerBound...Self.now + range.upperBound
        }
        let signer = StoredSigner(
            address: "https://cert.example.net/1.pem", certificates: [], chain: [], key: nil, authority: nil,
            constraints: [], validity: times(fetched), standings: standings.map(\.rawValue), subject: "", importedAt: 0)
        let known = KnownFetch.Chain(digest: [], validity: times(stored), standings: former.map(\.rawValue))
        return LesserChain(signer, beside: known, at: Self.now)
    }

    /// Times of the fetched and of the stored chain relative to now, both good under both regimes.
    @Test(
        arguments: [
            (-50 ... -1, -90...90, TrustCause.certificateExpired), (1...500, -90...90, .certificateExpired),
            (-200...80, -90...90, .certificateExpired), (-90...80, -90...90, .certificateExpired),
            (-90...0, -90...90, .certificateExpired), (-90...90, -90...90, nil), (-200...90, -90...90, nil),
            (-200...900, -90...90, nil),
            // A provider has changed to certificates of shorter life.
            (-10...20, -90...900, nil),
            // The stored one has ended, or has not begun.
            (-50 ... -2, -90 ... -1, nil), (-200...5, -90 ... -1, nil), (1...500, -90 ... -1, nil),
            (-90...50, 10...100, nil),
        ] as [(ClosedRange<Int64>, ClosedRange<Int64>, TrustCause?)])
    func `a chain that has ended or is older replaces no good one`(
        fetched: ClosedRange<Int64>, stored: ClosedRange<Int64>, cause: TrustCause?
    ) {
        #expect(lesser(fetched, Self.both, beside: stored, Self.both)?.cause == cause)
    }

    @Test(
        arguments: [
            ([.passed, .untrustedSigner], [.passed, .passed], .untrustedSigner),
            ([.untrustedSigner, .passed], [.passed, .noAuthority], .untrustedSigner),
            ([.passed, .noAuthority], [.passed, .untrustedSigner], nil),
            ([.passed, .passed], [.passed, .revoked], nil),
            // The stored one counts nowhere.
            ([.passed, .untrustedSigner], [.revoked, .revoked], nil),
        ] as [([TrustCause], [TrustCause], TrustCause?)])
    func `a chain replaces none that counts under a regime more`(
        fetched: [TrustCause], stored: [TrustCause], cause: TrustCause?
    ) {
        #expect(lesser(-90...90, fetched, beside: -90...90, stored)?.cause == cause)
    }

    @Test func `a host that sends an ended certificate takes no good one out of use`() async throws {
        let gateway = try await FetchFixture { _, position in FetchFixture.chain(position == 0 ? "spc" : "expired") }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        let before = try gateway.signers.stored()
        for count in 2...3 {
            gateway.signers.time.advance(by: .seconds(86_400))
            await gateway.settle()
            #expect(gateway.peer.requests.count == count)
            #expect(try gateway.call(address).number == .passed(.a))
        }
        #expect(try gateway.signers.stored().signers == before.signers)
        let state = try #require(try await gateway.stored(address))
        #expect(state.cause == TrustCause.certificateExpired.rawValue && state.attempts == 2)
        #expect(state.reason.contains("the fetched certificate ended at 2016-06-30"), "\(state.reason)")
        #expect(gateway.signers.log.text.contains("is not refreshed (certificate_expired)"))
    }
}
