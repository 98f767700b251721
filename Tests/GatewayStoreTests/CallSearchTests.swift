// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Testing

@testable import GatewayStore

@Suite("Ledger: calls found by number, name and Call-ID")
struct CallSearchTests {
    private let ledger: LedgerFixture
    private static let day: Int64 = 86_400_000_000

    init() throws {
        ledger = try LedgerFixture()
        try invite(1, caller: "+61255501001", brand: "100 % Acme", sipCallID: "a84b_4c76@carrier.example")
        try invite(2, caller: "+61255501002", brand: "Harbour Dental", sipCallID: "a84bX4c76@carrier.example")
        try ledger.recorder.drain()
    }

    private func invite(
        _ number: UInt64, caller: String, brand: String, sipCallID: String, at time: Int64 = LedgerFixture.Clock.start
    ) throws {
        var texts = CallTexts(sipCallID: Array(sipCallID.utf8))
        texts.brandName = Array(brand.utf8)
        texts.carrierName = Array("SYDNEY NSW".utf8)
        ledger.ring.append(
            CallUpdate(
                kind: .invite, direction: .inbound, call: CallIdentifier(high: 1, low: number), wallMicroseconds: time,
                caller: try #require(E164Number(caller)).digits, reason: nil), texts: texts)
    }

    private func found(_ change: (inout CallFilter) -> Void) throws -> [String?] {
        var filter = CallFilter()
        change(&filter)
        return try ledger.calls(filter).map(\.caller)
    }

    @Test func `the last digits find a number`() throws {
        #expect(try found { $0.numberEnd = "55501001" } == ["+61255501001"])
        #expect(try found { $0.numberEnd = "5550100" } == [])
    }

    @Test func `a part of the Call-ID finds a call, and its wildcards are letters`() throws {
        #expect(try found { $0.callIDPart = "b_4c" } == ["+61255501001"])
        #expect(try found { $0.callIDPart = "4c76@" }.count == 2)
        #expect(try found { $0.callIDPart = "%" } == [])
    }

    @Test func `a part of the brand's or the carrier's name finds a call in any case`() throws {
        #expect(try found { $0.name = "harbour" } == ["+61255501002"])
        #expect(try found { $0.name = "0 % A" } == ["+61255501001"])
        #expect(try found { $0.name = "sydney" }.count == 2)
        #expect(try found { $0.name = "_" } == [])
    }

    @Test func `a brand is found by its whole name or its id, a decision by its name`() throws {
        #expect(try found { $0.brand = "harbour dental" } == ["+61255501002"])
        #expect(try found { $0.brand = "Harbour" } == [] && found { $0.brand = "100 %" } == [])
        #expect(try found { $0.brand = "'; DROP TABLE call; --" } == [])
        ScriptedCall(ledger.ring, 3).missed()
        var other = ScriptedCall(ledger.ring, 4)
        (other.caller, other.reason) = (14_155_550_100, .noMatch)
        other.missed()
        try ledger.recorder.drain()
        #expect(try found { $0.brand = "b-7" }.contains("+4930123456"))
        #expect(try found { $0.decisions = ["no_match"] } == ["+14155550100"])
        #expect(try found { $0.decisions = ["privacy", "no_match"] } == ["+14155550100"])
        #expect(try found { $0.decisions = ["matched"] }.count == 3)
        #expect(try found { $0.decisions = [] } == [] && found { $0.decisions = ["') OR 1=1 --"] } == [])
    }

    @Test func `the provider of the signer finds its calls`() throws {
        for (number, provider) in [(3, "123A"), (4, "123B"), (5, "123A")] as [(UInt64, String)] {
            ledger.signers.store(.of(provider, row: Int64(number)))
            var call = ScriptedCall(ledger.ring, number)
            call.caller = 4_930_123_450 + number
            call.trust = TrustEvidence(facts: 3, causes: 0, signer: Int64(number))
            call.invite()
            try ledger.recorder.drain()
        }
        #expect(try found { $0.provider = "123a" } == found { $0.provider = "123A" })
        #expect(try found { $0.provider = "123A" } == ["+4930123453", "+4930123455"])
        #expect(try found { $0.provider = "123" } == [])
    }

    @Test func `a brand with a provider is one of the directory`() throws {
        ledger.signers.store(.of("123A", row: 7))
        for (number, reason) in [(3, nil), (4, .signedName)] as [(UInt64, PassThroughReason?)] {
            var call = ScriptedCall(ledger.ring, number)
            (call.caller, call.reason) = (4_930_123_450 + number, reason)
            call.trust = TrustEvidence(facts: 3, causes: 0, signer: 7)
            call.invite()
        }
        try ledger.recorder.drain()
        let name = try #require(try ledger.calls().first { $0.brandID != nil }?.brandName)
        #expect(try ledger.calls().filter { $0.brandName == name }.count == 2, "the signed name is the brand's")
        #expect(try found { $0.brand = name } == ["+4930123453"])
        #expect(try found { ($0.brand, $0.provider) = (name, "123A") } == ["+4930123453"])
        #expect(try found { $0.brand = "harbour dental" } == ["+61255501002"], "a brand without an identifier")
    }

    @Test func `a time leaves older calls out, also where rows are in the order of time`() throws {
        for number in 3...40 as ClosedRange<UInt64> {
            try invite(
                number, caller: "+6125550\(1000 + number)", brand: "", sipCallID: "c\(number)",
                at: LedgerFixture.Clock.start + Int64(number) * Self.day)
        }
        try ledger.recorder.drain()
        let since = LedgerFixture.Clock.start / 1_000_000 + 30 * 86_400
        #expect(try found { $0.since = since }.count == 11)
        #expect(
            try found {
                $0.since = since; $0.callIDPart = "c3"
            }.count == 10)
        #expect(try found { $0.since = since + 100 * 86_400 } == [])
    }
}
