// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import Testing
import Trust
import TrustFixtures

/// The public card is the directory's, and no signature bears it out (RFC 9796 §7).
@Suite("The public card beside signed values")
struct SignedCardLinkTests {
    /// The Call-Info values of a call with a token, in their order.
    private func callInfo(
        _ source: TrustRegime.Names, _ claims: SignedClaims, hasBrand: Bool = true
    ) throws -> [Substring] {
        var setting = SignedCallSetting(mode: .decide, isTrusted: false)
        setting.rules = { $0.names = source }
        setting.options = {
            $0.brandNumbers = hasBrand ? nil : []
            $0.writesCardLink = true
            $0.cards = CardLinks(template: "https://cards.example/b/{brand_id}")
        }
        let invite = SignedInvite(
            identity: [try claims.field()], from: "\"WIRELESS\" <sip:+12025551000@carrier.example>", lines: "")
        let sent = try setting.gateway().receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
        let lines = try #require(sent.first).split(separator: "\r\n")
        return lines.filter { $0.hasPrefix("Call-Info: ") }.map { $0.dropFirst("Call-Info: ".count) }
    }

    /// Rows: the source, and whether the brand's name is also the signed one, or another name is signed.
    @Test(
        arguments: [
            (.directoryFirst, true, true), (.directoryFirst, false, true), (.rcdFirst, true, true),
            (.rcdFirst, false, false), (.mustAgree, true, true), (.mustAgree, false, false), (.rcdOnly, true, false),
            (.rcdOnly, false, false), (.directoryOnly, true, true), (.directoryOnly, false, true),
        ] as [(TrustRegime.Names, Bool, Bool)])
    func `nobody gets the card of another`(source: TrustRegime.Names, agrees: Bool, hasCard: Bool) throws {
        let values = try callInfo(source, SignedClaims(name: agrees ? #"Acme "Bank""# : "Acme Signed"))
        #expect(values.contains("<https://cards.example/b/acme>;purpose=info") == hasCard, "\(values)")
        #expect(values.count <= 2 && values.filter { $0.contains("purpose=info") }.count == (hasCard ? 1 : 0))
        #expect(!values.contains { $0.contains("purpose=info") && $0.contains("verified") })
    }

    @Test func `the mark of a verified value stays at its own value`() throws {
        let values = try callInfo(.rcdFirst, SignedClaims(name: #"Acme "Bank""#, reason: "Delivery"))
        #expect(values.count == 2)
        #expect(values.last == "<https://cards.example/b/acme>;purpose=info")
        #expect(values.first?.contains("purpose=icon") == true || values.first?.contains("purpose=jcard") == true)
    }

    @Test func `signed values without a brand have no card`() throws {
        let values = try callInfo(.rcdFirst, SignedClaims(reason: "Delivery"), hasBrand: false)
        #expect(values.count == 1 && !values.contains { $0.contains("purpose=info") }, "\(values)")
    }
}
