// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives

@testable import CallAccounting

/// The events of a call, read back from the texts of their rows.
extension EventMinter {
    func passedThrough(_ record: CallRecord, callID: String) -> OutcomeEvent? {
        Self.read(callID) { passedThrough(record, callID: callID, to: &$0) }
    }

    func displayed(_ record: CallRecord, callID: String) -> OutcomeEvent? {
        Self.read(callID) { displayed(record, callID: callID, to: &$0) }
    }

    func ended(_ record: CallRecord, callID: String) -> OutcomeEvent? {
        Self.read(callID) { ended(record, callID: callID, to: &$0) }
    }

    func returned(_ outbound: CallRecord, original: ReturnedOriginal, latency: Int) -> OutcomeEvent? {
        Self.read(original.callID) { returned(outbound, original: original, latency: latency, to: &$0) }
    }

    private static func read(_ callID: String, _ write: (inout TextBuffer) -> MintedEvent?) -> OutcomeEvent? {
        var texts = TextBuffer(capacity: 0)
        texts.append("texts of an earlier event")
        guard let event = write(&texts) else { return nil }
        func text(_ place: Range<Int>) -> String {
            texts.withUnsafeBytes { String(decoding: $0[place], as: UTF8.self) }
        }
        guard let meta = try? JSONDecoder().decode(OutcomeEvent.Meta.self, from: Data(text(event.meta).utf8)) else {
            return nil
        }
        let key = text(event.key)
        return OutcomeEvent(
            key: key, callID: callID, number: text(event.number), outcome: key.replacing(":" + callID, with: ""),
            surface: text(event.surface), displayedAt: text(event.displayedAt), meta: meta,
            customer: event.customer.map(text))
    }
}
