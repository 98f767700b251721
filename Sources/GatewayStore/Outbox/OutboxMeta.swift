// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import Primitives

/// Writes `meta` as JSON for the ledger and the directory; the counterpart of `OutcomeEvent.Meta`'s `Codable`.
///
/// Written by hand, because `JSONEncoder` takes ten times as long and a call has two events. Keys have a fixed order,
/// and unknown fields are left out.
struct OutboxMeta {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(768) }

    /// Replaces `bytes` by the JSON object of `meta`.
    mutating func encode(_ meta: OutcomeEvent.Meta) {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(UInt8(ascii: "{"))
        put(",\"call_event_id\":", meta.callEventID)
        put(",\"caller_number_e164\":", meta.callerNumber)
        put(",\"destination_number_e164\":", meta.destinationNumber)
        put(",\"observed_at_utc\":", meta.observedAt)
        put(",\"branding_applied\":", meta.brandingApplied)
        put(",\"branding_profile_id\":", meta.brandingProfileID)
        put(",\"identity_type\":", meta.identityType)
        put(",\"ring_duration_seconds\":", meta.ringDuration)
        put(",\"call_duration_seconds\":", meta.callDuration)
        put(",\"call_outcome\":", meta.callOutcome)
        put(",\"return_call_detected\":", meta.returnCallDetected)
        put(",\"return_call_latency_seconds\":", meta.returnCallLatency)
        put(",\"display_evidence\":", meta.displayEvidence)
        put(",\"decision\":", meta.decision)
        put(",\"sip_status\":", meta.sipStatus)
        put(",\"q850_cause\":", meta.q850Cause)
        put(",\"trunk\":", meta.trunk)
        put(",\"forwarded\":", meta.forwarded)
        put(",\"voicemail\":", meta.voicemail)
        put(",\"answered_by\":", meta.answeredBy)
        put(",\"attempts\":", meta.attempts)
        put(",\"original_event_id\":", meta.originalEventID)
        bytes.append(UInt8(ascii: "}"))
    }

    /// Reads the output of `encode`.
    ///
    /// - Throws: `DecodingError` for an edited row.
    static func decode(_ json: String) throws -> OutcomeEvent.Meta {
        try JSONDecoder().decode(OutcomeEvent.Meta.self, from: Data(json.utf8))
    }

    private mutating func put(_ key: StaticString, _ value: String?) {
        guard var value else { return }
        name(key)
        bytes.append(UInt8(ascii: "\""))
        value.withUTF8 { text in
            if text.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
                bytes.append(contentsOf: text)
            } else {
                for byte in text { escape(byte) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func put(_ key: StaticString, _ value: Int?) {
        guard let value else { return }
        name(key)
        bytes.append(contentsOf: String(value).utf8)
    }

    private mutating func put(_ key: StaticString, _ value: Bool?) {
        guard let value else { return }
        name(key)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Appends `,"name":`, without the comma for the first field.
    private mutating func name(_ key: StaticString) {
        key.withUTF8Buffer { bytes.append(contentsOf: bytes.count > 1 ? $0[...] : $0.dropFirst()) }
    }

    /// Escapes quote, backslash and control characters, RFC 8259 §7.
    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0..<0x20:
            bytes.append(contentsOf: "\\u00\(Hexadecimal.text([byte]))".utf8)
        default:
            bytes.append(byte)
        }
    }
}
