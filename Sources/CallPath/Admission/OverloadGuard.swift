// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Decides which new calls are turned away while more comes in than the worker can carry, so that calls in progress do
/// not suffer (the idea of RFC 7339: shed at the door what would only fail later).
///
/// Told how full the receive queue is. Of new calls e^-p are taken, where the pressure p follows what a while has shown
/// (`held`) and, at once, how far the queue is from `wanted`: a controller with an integral and a proportional part, both
/// deaf to a queue that comes and goes within some ten milliseconds, as one does whenever the thread finds no core. The
/// share that the queue asks for at a moment is not enough: a call that is taken brings most of its messages later, so the
/// worker took all while the queue was empty and lost messages of calls in progress some 100 ms later. A share that is
/// added to instead of multiplied is not either: at three times what can be carried a tenth more shed is a third less
/// taken, and the calls taken swung between none and twice what could be carried (docs/performance/log.md).
/// Pure; one worker owns one for each of its sockets.
package struct OverloadGuard: Sendable {
    /// Filling of the queue, 0 to 1, that is kept up while calls are shed: so little that bursts find room.
    package static let wanted = 0.15
    /// How much pressure a queue that is full instead of as wanted adds in a millisecond.
    package static let gain = 0.005
    /// Pressure of a queue that is full instead of as wanted, at once.
    package static let pull = 3.0
    /// What is held before a call is shed, a queue a third full for a tenth of a second, say; from twice of it on the queue
    /// counts at once, whole.
    ///
    /// One that is only a burst is worked off without a refusal: it is the standing queue that is the trouble (RFC 8289).
    package static let patience = 0.1
    /// Filling above which the pressure grows faster, and how much: a flood that begins is not known yet.
    ///
    /// One that is, from the pressure `known` on, fills the queue only where the worker was held up for a moment.
    package static let (crowded, haste, known) = (0.5, 12.0, 2.0)
    /// The most that is held: one call in 50 is taken then.
    package static let most = 4.0
    /// Milliseconds in which an empty queue takes away as much as sheds two of three calls; one below `wanted` takes away
    /// the slower the fuller it is.
    package static let release = 100.0

    /// The pressure as far as the past tells.
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
        let excess = filling - Self.wanted
        held = min(max(held + passed * change(excess, filling), 0), Self.most)
        owed += 1 - exp(-pressure(excess, filling))
        guard owed >= 1 else { return false }
        owed -= 1
        return true
    }

    /// What is held beyond patience.
    private var firm: Double { max(held - Self.patience, 0) }

    private func pressure(_ excess: Double, _ filling: Double) -> Double {
        guard filling > 0, firm > 0 else { return firm }
        let counts = excess > 0 ? min(firm / Self.patience, 1) : 1
        return max(firm + Self.pull * counts * excess, 0)
    }

    /// What a millisecond adds to the pressure that is held.
    private func change(_ excess: Double, _ filling: Double) -> Double {
        guard excess > 0 else { return excess / Self.wanted / Self.release }
        let haste = Self.haste * max(filling - Self.crowded, 0) * max(1 - firm / Self.known, 0)
        return Self.gain * (excess + haste)
    }
}
