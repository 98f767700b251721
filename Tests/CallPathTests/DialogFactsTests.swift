// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@testable import CallPath

@Suite("Facts of a dialog as the payload of its route cookie")
struct DialogFactsTests {
    @Test(arguments: [0, 7, 4095, .max] as [UInt16], [true, false])
    func `the facts of a call without a name return as they were`(trunk: UInt16, isInbound: Bool) {
        for isBranded in [true, false] {
            let facts = DialogFacts(trunk: trunk, isInbound: isInbound, isBranded: isBranded)
            #expect(DialogFacts(facts.payload) == facts)
            #expect(facts.payload.value == 0)
        }
    }

    @Test(arguments: [61_491_570_156, 999_999_999_999_999, 1] as [UInt64], [true, false])
    func `so do those of a call with a name`(caller: UInt64, isAsserted: Bool) {
        let facts = DialogFacts(
            trunk: 7, isInbound: true, isBranded: true, isNamed: true, caller: caller, isAsserted: isAsserted)
        #expect(DialogFacts(facts.payload) == facts)
        #expect(facts.caller == caller && facts.isAsserted == isAsserted)
    }

    @Test func `no two sets of facts have one payload`() {
        var payloads: Set<UInt32> = []
        for trunk in [0, 1, 2, .max] as [UInt16] {
            for flags in 0..<16 {
                let facts = DialogFacts(
                    trunk: trunk, isInbound: flags & 1 != 0, isBranded: flags & 2 != 0, isNamed: flags & 4 != 0,
                    caller: 5, isAsserted: flags & 8 != 0)
                payloads.insert(facts.payload.mark)
            }
        }
        // Without a name no number is asserted: 12 of the 16 sets differ.
        #expect(payloads.count == 4 * 12)
    }

    @Test func `a number is kept only where a name was written`() {
        let facts = DialogFacts(trunk: 7, isInbound: true, isBranded: true, caller: 61_491_570_156, isAsserted: true)
        #expect(facts.caller == 0 && !facts.isAsserted)
    }
}
