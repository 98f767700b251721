// SPDX-License-Identifier: Apache-2.0

/// A duration as a person reads it.
public enum SpanText {
    /// `12 s`, `1 min 1 s`, `2 h 3 min`, `4 d 5 h`: seconds in their two largest units; a negative number is `0 s`.
    public static func of(_ seconds: Int64) -> String {
        let seconds = max(0, seconds)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
        }
    }
}
