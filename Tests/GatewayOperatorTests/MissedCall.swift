// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore

extension UpdateRing {
    /// Appends a call of `EndedCalls.start` that rang and was missed, with the Call-ID `c1` for the first one.
    func appendMissed(_ number: UInt64, brand: String) {
        let call = CallIdentifier(high: 7, low: number)
        let texts = CallTexts(
            sipCallID: Array("c\(number)".utf8), brandName: Array(brand.utf8), subscriber: Array("1001".utf8))
        func update(_ kind: CallUpdate.Kind, _ second: Int64, _ status: UInt16 = 0) -> CallUpdate {
            CallUpdate(
                kind: kind, direction: .inbound, call: call, wallMicroseconds: EndedCalls.start + second * 1_000_000,
                status: status, caller: 61_255_501_001, destination: 61_255_502_000, reason: nil)
        }
        append(update(.invite, 0), texts: texts)
        append(update(.provisional, 1, 180))
        append(update(.failed, 31, 480))
    }
}
