// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import Hummingbird

/// The query of `GET mobile/branding/sync`.
struct SyncQuery: Sendable {
    /// Where the client stands; nil for a full answer.
    let since: SyncCursor?
    let device: String?
    /// True when the client wants to be told what is out of use.
    let includesInactive: Bool
    /// Everything by which answers differ.
    let parts: [String]

    /// - Throws: `Refusal` (400) for a value that cannot be read.
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
        parts = [text ?? "", device ?? "", "\(includesInactive)"]
    }
}

/// Query parameters as text.
enum QueryText {
    /// A parameter; nil when it is missing or empty.
    ///
    /// A bare plus stays one, though forms write a blank so: many clients leave that of a number or time offset bare.
    static func read(_ name: Substring, of request: Request) -> String? {
        guard let value = request.uri.queryParameters[name], !value.isEmpty else { return nil }
        return String(value)
    }

    /// The same for a telephone number, which some clients encode twice.
    static func number(_ name: Substring, of request: Request) -> String? {
        read(name, of: request).map { $0.contains("%") ? $0.removingPercentEncoding ?? $0 : $0 }
    }
}
