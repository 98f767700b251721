// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Host

/// Reads and writes times of the command line: `2026-01-31` or `2026-01-31T12:00:00Z`, in UTC.
enum OperatorTime {
    /// The moment as the command line takes it.
    static func text(_ seconds: Int64) -> String { Timestamp.string(from: seconds) }

    /// The first second of a day, or the moment; seconds since 1970, nil for any other text.
    static func first(_ text: String) -> Int64? {
        Timestamp.seconds(from: text.contains("T") ? text : text + "T00:00:00Z")
    }

    /// The last second of the year 9999.
    private static let lastSecond: Int64 = 253_402_300_799

    /// The time of a call by the option `--at`: a day, a moment, or seconds since 1970; nil without the option.
    ///
    /// - Throws: for any other text.
    static func ofCall(_ text: String?) throws(CommandFailure) -> Int64? {
        guard let text else { return nil }
        guard let seconds = Int64(text) ?? first(text), (0...lastSecond).contains(seconds) else {
            throw CommandFailure("--at takes 2026-01-31, 2026-01-31T12:00:00Z or seconds since 1970")
        }
        return seconds
    }

    /// The last second of a day, or the moment.
    static func last(_ text: String) -> Int64? {
        first(text).map { text.contains("T") ? $0 : $0 + 86_399 }
    }
}
