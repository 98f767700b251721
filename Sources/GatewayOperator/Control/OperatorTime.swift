// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// Reads and writes times of the command line: `2026-01-31` or `2026-01-31T12:00:00Z`, in UTC.
enum OperatorTime {
    /// The moment as the command line takes it.
    static func text(_ seconds: Int64) -> String { Timestamp.string(from: seconds) }

    /// The first second of a day, or the moment; seconds since 1970, nil for any other text.
    static func first(_ text: String) -> Int64? {
        Timestamp.seconds(from: text.contains("T") ? text : text + "T00:00:00Z")
    }

    /// The last second of a day, or the moment.
    static func last(_ text: String) -> Int64? {
        first(text).map { text.contains("T") ? $0 : $0 + 86_399 }
    }
}
