// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GatewayStore

// The fields of a call in JSON and CSV, for commands and for the operator's systems.

extension LedgerCallRow {
    /// The fields of `json` in the order of a CSV row; docs/records.md explains each.
    static let csvTitles = [
        "call_id", "sip_call_id", "latest_sip_call_id", "direction", "trunk", "caller", "destination", "subscriber",
        "brand_id", "brand_name", "carrier_name", "decision", "invite_at", "progress_at", "ringing_at", "answered_at",
        "cancelled_at", "ended_at", "returned_at", "sip_status", "q850_cause", "attempts", "forwarded", "answered_by",
        "outcome", "ring_seconds", "call_seconds", "caller_received", "customer", "gateway", "written",
        "also_called", "continued_as", "events",
    ]

    /// The fields of `json` as cells; each event is its outcome and its state.
    var csvCells: [String?] {
        let json = json
        return Self.csvTitles.map { title in
            guard title != "events" else {
                return events.map { "\($0.outcome)=\($0.state.word)" }.joined(separator: " ")
            }
            switch json[title] ?? nil {
            case .string(let text): return text
            case .int(let number): return "\(number)"
            case .bool(let flag): return "\(flag)"
            case .array(let list):
                return list.compactMap { if case .string(let text) = $0 { text } else { nil } }.joined(separator: " ")
            default: return nil
            }
        }
    }

    /// The call as `--json` shows it, with its events.
    var json: [String: JSONValue?] {
        [
            "gateway": JSONValue(node), "call_id": .string(callID), "sip_call_id": .string(sipCallID),
            "direction": .string(direction),
            "trunk": JSONValue(trunk), "customer": JSONValue(customer), "caller": JSONValue(caller),
            "caller_received": JSONValue(callerReceived),
            "destination": JSONValue(destination),
            "subscriber": JSONValue(subscriber),
            "also_called": JSONValue(alsoCalled), "brand_id": JSONValue(brandID),
            "brand_name": JSONValue(brandName),
            "carrier_name": JSONValue(carrierName),
            "decision": .string(decision), "written": JSONValue(written),
            "invite_at": JSONValue(microseconds: inviteAt),
            "progress_at": JSONValue(microseconds: progressAt), "ringing_at": JSONValue(microseconds: ringingAt),
            "answered_at": JSONValue(microseconds: answeredAt), "cancelled_at": JSONValue(microseconds: cancelledAt),
            "ended_at": JSONValue(microseconds: endedAt), "returned_at": JSONValue(microseconds: returnedAt),
            "sip_status": JSONValue(status), "q850_cause": JSONValue(q850Cause), "attempts": .int(attempts),
            "latest_sip_call_id": JSONValue(latestSIPCallID), "forwarded": .bool(isForwarded),
            "answered_by": JSONValue(answeredBy), "continued_as": JSONValue(continuedAs),
            "outcome": JSONValue(outcome), "ring_seconds": JSONValue(ringSeconds),
            "call_seconds": JSONValue(callSeconds),
            "events": .array(events.map { .object($0.json.compactMapValues { $0 }) }),
        ]
    }

    /// The call as a record for the operator's systems.
    ///
    /// Events are left out: they are not settled when the call ends. A call that goes on elsewhere has no record here.
    var recordJSON: [String: JSONValue?] { json.filter { !Self.notInRecords.contains($0.key) } }

    private static let notInRecords: Set<String> = ["continued_as", "events"]

    /// The titles of a CSV file of records.
    static let recordTitles = Array(csvTitles.dropLast(notInRecords.count))

    /// The cells of a CSV record.
    var recordCells: [String?] { Array(csvCells.dropLast(Self.notInRecords.count)) }
}
