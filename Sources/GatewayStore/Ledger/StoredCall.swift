// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// The row of a call in this ledger or in another gateway's, from which its record is made.
struct StoredCall {
    let integer: (String) -> Int64?
    let text: (String) -> String?

    /// The columns that `record` reads.
    static let columns = [
        "call_id", "direction", "sip_call_id", "trunk", "caller", "destination", "subscriber", "brand_id", "brand_name",
        "decision", "invite_at", "progress_at", "ringing_at", "answered_at", "cancelled_at", "refused_at", "status",
        "q850", "sip_cause", "attempts", "carrier_name", "forwarded", "answered_by", "session_until", "attempt_call_id",
        "attempt_sip_call_id", "caller_received", "evidence", "customer", "ended_at", "outcome", "call_seconds",
        "attempt_at", "earlier_attempts", "also_called",
    ]

    /// Nil for a row that no gateway wrote.
    var record: CallRecord? {
        guard let call = text("call_id").flatMap({ CallIdentifier($0) }),
            let direction = integer("direction").flatMap(UInt8.init(exactly:)).flatMap(
                CallUpdate.Direction.init(rawValue:))
        else { return nil }
        var record = CallRecord(
            call: call, direction: direction, sipCallID: text("sip_call_id") ?? "", trunk: text("trunk"),
            caller: Self.number(integer("caller")), destination: Self.number(integer("destination")),
            subscriber: text("subscriber") ?? "", brandID: text("brand_id"), brandName: text("brand_name"),
            carrierName: text("carrier_name"), customer: text("customer"),
            reason: CallRecord.reason(ofDecision: text("decision") ?? ""), inviteAt: integer("invite_at") ?? 0)
        record.callerReceived = text("caller_received")
        record.evidence = integer("evidence").flatMap(UInt32.init(exactly:)).map(DecisionEvidence.init(rawValue:))
        record.progressAt = integer("progress_at")
        record.ringingAt = integer("ringing_at")
        record.answeredAt = integer("answered_at")
        record.cancelledAt = integer("cancelled_at")
        record.refusedAt = integer("refused_at")
        record.status = code("status")
        record.q850Cause = code("q850")
        record.sipCause = code("sip_cause")
        record.attempts = Int(integer("attempts") ?? 1)
        record.isForwarded = integer("forwarded") == 1
        record.machine = text("answered_by").flatMap(CallAnswerer.init(rawValue:))
        record.sessionUntil = integer("session_until")
        record.attempt = text("attempt_call_id").flatMap { CallIdentifier($0) }.map {
            ($0, text("attempt_sip_call_id") ?? "")
        }
        record.attemptAt = integer("attempt_at")
        record.earlierAttempts = (text("earlier_attempts") ?? "").split(separator: " ").compactMap {
            CallIdentifier(String($0))
        }
        record.alsoCalled = CalledParty.parties(stored: text("also_called"))
        readEnd(into: &record)
        return record
    }

    /// The end of a call that has ended; the other columns show whether it was seen or assumed.
    private func readEnd(into record: inout CallRecord) {
        guard let endedAt = integer("ended_at") else { return }
        record.endedAt = endedAt
        record.outcome = text("outcome").flatMap(CallOutcome.init(rawValue:))
        record.endIsKnown =
            record.answeredAt != nil
            ? integer("call_seconds") != nil : record.cancelledAt != nil || record.status >= 300
    }

    static func number(_ digits: Int64?) -> E164Number? {
        digits.flatMap(UInt64.init(exactly:)).flatMap(E164Number.init(digits:))
    }

    private func code(_ column: String) -> UInt16 { integer(column).flatMap(UInt16.init(exactly:)) ?? 0 }
}

extension StoredCall {
    private static let times: Set<String> = [
        "invite_at", "progress_at", "ringing_at", "answered_at", "cancelled_at", "refused_at", "session_until",
        "ended_at", "attempt_at",
    ]
    /// Difference of two clocks from which on times move; below it, they stay as they are.
    private static let leastOffset: Int64 = 1_000_000

    /// A row of another gateway, with its times by this gateway's clock.
    init(_ row: ForeignRow) {
        let offset = abs(row.clockOffset) >= Self.leastOffset ? row.clockOffset : 0
        integer = { column in
            let value = row.integer(column)
            return Self.times.contains(column) ? value.map { $0 &- offset } : value
        }
        text = { row.text($0) }
    }
}
