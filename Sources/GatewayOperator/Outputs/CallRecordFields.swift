// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GatewayStore

// The fields of a call in JSON and CSV, for commands and for the operator's systems.

extension LedgerCallRow {
    /// The fields of a record for the operator's systems; docs/records.md explains each.
    private static let fields =
        CallColumn.all.flatMap(\.fields) + [
            CallField("gateway") { .text($0.node) }, CallField("written") { .text($0.written) },
        ]

    /// The titles of a CSV file of records: the fields of the first versions in their order, then the further ones.
    static let recordTitles = firstTitles + fields.map(\.name).filter { !firstTitles.contains($0) }

    private static let firstTitles = [
        "call_id", "sip_call_id", "latest_sip_call_id", "direction", "trunk", "caller", "destination", "subscriber",
        "brand_id", "brand_name", "carrier_name", "decision", "invite_at", "progress_at", "ringing_at", "answered_at",
        "cancelled_at", "ended_at", "returned_at", "sip_status", "q850_cause", "attempts", "forwarded", "answered_by",
        "outcome", "ring_seconds", "call_seconds", "caller_received", "customer", "gateway", "written",
    ]

    /// The fields of `json` in the order of a CSV row.
    static let csvTitles = recordTitles + ["continued_as", "events"]

    /// The call as a record.
    ///
    /// Events are left out: they are not settled when the call ends. A call that goes on elsewhere has no record here.
    var recordJSON: [String: JSONValue?] {
        Dictionary(uniqueKeysWithValues: Self.fields.map { ($0.name, JSONValue($0.value(self))) })
    }

    /// The call as `--json` shows it, with its events.
    var json: [String: JSONValue?] {
        let events = JSONValue.array(events.map { .object($0.json.compactMapValues { $0 }) })
        return recordJSON.merging(["continued_as": JSONValue(continuedAs), "events": events]) { own, _ in own }
    }

    /// The fields of `json` as cells; each event is its outcome and its state.
    var csvCells: [String?] {
        recordCells + [continuedAs, events.map { "\($0.outcome)=\($0.state.word)" }.joined(separator: " ")]
    }

    /// The cells of a CSV record.
    var recordCells: [String?] {
        let json = recordJSON
        return Self.recordTitles.map { title in
            switch json[title] ?? nil {
            case .string(let text): text
            case .int(let number): "\(number)"
            case .bool(let flag): "\(flag)"
            case .array(let list):
                list.compactMap { if case .string(let text) = $0 { text } else { nil } }.joined(separator: " ")
            default: nil
            }
        }
    }
}

extension JSONValue {
    /// Nil for an unknown value.
    fileprivate init?(_ value: CallField.Value) {
        switch value {
        case .text(let text): self.init(text)
        case .integer(let number): self.init(number.map(Int.init))
        case .flag(let flag):
            guard let flag else { return nil }
            self = .bool(flag)
        case .time(let time): self.init(microseconds: time)
        case .list(let texts): self.init(texts)
        }
    }
}
