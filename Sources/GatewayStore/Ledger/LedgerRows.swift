// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import GRDB

/// One call as the operator sees it; times in microseconds since 1970.
///
/// Texts come from the wire: escape them before they reach a terminal.
package struct LedgerCallRow: Hashable, Sendable, Codable {
    /// The row in the ledger; later calls have higher ones.
    package var row: Int64
    /// The gateway of the call, in rows of the shared ledger.
    package var node: String?
    package var callID: String
    package var sipCallID: String
    /// `inbound` or `outbound`.
    package var direction: String
    package var trunk: String?
    /// Nil without customers.
    package var customer: String?
    /// With plus sign; nil when withheld or unclear.
    package var caller: String?
    /// The caller as the carrier wrote it, if that is no certain number; nil when withheld.
    package var callerReceived: String?
    package var destination: String?
    package var subscriber: String?
    /// Further numbers or users that the carrier rang under the same Call-ID; nil for none.
    package var alsoCalled: [String]?
    package var brandID: String?
    package var brandName: String?
    /// The carrier's name that the brand's name replaced.
    package var carrierName: String?
    /// `matched`, or the reason for a call without a brand.
    package var decision: String
    /// The findings behind the decision; nil for outbound calls and calls of an earlier version.
    package var evidence: DecisionEvidence?
    package var inviteAt: Int64
    package var progressAt: Int64?
    package var ringingAt: Int64?
    package var answeredAt: Int64?
    package var cancelledAt: Int64?
    /// Time of a rejection that may bring another attempt; nil after that attempt or the end of the call.
    package var refusedAt: Int64?
    package var endedAt: Int64?
    package var status: Int?
    package var q850Cause: Int?
    package var attempts: Int
    /// The SIP Call-ID of the latest attempt, if it differs from the first.
    package var latestSIPCallID: String?
    /// The call as which another gateway goes on with this one after another attempt; nil otherwise.
    package var continuedAs: String?
    /// True for a forwarded call.
    package var isForwarded: Bool
    /// `voicemail` or `system`; nil for a person and without a 2xx.
    package var answeredBy: String?
    /// Nil while the call is in progress.
    package var outcome: String?
    package var ringSeconds: Int?
    package var callSeconds: Int?
    /// Time of the subscriber's call back; nil for none.
    package var returnedAt: Int64?
    /// Its events in order: display, end, return.
    ///
    /// A return is an event of both of its calls.
    package var events: [LedgerEventRow]

    init(row: Row, events: [LedgerEventRow]) {
        self.row = row["id"]
        callID = row["call_id"]
        sipCallID = row["sip_call_id"]
        direction = row["direction"] == 1 ? "inbound" : "outbound"
        trunk = row["trunk"]
        customer = row["customer"]
        caller = (row["caller"] as Int64?).map { "+\($0)" }
        callerReceived = row["caller_received"]
        destination = (row["destination"] as Int64?).map { "+\($0)" }
        subscriber = row["subscriber"]
        let alsoCalled = CalledParty.parties(stored: row["also_called"]).map(\.name)
        self.alsoCalled = alsoCalled.isEmpty ? nil : alsoCalled
        brandID = row["brand_id"]
        brandName = row["brand_name"]
        carrierName = row["carrier_name"]
        decision = row["decision"]
        evidence = (row["evidence"] as Int64?).flatMap(UInt32.init(exactly:)).map(DecisionEvidence.init(rawValue:))
        inviteAt = row["invite_at"]
        progressAt = row["progress_at"]
        ringingAt = row["ringing_at"]
        answeredAt = row["answered_at"]
        cancelledAt = row["cancelled_at"]
        refusedAt = row["refused_at"]
        endedAt = row["ended_at"]
        status = row["status"]
        q850Cause = row["q850"]
        attempts = row["attempts"]
        latestSIPCallID = row["attempt_sip_call_id"]
        continuedAs = row["continued_as"]
        isForwarded = (row["forwarded"] as Int?) == 1
        answeredBy = answeredAt == nil ? nil : row["answered_by"]
        outcome = row["outcome"]
        ringSeconds = row["ring_seconds"]
        callSeconds = row["call_seconds"]
        returnedAt = row["returned_at"]
        self.events = events
    }
}

/// One event of the outbox as the operator sees it; times in seconds since 1970.
package struct LedgerEventRow: Hashable, Sendable, Codable {
    /// The state of an event.
    package enum State: Int, Hashable, Sendable, Codable, CaseIterable {
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
