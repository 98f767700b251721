// SPDX-License-Identifier: Apache-2.0

/// The running time of a transaction's timer, in whole milliseconds (RFC 3261 §17, Table 4).
///
/// A `Duration` has 128 bits: turning one into a deadline took some hundred instructions, eleven times a call.
public struct TimerDelay: Hashable, Comparable, Sendable {
    /// No delay: the timer runs out at once.
    public static let zero = TimerDelay(milliseconds: 0)

    /// Its length; at most 49 days where it was a `Duration`.
    public let milliseconds: UInt64

    private init(milliseconds: UInt64) { self.milliseconds = milliseconds }

    /// Cuts a duration to whole milliseconds, between 1 ms and 49 days.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let clamped = min(max(seconds, 0), Int64(UInt32.max / 1000) - 1)
        milliseconds = UInt64(max(1, clamped * 1000 + max(attoseconds, 0) / 1_000_000_000_000_000))
    }

    /// A delay of whole milliseconds.
    public static func milliseconds(_ count: UInt64) -> TimerDelay { TimerDelay(milliseconds: count) }

    /// A delay of whole seconds.
    public static func seconds(_ count: UInt64) -> TimerDelay { TimerDelay(milliseconds: count * 1000) }

    /// True for the shorter one.
    public static func < (one: TimerDelay, other: TimerDelay) -> Bool { one.milliseconds < other.milliseconds }

    /// One after the other.
    public static func + (one: TimerDelay, other: TimerDelay) -> TimerDelay {
        TimerDelay(milliseconds: one.milliseconds + other.milliseconds)
    }
}
