// SPDX-License-Identifier: Apache-2.0

import CallAccounting

/// A step of the wall clock, with the part of the ring that was written before it.
struct ClockStep {
    let microseconds: Int64
    /// The new time, in microseconds since 1970.
    let noticedAt: Int64
    /// Ring position at the last look that found the old clock: updates up to here have old times.
    let lastOld: UInt64
    /// Ring position at the look that found the step: later updates have new times.
    let position: UInt64

    /// The next position at which the clock of the updates changes or may change.
    func boundary(after reached: UInt64) -> UInt64 { reached < lastOld ? lastOld : position }

    /// Shifts an update with an old time to the new clock.
    ///
    /// Between `lastOld` and `position` are the updates between two looks, a tenth of a second. There the nearer clock
    /// counts.
    /// - Parameter reached: ring position before the read that delivered the update.
    func retimed(_ update: CallUpdate, at reached: UInt64) -> CallUpdate {
        let time = update.wallMicroseconds &+ microseconds
        let isOld =
            reached < lastOld || (time &- noticedAt).magnitude < (update.wallMicroseconds &- noticedAt).magnitude
        guard isOld else { return update }
        var update = update
        update.wallMicroseconds = time
        return update
    }
}
