// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation

/// ISO 8601 timestamps of the contract.
///
/// Writes UTC with `Z`. Reads timestamps with or without fraction and offset.
package enum Timestamp {
    /// Formats seconds since 1970, such as `2026-01-31T09:05:00Z`.
    package static func string(from seconds: Int64) -> String {
        var (time, parts) = (time_t(seconds), tm())
        gmtime_r(&time, &parts)
        // Formats by hand because Foundation's formatter takes microseconds, and every event and entry has a timestamp.
        func padded(_ number: Int32, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(width - digits.count, 0)) + digits
        }
        return "\(padded(parts.tm_year + 1900, 4))-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))T"
            + "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))Z"
    }

    /// Parses a timestamp to whole seconds since 1970; drops the fraction.
    ///
    /// Nil for unreadable text.
    ///
    /// Foundation's parser is too lenient: it accepts trailing text and days that no month has.
    package static func seconds(from text: String) -> Int64? {
        let microseconds = UpdateTime(text).microseconds
        guard microseconds != .min else { return nil }
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return rest < 0 ? seconds - 1 : seconds
    }
}
