// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GatewayStore
import Primitives

// The fields of a call in JSON and CSV, for commands and for the operator's systems.

extension LedgerCallRow {
    /// The fields of a record for the operator's systems; docs/records.md explains each.
    private static let fields =
        CallColumn.all.flatMap(\.fields) + [
            CallField("gateway") { .text($0.node) }, CallField("written") { .text($0.written) },
            CallField("link") { .text($0.link) },
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
    static let csvTitles = recordTitles + ["continued_as", "events", "local_time"]

    /// Fields with telephone numbers, or texts in their place.
    private static let numberFields = [
        "caller", "destination", "subscriber", "caller_received", "also_called", "provider",
    ]

    /// Fields with foreign texts, which may hold a number: a carrier without a name often writes the caller's.
    private static let textFields = ["carrier_name", "brand_name", "signer"]

    /// The call as a record.
    ///
    /// Events are left out: they are not settled when the call ends. A call that goes on elsewhere has no record here.
    var recordJSON: [String: JSONValue?] {
        Dictionary(uniqueKeysWithValues: Self.fields.map { ($0.name, JSONValue($0.value(self))) })
    }

    /// The call as `--json` and exports show it, with its events.
    ///
    /// - Parameters:
    ///   - zone: of `local_time`, the time of the INVITE.
    ///   - shown: the form in which the reader may see a number, without what is sent of its events; nil for whole numbers.
    func json(in zone: LocalZone, shown: ((String) -> String)? = nil) -> [String: JSONValue?] {
        var json = shown.map { masked($0) } ?? recordJSON
        json["continued_as"] = .some(JSONValue(continuedAs))
        json["local_time"] = .some(.string(zone.timestamp(inviteAt / 1_000_000)))
        let events: [[String: JSONValue?]] = events.map { event in
            shown == nil ? event.json : ["outcome": .string(event.outcome), "state": .string(event.state.word)]
        }
        json["events"] = .some(.array(events.map { .object($0.compactMapValues { $0 }) }))
        return json
    }

    /// The fields of `json` as cells; each event is its outcome and its state.
    func csvCells(in zone: LocalZone, shown: ((String) -> String)? = nil) -> [String?] {
        let events = events.map { "\($0.outcome)=\($0.state.word)" }.joined(separator: " ")
        return Self.cells(of: shown.map { masked($0) } ?? recordJSON)
            + [continuedAs, events, zone.timestamp(inviteAt / 1_000_000)]
    }

    /// The record with its numbers as a reader may see them.
    private func masked(_ shown: (String) -> String) -> [String: JSONValue?] {
        var json = recordJSON
        for name in Self.numberFields {
            switch json[name] ?? nil {
            case .string(let text) where name != "provider" || SignatureSteps.isNumber(text):
                json[name] = .some(.string(shown(text)))
            case .array(let list):
                let numbers = list.map { number -> JSONValue in
                    if case .string(let text) = number { .string(shown(text)) } else { number }
                }
                json[name] = .some(.array(numbers))
            default: break
            }
        }
        for name in Self.textFields where name != "brand_name" || isNamedBySigner {
            if case .string(let text)?? = json[name], NumberMask.holdsNumber(text) {
                json[name] = .some(.string(shown(text)))
            }
        }
        return json
    }

    /// The cells of a CSV record.
    var recordCells: [String?] { Self.cells(of: recordJSON) }

    private static func cells(of json: [String: JSONValue?]) -> [String?] {
        recordTitles.map { title in
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
