// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Testing

@testable import GatewayStore

@Suite("Ledger: callers whose number is unclear")
struct ReceivedCallerTests {
    private func invite(_ ring: UpdateRing, _ number: UInt64, received: String, reason: PassThroughReason) {
        var texts = CallTexts(sipCallID: Array("c\(number)@carrier.example".utf8))
        texts.callerReceived = Array(received.utf8)
        ring.append(
            CallUpdate(
                kind: .invite, direction: .inbound, call: CallIdentifier(high: 1, low: number),
                wallMicroseconds: LedgerFixture.Clock.start, reason: reason), texts: texts)
    }

    @Test func `what the carrier sent is kept and found by it, over a restart too`() throws {
        let ledger = try LedgerFixture()
        invite(ledger.ring, 1, received: "570157", reason: .numberUnclear)
        invite(ledger.ring, 2, received: "0255501301;phone-context=example.com", reason: .numberUnclear)
        invite(ledger.ring, 3, received: "5%", reason: .numberUnclear)
        try ledger.recorder.drain()
        try ledger.restart()
        try ledger.recorder.drain()
        #expect(
            try ledger.calls().map(\.callerReceived) == ["570157", "0255501301;phone-context=example.com", "5%"])
        func found(_ text: String) throws -> [String?] {
            var filter = CallFilter()
            filter.number = E164Number(text)
            filter.received = text
            return try ledger.calls(filter).map(\.callerReceived)
        }
        #expect(try found("570157") == ["570157"])
        #expect(try found("0255501301") == ["0255501301;phone-context=example.com"])
        #expect(try found("5%") == ["5%"])
        #expect(try found("0255501301;phone-context=example.com") == ["0255501301;phone-context=example.com"])
        #expect(try found("7015") == ["570157"], "a part is enough")
        #expect(try found("+61255501301") == [])
    }

    @Test func `the evidence of the decision is kept with the call, over a restart too`() throws {
        let ledger = try LedgerFixture()
        var update = CallUpdate(
            kind: .invite, direction: .inbound, call: CallIdentifier(high: 1, low: 7),
            wallMicroseconds: LedgerFixture.Clock.start, reason: .noMatch)
        var evidence = DecisionEvidence()
        (evidence.header, evidence.lookup, evidence.policy) = (.remotePartyID, .noBrand, .strict)
        update.evidence = evidence
        ledger.ring.append(update, texts: CallTexts(sipCallID: Array("c7@carrier.example".utf8)))
        invite(ledger.ring, 8, received: "1", reason: .numberUnclear)
        try ledger.recorder.drain()
        try ledger.restart()
        try ledger.recorder.drain()
        #expect(Set(try ledger.calls().map(\.evidence)) == [evidence, nil])
    }

    @Test func `of a withheld caller nothing is kept, whatever a update has`() throws {
        let ledger = try LedgerFixture()
        invite(ledger.ring, 1, received: "+61255501009", reason: .privacy)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.callerReceived) == [nil])
        #expect(try ledger.rows().allSatisfy { !$0.contains("1009") })
    }
}
