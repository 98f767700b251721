// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import Hummingbird

/// The query of `GET mobile/branding/sync`.
struct SyncQuery: Sendable {
    /// The client's cursor; nil for a full response.
    let since: SyncCursor?
    let device: String?
    /// True if the client asks for deactivated entries.
    let includesInactive: Bool
    /// The fields of each entry.
    let fields: Set<EntryField>
    /// The parameters that change the response.
    var parts: [String]

    /// - Throws: `Refusal` (400) for an invalid value.
    init(_ request: Request) throws {
        let text = QueryText.read("since", of: request)
        since = try text.map { text in
            guard let cursor = SyncCursor(text) else { throw Refusal.badRequest("since is no ISO 8601 time") }
            return cursor
        }
        device = QueryText.read("device_id", of: request)
        if let device, device.unicodeScalars.count > 128 {
            throw Refusal.badRequest("device_id has more than 128 characters")
        }
        switch QueryText.read("include_inactive", of: request) {
        case nil, "false": includesInactive = false
        case "true": includesInactive = true
        default: throw Refusal.badRequest("include_inactive must be true or false")
        }
        fields = try EntryFieldQuery.read(request)
        let names = fields == EntryField.all ? [] : [fields.map(\.rawValue).sorted().joined(separator: ",")]
        parts = [text ?? "", device ?? "", "\(includesInactive)"] + names
    }
}

/// Reads query parameters as text.
enum QueryText {
    /// A parameter; nil if missing or empty.
    ///
    /// A bare plus stays a plus, unlike in forms, because many clients do not encode the plus of a number or a time
    /// offset.
    static func read(_ name: Substring, of request: Request) -> String? {
        guard let value = request.uri.queryParameters[name], !value.isEmpty else { return nil }
        return String(value)
    }

    /// Reads a telephone number, which some clients encode twice.
    static func number(_ name: Substring, of request: Request) -> String? {
        read(name, of: request).map { $0.contains("%") ? $0.removingPercentEncoding ?? $0 : $0 }
    }
}
