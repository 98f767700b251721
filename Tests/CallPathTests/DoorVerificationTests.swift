// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import Testing
import Trust
import TrustFixtures

@Suite("Verifications by a door: those of a call on the same trunk")
struct DoorVerificationTests {
    private static let single = TrustLab.shared.cases.filter { $0.sequence == nil && !$0.identity.isEmpty }

    private func party(_ number: String) -> StatedSignedCall.Party { .number(Array(number.utf8)) }

    @Test(arguments: single) func `a call and a door have the same verdict`(_ item: TrustLab.Case) throws {
        for regime in ["us", "fr", "private"] {
            var setting = SignedCallSetting(regime: regime, known: item.known, crl: item.crl, seconds: item.now)
            setting.rules = { $0.policy.fetchRules = item.fetch == "on" ? [AddressRules()] : [] }
            let gateway = try setting.gateway()
            _ = gateway.receive(SignedInvite(item).text, from: GatewayUnderTest.trunk)
            let trust = try #require(gateway.updates().first?.trust, "\(item) under \(regime)")
            let asked = gateway.shared.trust.requests.takeAll().map(\.request)

            let door = DoorVerification(gateway.shared.settings, gateway.shared.trust, trunk: "carrier")
            let date = item.date == nil ? nil : Int64(1_289_690_940)
            let verified = try #require(
                door.verify(
                    StatedSignedCall(
                        caller: party(item.caller), called: party(item.called), to: party(item.to), date: date,
                        identities: item.identity.map { Array($0.utf8) }), at: item.now))

            let title = "\(item) under \(regime)"
            #expect(verified.tokens.map(\.cause) == trust.causes, "\(title)")
            #expect(TrustEvidence.Result(verified.number) == trust.result, "\(title)")
            #expect(gateway.shared.trust.requests.takeAll().map(\.request) == asked, "\(title)")
        }
    }

    @Test func `without rules for signed calls there is no verdict`() throws {
        let gateway = try SignedCallSetting(options: { $0.signatures = nil }).gateway()
        let call = StatedSignedCall(caller: party("1"), to: party("2"), identities: [])
        for trunk in ["carrier", "nobody"] {
            let door = DoorVerification(gateway.shared.settings, gateway.shared.trust, trunk: trunk)
            #expect(door.verify(call, at: 0) == nil)
        }
    }
}
