// SPDX-License-Identifier: Apache-2.0

import GRDB

/// One event of the outbox as the operator sees it; times in seconds since 1970.
package struct LedgerEventRow: Hashable, Sendable {
    /// The state of an event.
    package enum State: Int, Hashable, Sendable, CaseIterable {
        case waiting
        case delivered
        case refused
    }

    package var key: String
    /// The customer whose directory gets the event; nil without customers.
    package var customer: String?
    package var callID: String
    package var number: String
    package var outcome: String
    package var displayedAt: String
    /// The JSON object of the event.
    package var meta: String
    package var state: State
    package var attempts: Int
    package var createdAt: Int64
    package var dueAt: Int64
    /// The directory's id of the event.
    package var eventID: String?
    /// Nil until the directory has responded, and for a response without this field.
    package var isCounted: Bool?
    /// The reason why the event was not counted, was refused, or has not arrived yet.
    package var reason: String?
    /// HTTP status of a refusal.
    package var status: Int?
    package var settledAt: Int64?

    init(row: Row) {
        let key = EventKey(row["key"])
        self.key = key.text
        customer = row["customer"]
        callID = key.callID
        number = row["number"]
        outcome = key.outcome
        displayedAt = row["displayed_at"]
        meta = row["meta"]
        state = State(rawValue: row["state"]) ?? .waiting
        attempts = row["attempts"]
        createdAt = row["created_at"]
        dueAt = row["due_at"]
        eventID = row["event_id"]
        isCounted = row["counted"]
        reason = row["reason"]
        status = row["status"]
        settledAt = row["settled_at"]
    }
}
