// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// The time for which an event counts, on bills, in reports and against caps.
///
/// A gateway without a network reports later, so the time of receipt is the wrong month after the end of one. The time
/// of a client counts within a window: its clock may be wrong, and a bill has to become final.
struct EventTime: Hashable, Sendable {
    /// Seconds for which a month stays open after its end.
    static let window: Int64 = 7 * 86_400

    /// Seconds since 1970: `displayed_at` within the window, else the receipt.
    let counted: Int64
    /// `displayed_at` within the window, in seconds since 1970; nil without one.
    let displayed: Int64?

    /// - Parameter now: the time of receipt, in seconds since 1970.
    init(_ event: EventRequest, now: Int64) {
        let time = event.displayedAt.flatMap { Timestamp.seconds(from: $0) }
        displayed = time.flatMap { $0 <= now && $0 >= now - Self.window ? $0 : nil }
        counted = displayed ?? now
    }

    /// The calendar month in UTC, such as `2026-01`.
    var month: String { MonthUsage.month(of: counted) }

    /// The day in UTC, such as `2026-01-31`.
    var day: String { Self.day(of: counted) }

    /// The day in UTC of a time in seconds since 1970, such as `2026-01-31`.
    static func day(of time: Int64) -> String { String(Timestamp.string(from: time).prefix(10)) }
}
