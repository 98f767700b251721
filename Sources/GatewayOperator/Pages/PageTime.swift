// SPDX-License-Identifier: Apache-2.0

import Branding

/// Times as pages show them and as forms send them, in UTC.
enum PageTime {
    /// `2026-01-31 12:00:05` for seconds since 1970.
    static func text(_ seconds: Int64) -> String {
        UTCTimestamp.string(seconds: seconds).replacing("T", with: " ").replacing("Z", with: "")
    }

    /// The same for microseconds since 1970.
    static func text(microseconds: Int64) -> String { text(microseconds / 1_000_000) }

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

    /// Reads `2026-01-31`, `2026-01-31T12:00` or `2026-01-31T12:00:05` of a form; nil for any other text.
    static func seconds(_ text: String) -> Int64? {
        guard let match = text.wholeMatch(of: /([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?)?Z?/)
        else { return nil }
        let time = (match.2 ?? "00:00") + (match.3 ?? ":00")
        let microseconds = UpdateTime("\(match.1)T\(time)Z").microseconds
        return microseconds > 0 ? microseconds / 1_000_000 : nil
    }
}
