// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// Checks fields of requests.
enum FieldCheck {
    /// Checks a length in code points, as JSON Schema counts.
    ///
    /// - Throws: `Refusal` (400) that names the field.
    static func length(_ text: String, _ range: ClosedRange<Int>, _ field: String) throws {
        guard range.contains(text.unicodeScalars.count) else {
            throw Refusal.badRequest(
                "\(field) must have \(range.lowerBound) to \(range.upperBound) characters")
        }
    }

    /// - Throws: `Refusal` (400) that names the field.
    static func time(_ text: String, _ field: String) throws {
        guard isTime(text) else { throw Refusal.badRequest("\(field) is no ISO 8601 time") }
    }

    /// True for an ISO 8601 time of at most 64 bytes.
    static func isTime(_ text: String) -> Bool { text.utf8.count <= 64 && Timestamp.seconds(from: text) != nil }
}
