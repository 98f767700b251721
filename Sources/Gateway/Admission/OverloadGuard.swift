// SPDX-License-Identifier: Apache-2.0

/// Decides which new calls are turned away while more comes in than the worker can carry, so that calls in progress do
/// not suffer (the idea of RFC 7339: shed at the door what would only fail later).
///
/// Told how full the receive queue is. The share of new calls that is shed follows what a while has shown (`held`) and, at
/// once, how far the queue is from `wanted`: a controller with a proportional and an integral part. The share alone that
/// the queue asks for at a moment is not enough: a call that is taken brings most of its messages later, so the worker took
/// all while the queue was empty and lost messages of calls in progress some 100 ms later (docs/performance-overload.md).
/// While the queue is empty the share falls to nothing within `release`. Pure; one worker owns one for each of its sockets.
package struct OverloadGuard: Sendable {
    /// Filling of the queue, 0 to 1, that is kept up while calls are shed: so little that bursts find room.
    package static let wanted = 0.1
    /// How much the held share grows in a millisecond for a queue that is full instead of as wanted.
    package static let gain = 0.01
    /// Milliseconds in which the held share falls from all to none while the queue is empty.
    package static let release = 667.0

    /// The share of new calls to shed as far as the past tells, 0 to 1.
    private var held = 0.0
    private var updated: UInt64 = 0
    /// Share of a shed call that is owed, so that shares come out exactly without chance.
    private var owed = 0.0

    package init() {}

    /// Whether the next new call is shed.
    ///
    /// - Parameters:
    ///   - filling: of the queue the call was read from; 0 where it holds less than a read takes.
    ///   - now: monotonic milliseconds.
    package mutating func sheds(at filling: Double, now: UInt64) -> Bool {
        // Where nothing is to be held there is nothing to reckon, and nothing was since.
        guard filling > 0 || held > 0 else {
            (updated, owed) = (now, 0)
            return false
        }
        // A long silence says nothing of a queue that is full now.
        let passed = Double(min(now &- updated, filling > 0 ? 10 : 10_000))
        updated = now
        held += filling > 0 ? Self.gain * (filling - Self.wanted) * passed : -passed / Self.release
        held = min(max(held, 0), 1)
        owed += min(max(held + (filling > 0 ? filling - Self.wanted : 0), 0), 1)
        guard owed >= 1 else { return false }
        owed -= 1
        return true
    }
}
