// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Decides which new calls are shed while more arrive than the worker can carry, so that calls in progress do not suffer
/// (the idea of RFC 7339).
///
/// A controller with an integral and a proportional part holds the receive queue at `wanted`. It accepts a share e^-p of new
/// calls, where p is the pressure. The integral part (`held`) follows the queue over time, the proportional part its
/// present distance from `wanted`. Both ignore a queue that lasts some ten milliseconds, as when the thread has no core.
///
/// The integral part is needed because an accepted call brings most of its messages later. The exponential is needed because
/// at three times the capacity a tenth more shed is a third less accepted, as measured.
/// Pure; one worker owns one for each of its sockets.
public struct OverloadGuard: Sendable {
    /// Filling of the queue, 0 to 1, to hold while calls are shed; low enough for bursts.
    public static let wanted = 0.15
    /// Pressure that a full queue adds in a millisecond.
    public static let gain = 0.005
    /// Pressure of a full queue at once.
    public static let pull = 3.0
    /// Held pressure before the first call is shed, as of a queue a third full for a tenth of a second.
    ///
    /// From twice this value on the proportional part counts in full. A mere burst sheds no call: only a lasting queue is a
    /// fault (RFC 8289).
    public static let patience = 0.1
    /// Filling above which the pressure grows faster, by which factor, and up to which pressure.
    ///
    /// Fast growth serves the begin of a flood. Later a full queue means only that the worker was delayed for a moment.
    public static let (crowded, haste, known) = (0.5, 12.0, 2.0)
    /// Most held pressure: one call in 50 is accepted then.
    public static let most = 4.0
    /// Milliseconds in which an empty queue removes a pressure of 1, which sheds two of three calls.
    ///
    /// A fuller queue below `wanted` removes it more slowly.
    public static let release = 100.0

    /// The integral part of the pressure.
    private var held = 0.0
    private var updated: UInt64 = 0
    /// Share of a shed call that is due, so that shares are exact without random numbers.
    private var owed = 0.0

    public init() {}

    /// Whether the next new call is shed.
    ///
    /// - Parameters:
    ///   - filling: filling of the call's queue; 0 if one read empties it.
    ///   - now: monotonic milliseconds.
    public mutating func sheds(at filling: Double, now: UInt64) -> Bool {
        // Without queue and held pressure nothing changes.
        guard filling > 0 || held > 0 else {
            (updated, owed) = (now, 0)
            return false
        }
        // A long time without calls must not count for a queue that is full now.
        let passed = Double(min(now &- updated, filling > 0 ? 10 : 10_000))
        updated = now
        let excess = filling - Self.wanted
        held = min(max(held + passed * change(excess, filling), 0), Self.most)
        owed += 1 - exp(-pressure(excess, filling))
        guard owed >= 1 else { return false }
        owed -= 1
        return true
    }

    /// True at half of the held pressure from which calls are shed: work that a call can do without is left out first.
    public var isPressed: Bool { held > Self.patience / 2 }

    /// The held pressure beyond `patience`.
    private var firm: Double { max(held - Self.patience, 0) }

    private func pressure(_ excess: Double, _ filling: Double) -> Double {
        guard filling > 0, firm > 0 else { return firm }
        let counts = excess > 0 ? min(firm / Self.patience, 1) : 1
        return max(firm + Self.pull * counts * excess, 0)
    }

    /// The change of the held pressure in a millisecond.
    private func change(_ excess: Double, _ filling: Double) -> Double {
        guard excess > 0 else { return excess / Self.wanted / Self.release }
        let haste = Self.haste * max(filling - Self.crowded, 0) * max(1 - firm / Self.known, 0)
        return Self.gain * (excess + haste)
    }
}
