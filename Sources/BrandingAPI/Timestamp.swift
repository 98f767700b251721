// SPDX-License-Identifier: Apache-2.0

import Branding

/// ISO 8601 timestamps of the contract.
///
/// Writes UTC with `Z`. Reads timestamps with or without fraction and offset.
package enum Timestamp {
    /// Formats seconds since 1970, such as `2026-01-31T09:05:00Z`.
    package static func string(from seconds: Int64) -> String { UTCTimestamp.string(seconds: seconds) }

    /// Parses a timestamp to whole seconds since 1970; drops the fraction.
    ///
    /// Nil for unreadable text. Foundation's parser is too lenient: it accepts trailing text and days that no month
    /// has.
    package static func seconds(from text: String) -> Int64? {
        let microseconds = UpdateTime(text).microseconds
        guard microseconds != .min else { return nil }
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return rest < 0 ? seconds - 1 : seconds
    }
}
