// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import GatewayStore

extension LedgerEventRow.State {
    /// The state as commands and records spell it.
    var word: String {
        switch self {
        case .waiting: "waiting"
        case .delivered: "delivered"
        case .refused: "refused"
        }
    }
}

extension LedgerEventRow {
    /// The event as `--json` shows it; `meta` is the object that is sent.
    var json: [String: JSONValue?] {
        let sent = try? JSONDecoder().decode(JSONValue.self, from: Data(meta.utf8))
        return [
            "key": .string(key), "customer": JSONValue(customer), "call_id": .string(callID), "number": .string(number),
            "outcome": .string(outcome),
            "displayed_at": .string(displayedAt), "meta": sent ?? .string(meta), "state": .string(state.word),
            "attempts": .int(attempts), "created_at": JSONValue(seconds: createdAt),
            "due_at": state == .waiting ? JSONValue(seconds: dueAt) : nil, "event_id": JSONValue(eventID),
            "counted": JSONValue(isCounted), "reason": JSONValue(reason), "status": JSONValue(status),
            "settled_at": JSONValue(seconds: settledAt),
        ]
    }
}
