// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore
import Foundation
import Primitives

/// Reads events of clients.
///
/// A phone sends its queue of events in order and stops at the first refusal. So every JSON object is accepted: an
/// invalid field is dropped or cut, and the event does not count (`event_dropped`).
extension ReportedEvent {
    /// Reads an event; unknown fields are ignored.
    init(_ object: [String: JSONValue]) {
        var fields = EventFields(object)
        var event = EventRequest(phoneNumber: fields.number(), outcome: fields.outcome())
        event.surface = fields.text(.surface, 0...64)
        event.deviceID = fields.text(.deviceID, 0...128)
        event.displayedAt = fields.time()
        event.eventKey = fields.key()
        event.meta = fields.meta()
        event.brandingRequestID = fields.requestID()
        self.init(event, warning: fields.warning, meta: fields.metaText)
    }
}

/// Reads the fields of an event, and keeps the first invalid one as the warning.
private struct EventFields {
    private let object: [String: JSONValue]
    private(set) var warning: String?
    /// The text of `meta`, once it is read.
    private(set) var metaText: String?

    init(_ object: [String: JSONValue]) { self.object = object }

    private func value(_ key: EventRequest.CodingKeys) -> JSONValue? {
        let value = object[key.stringValue]
        return value == .null ? nil : value
    }

    private mutating func fault(_ key: EventRequest.CodingKeys) { warning = warning ?? "invalid_\(key.stringValue)" }

    mutating func number() -> String {
        if case .string(let text) = value(.phoneNumber), E164Number(text) != nil { return text }
        fault(.phoneNumber)
        return ClientText.clean(value(.phoneNumber), atMost: FieldLimit.number) ?? ""
    }

    mutating func outcome() -> String {
        if let text = text(.outcome, 1...64) { return text }
        fault(.outcome)
        return "unknown"
    }

    mutating func text(_ key: EventRequest.CodingKeys, _ lengths: ClosedRange<Int>) -> String? {
        guard let value = value(key) else { return nil }
        if case .string(let text) = value, lengths.contains(text.unicodeScalars.count) { return text }
        fault(key)
        return ClientText.clean(value, atMost: lengths.upperBound)
    }

    mutating func time() -> String? {
        guard let value = value(.displayedAt) else { return nil }
        if case .string(let text) = value, FieldCheck.isTime(text) { return text }
        fault(.displayedAt)
        return nil
    }

    /// The key that identifies retries, even of an invalid event.
    ///
    /// A key that is too long is replaced by its hash. Some clients use a second name for the field; it is read if the
    /// first is missing.
    mutating func key() -> String? {
        switch value(.eventKey) ?? object["idempotency_key"] {
        case nil, .null: return nil
        case .string(let text) where (1...FieldLimit.eventKey).contains(text.unicodeScalars.count): return text
        case .string(let text) where !text.isEmpty:
            fault(.eventKey)
            return "sha256:" + Hexadecimal.text(SecretHash.of(text))
        case .int(let number):
            fault(.eventKey)
            return String(number)
        default:
            fault(.eventKey)
            return nil
        }
    }

    mutating func meta() -> [String: JSONValue]? {
        guard let value = value(.meta) else { return nil }
        if case .object(let meta) = value, value.isWithin(levels: JSONValue.deepest) {
            let text = JSONValue.text(meta)
            if text.utf8.count <= FieldLimit.meta {
                metaText = text
                return meta
            }
        }
        fault(.meta)
        return nil
    }

    mutating func requestID() -> String? {
        guard let value = value(.brandingRequestID) else { return nil }
        if case .string(let text) = value, UUID(uuidString: text) != nil { return text }
        fault(.brandingRequestID)
        return nil
    }
}

extension JSONValue {
    /// True for a value with at most `levels` nested lists and objects.
    func isWithin(levels: Int) -> Bool {
        switch self {
        case .array(let list): levels > 0 && list.allSatisfy { $0.isWithin(levels: levels - 1) }
        case .object(let object): levels > 0 && object.values.allSatisfy { $0.isWithin(levels: levels - 1) }
        default: true
        }
    }
}
