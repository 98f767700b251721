// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Host
import Primitives

/// Reads and writes times of the command line.
enum OperatorTime {
    /// `2026-01-31T12:00:00Z`, with the local time in brackets where that is another one.
    static func text(_ seconds: Int64, in zone: LocalZone = .ofProcess) -> String {
        let text = Timestamp.string(from: seconds)
        guard !zone.isUTC(at: seconds) else { return text }
        let local = zone.text(seconds)
        return "\(text) (\(local.prefix(10) == text.prefix(10) ? String(local.dropFirst(11)) : local))"
    }

    /// `2026-01-31T12:00:00Z` alone.
    static func utc(_ seconds: Int64) -> String { Timestamp.string(from: seconds) }

    /// The first second of a day, or the moment; seconds since 1970, nil for any other text.
    private static func first(_ text: String) -> Int64? {
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
}
