// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Times as pages show them: local, with UTC beside.
enum PageTime {
    /// `2026-01-31 07:00:05 EST (12:00:05 UTC)` for seconds since 1970; where the wall shows UTC, that alone.
    static func text(_ seconds: Int64, in zone: LocalZone = .ofProcess) -> String {
        zone.text(seconds) + (utc(seconds, beside: zone).map { " (\($0))" } ?? "")
    }

    /// The time in UTC beside a local one: `12:00:05 UTC`, with the date where it is another one; nil where the wall shows UTC.
    static func utc(_ seconds: Int64, beside zone: LocalZone) -> String? {
        zone.utc(beside: seconds)
    }

    /// A duration in its two largest units.
    static func span(_ seconds: Int64) -> String {
        let seconds = max(0, seconds)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
        }
    }
}
