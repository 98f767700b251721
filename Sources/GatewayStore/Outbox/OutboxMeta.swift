// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import Primitives

/// Writes `meta` as JSON for the ledger and the directory; the counterpart of `OutcomeEvent.Meta`'s `Codable`.
///
/// Written by hand, because `JSONEncoder` takes ten times as long and a call has two events. Keys have a fixed order,
/// and unknown fields are left out.
struct OutboxMeta {
    private(set) var json = TextBuffer(capacity: 1_024)

    /// Replaces `json` by the JSON object of `meta`.
    mutating func encode(_ meta: OutcomeEvent.Meta) {
        json.removeAll()
        json.append(UInt8(ascii: "{"))
        put(",\"call_event_id\":\"", text: meta.callEventID)
        put(",\"caller_number_e164\":\"", text: meta.callerNumber)
        put(",\"destination_number_e164\":\"", text: meta.destinationNumber)
        put(",\"observed_at_utc\":\"", text: meta.observedAt)
        put(",\"branding_applied\":", meta.brandingApplied)
        put(",\"branding_profile_id\":\"", text: meta.brandingProfileID)
        put(",\"identity_type\":\"", text: meta.identityType)
        put(",\"ring_duration_seconds\":", meta.ringDuration)
        put(",\"call_duration_seconds\":", meta.callDuration)
        put(",\"call_outcome\":\"", text: meta.callOutcome)
        put(",\"return_call_detected\":", meta.returnCallDetected)
        put(",\"return_call_latency_seconds\":", meta.returnCallLatency)
        put(",\"display_evidence\":\"", text: meta.displayEvidence)
        put(",\"decision\":\"", text: meta.decision)
        put(",\"sip_status\":", meta.sipStatus)
        put(",\"q850_cause\":", meta.q850Cause)
        put(",\"trunk\":\"", text: meta.trunk)
        put(",\"forwarded\":", meta.forwarded)
        put(",\"voicemail\":", meta.voicemail)
        put(",\"answered_by\":\"", text: meta.answeredBy)
        put(",\"attempts\":", meta.attempts)
        put(",\"original_event_id\":\"", text: meta.originalEventID)
        json.append(UInt8(ascii: "}"))
    }

    /// Reads the output of `encode`.
    ///
    /// - Throws: `DecodingError` for an edited row.
    static func decode(_ json: String) throws -> OutcomeEvent.Meta {
        try JSONDecoder().decode(OutcomeEvent.Meta.self, from: Data(json.utf8))
    }

    private mutating func put(_ key: StaticString, text value: String?) {
        guard var value else { return }
        name(key)
        value.withUTF8 { text in
            if Self.isPlain(text) {
                json.append(UnsafeRawBufferPointer(text))
            } else {
                for byte in text { escape(byte) }
            }
        }
        json.append(UInt8(ascii: "\""))
    }

    private mutating func put(_ key: StaticString, _ value: Int?) {
        guard let value else { return }
        name(key)
        put("\(value)")
    }

    private mutating func put(_ key: StaticString, _ value: Bool?) {
        guard let value else { return }
        name(key)
        put(value ? "true" : "false")
    }

    private mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { _ = json.append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends `,"name":`, and the quotation mark before a text; without the comma for the first field.
    private mutating func name(_ key: StaticString) {
        let isFirst = json.count == 1
        key.withUTF8Buffer { key in
            _ = json.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(key).dropFirst(isFirst ? 1 : 0)))
        }
    }

    /// Whether no byte is to be escaped.
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var escaped: UInt8 = 0
        // Without an early end the compiler compares many bytes at once.
        for byte in text {
            escaped |= byte < 0x20 ? 1 : 0
            escaped |= byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 1 : 0
        }
        return escaped == 0
    }

    /// Escapes quote, backslash and control characters, RFC 8259 §7.
    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            json.append(UInt8(ascii: "\\"))
            json.append(byte)
        case 0..<0x20:
            put("\\u00\(Hexadecimal.text([byte]))")
        default:
            json.append(byte)
        }
    }
}
