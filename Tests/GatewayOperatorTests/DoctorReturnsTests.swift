// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import Host
import Testing

@testable import GatewayOperator

@Suite("Doctor: calls back that cannot be recognised")
struct DoctorReturnsTests {
    private static func call(
        _ direction: Int64, caller: Int64?, destination: Int64?, subscriber: String? = nil, also: String? = nil
    ) -> LedgerCallRow {
        LedgerCallRow(
            shared: [
                "id": .integer(1), "call_id": .text("c"), "sip_call_id": .text("s"), "direction": .integer(direction),
                "caller": .integer(caller), "destination": .integer(destination), "subscriber": .text(subscriber),
                "also_called": .text(also), "decision": .text("no_match"), "invite_at": .integer(0),
                "attempts": .integer(1),
            ], node: "a", events: [])
    }

    /// Six calls from a brand to a direct number of the company.
    private static let inbound = (0..<6).map { _ in
        call(1, caller: 61_491_570_156, destination: 61_255_502_001, subscriber: "+61255502001")
    }

    private func texts(_ outbound: [LedgerCallRow], _ policy: ReturnPolicy = ReturnPolicy()) -> [String] {
        DoctorReturns.findings(Self.inbound + outbound, policy).map(\.text)
    }

    @Test func `a company that calls out with its main number gets a note with the remedy`() throws {
        let outbound = (0..<7).map { _ in Self.call(2, caller: 61_255_502_000, destination: 61_491_570_156) }
        let text = try #require(texts(outbound).first)
        #expect(text.hasPrefix("7 of the latest 7 outbound calls have the caller +61255502000, which no inbound call"))
        #expect(text.contains("outcomes.subscribers"))
        let group = ReturnPolicy(groups: ["+61255502000": "company", "+61255502001": "company"])
        #expect(texts(outbound, group).isEmpty, "a group is the remedy")
    }

    @Test func `so does a PBX whose From has one user for all`() throws {
        let outbound = (0..<5).map { _ in Self.call(2, caller: nil, destination: 61_491_570_156, subscriber: "desk") }
        #expect(try #require(texts(outbound).first).contains("the caller user desk,"))
    }

    @Test(arguments: [1, 4]) func `a few calls, and a few of many, are no sign`(few: Int) {
        let own = (0..<40).map { _ in Self.call(2, caller: 61_255_502_001, destination: 61_491_570_156) }
        let other = (0..<few).map { _ in Self.call(2, caller: 61_255_502_000, destination: 61_491_570_156) }
        #expect(texts(other).isEmpty)
        #expect(texts(own + other + other).isEmpty)
    }

    @Test func `withheld callers and numbers that were called are none`() {
        let withheld = (0..<9).map { _ in Self.call(2, caller: nil, destination: 61_491_570_156) }
        let also = Self.call(
            1, caller: 61_491_570_156, destination: 61_255_502_001, also: "+61255502009 1009")
        let outbound = (0..<9).map { _ in Self.call(2, caller: 61_255_502_009, destination: 61_491_570_156) }
        #expect(texts(withheld).isEmpty)
        #expect(texts(outbound + [also]).isEmpty)
        #expect(DoctorReturns.findings(outbound, ReturnPolicy()).isEmpty, "nothing is known without inbound calls")
    }
}
