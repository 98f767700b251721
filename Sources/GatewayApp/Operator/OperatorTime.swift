// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// Moments as an operator writes them: `2026-01-31` or `2026-01-31T12:00:00Z`, in UTC.
package enum OperatorTime {
    /// The first second meant, since 1970; nil for anything else.
    package static func first(_ text: String) -> Int64? {
        Timestamp.seconds(from: text.contains("T") ? text : text + "T00:00:00Z")
    }

    /// The last second meant: of a day its last.
    package static func last(_ text: String) -> Int64? {
        first(text).map { text.contains("T") ? $0 : $0 + 86_399 }
    }
}
