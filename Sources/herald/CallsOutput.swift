// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import GatewayAdmin
import GatewayStore

/// The shapes in which `herald calls` shows calls.
enum CallsOutput: CaseIterable {
    case table, csv, json

    /// The calls in this shape, with titles where the shape has any and they are wanted.
    func write(_ calls: [LedgerCallRow], titles: Bool) throws {
        switch self {
        case .json:
            for call in calls { try Output.write(json: call.json) }
        case .csv:
            if titles { Output.write(CSVText.row(LedgerCallRow.csvTitles)) }
            for call in calls { Output.write(CSVText.row(call.csvCells)) }
        case .table: Output.write(Self.table(calls, titles: titles))
        }
    }

    private static func table(_ calls: [LedgerCallRow], titles: Bool) -> String {
        var table = TextTable(
            titles
                ? [
                    "TIME", "DIRECTION", "TRUNK", "FROM", "TO", "BRAND", "DECISION", "OUTCOME", "RING", "TALK",
                    "EVENTS",
                ] : [])
        for call in calls {
            table.add([
                Timestamp.string(from: call.inviteAt / 1_000_000), call.direction, call.trunk, call.callerShown,
                call.destination ?? call.subscriber, call.brandName, call.decision, call.outcomeShown,
                call.ringSeconds.map { "\($0)s" }, call.callSeconds.map { "\($0)s" },
                call.events.map { "\($0.outcome) (\($0.state.word))" }.joined(separator: ", "),
            ])
        }
        return table.text
    }
}

extension LedgerCallRow {
    /// The caller's number, what the carrier sent where that is none, or that it is withheld.
    var callerShown: String? {
        if caller == nil, decision == PassThroughReason.privacy.description { return "withheld" }
        return caller ?? callerReceived.map { "\($0) (unclear)" }
    }

    /// The outcome, with what makes it special.
    var outcomeShown: String {
        var words = [outcome ?? "open"]
        if let answeredBy { words.append("by \(answeredBy)") }
        if isForwarded { words.append("forwarded") }
        if attempts > 1 { words.append("\(attempts) attempts") }
        return words.joined(separator: ", ")
    }

    /// The call as records for other systems have it: without events, which are not settled when it ends.
    var cdr: [String: JSONValue?] { json.filter { $0.key != "events" } }

    static let cdrTitles = Array(csvTitles.dropLast())
    var cdrCells: [String?] { Array(csvCells.dropLast()) }

    /// The fields of `json` in the order of a line; docs/records.md tells what each is.
    static let csvTitles = [
        "call_id", "sip_call_id", "latest_sip_call_id", "direction", "trunk", "caller", "destination", "subscriber",
        "brand_id", "brand_name", "carrier_name", "decision", "invite_at", "progress_at", "ringing_at", "answered_at",
        "cancelled_at", "ended_at", "returned_at", "sip_status", "q850_cause", "attempts", "forwarded", "answered_by",
        "outcome", "ring_seconds", "call_seconds", "caller_received", "events",
    ]

    /// The same as `json`, each event as its outcome and its state.
    var csvCells: [String?] {
        let json = json
        return Self.csvTitles.map { title in
            guard title != "events" else {
                return events.map { "\($0.outcome)=\($0.state.word)" }.joined(separator: " ")
            }
            switch json[title] ?? nil {
            case .string(let text): return text
            case .int(let number): return "\(number)"
            case .bool(let isSo): return "\(isSo)"
            default: return nil
            }
        }
    }

    /// The call as `--json` shows it.
    var json: [String: JSONValue?] {
        [
            "call_id": .string(callID), "sip_call_id": .string(sipCallID), "direction": .string(direction),
            "trunk": JSONValue(trunk), "caller": JSONValue(caller), "caller_received": JSONValue(callerReceived),
            "destination": JSONValue(destination),
            "subscriber": JSONValue(subscriber), "brand_id": JSONValue(brandID), "brand_name": JSONValue(brandName),
            "carrier_name": JSONValue(carrierName),
            "decision": .string(decision), "invite_at": JSONValue(microseconds: inviteAt),
            "progress_at": JSONValue(microseconds: progressAt), "ringing_at": JSONValue(microseconds: ringingAt),
            "answered_at": JSONValue(microseconds: answeredAt), "cancelled_at": JSONValue(microseconds: cancelledAt),
            "ended_at": JSONValue(microseconds: endedAt), "returned_at": JSONValue(microseconds: returnedAt),
            "sip_status": JSONValue(status), "q850_cause": JSONValue(q850Cause), "attempts": .int(attempts),
            "latest_sip_call_id": JSONValue(latestSIPCallID), "forwarded": .bool(isForwarded),
            "answered_by": JSONValue(answeredBy),
            "outcome": JSONValue(outcome), "ring_seconds": JSONValue(ringSeconds),
            "call_seconds": JSONValue(callSeconds),
            "events": .array(events.map { .object($0.json.compactMapValues { $0 }) }),
        ]
    }
}
