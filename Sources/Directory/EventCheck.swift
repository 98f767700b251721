// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation

/// What an event must be like, alone or in a batch.
enum EventCheck {
    /// `idempotency_key` is a repetition of `event_key` in one of the contract's clients.
    static let fields: Set<String> = [
        "phone_number_e164", "outcome", "surface", "device_id", "branding_request_id", "displayed_at", "event_key",
        "idempotency_key", "meta",
    ]

    /// - Throws: `Refusal` (400) that names the field.
    static func check(_ event: EventRequest) throws {
        guard E164Number(event.phoneNumber) != nil else {
            throw Refusal.badRequest("phone_number_e164 is no E.164 number")
        }
        try length(event.outcome, 1...64, "outcome")
        try event.eventKey.map { try length($0, 1...FieldLimit.eventKey, "event_key") }
        try event.surface.map { try length($0, 0...64, "surface") }
        try event.deviceID.map { try length($0, 0...128, "device_id") }
        try event.displayedAt.map { try time($0, "displayed_at") }
        if let id = event.brandingRequestID, UUID(uuidString: id) == nil {
            throw Refusal.badRequest("branding_request_id is no UUID")
        }
        if let meta = event.meta, try JSONEncoder().encode(meta).count > FieldLimit.meta {
            throw Refusal.badRequest("meta has more than \(FieldLimit.meta) bytes")
        }
    }

    /// Counts as JSON Schema does, in code points.
    static func length(_ text: String, _ range: ClosedRange<Int>, _ field: String) throws {
        guard range.contains(text.unicodeScalars.count) else {
            throw Refusal.badRequest(
                "\(field) must have \(range.lowerBound) to \(range.upperBound) characters")
        }
    }

    static func time(_ text: String, _ field: String) throws {
        guard text.utf8.count <= 64, Timestamp.seconds(from: text) != nil else {
            throw Refusal.badRequest("\(field) is no ISO 8601 time")
        }
    }
}
