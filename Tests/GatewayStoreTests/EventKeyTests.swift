// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayStore

@Suite("Outbox: what a key tells")
struct EventKeyTests {
    @Test(
        arguments: [
            ("missed:01890a5d-ac96-774b-bcce-b302099a8057", "missed", "01890a5d-ac96-774b-bcce-b302099a8057"),
            // The operator's own word may be anything.
            ("a:b:01890a5d-ac96-774b-bcce-b302099a8057", "a:b", "01890a5d-ac96-774b-bcce-b302099a8057"),
            ("é:01890a5d-ac96-774b-bcce-b302099a8057", "é", "01890a5d-ac96-774b-bcce-b302099a8057"),
            (":01890a5d-ac96-774b-bcce-b302099a8057", "", "01890a5d-ac96-774b-bcce-b302099a8057"),
            // Written by another hand.
            ("missed", "missed", ""),
            ("", "", ""),
        ])
    func `a key names what it reports, and the call`(text: String, outcome: String, callID: String) {
        let key = EventKey(text)
        #expect(key.text == text)
        #expect(key.outcome == outcome)
        #expect(key.callID == callID)
    }
}
