// SPDX-License-Identifier: Apache-2.0

import HostSystem
import Synchronization

/// Tells a queue whose rows wait by the wall clock how far that was set back: each wait must last as long as it was meant.
///
/// A clock set forward only makes rows due before their time, which costs a try. Any thread.
package final class QueueClock: Sendable {
    private let state: Mutex<(steps: WallClockSteps, behind: Int64)>

    /// - Parameter steady: microseconds of a clock that nobody sets.
    package init(steady: @escaping @Sendable () -> Int64 = WallClockSteps.sinceBoot) {
        state = Mutex((WallClockSteps(steady: steady), 0))
    }

    /// Runs `shift` with the seconds by which the clock was set back since the last time, where it was.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: what `shift` throws; the seconds are kept for the next time then.
    func follow(now: Int64, _ shift: (Int64) throws -> Void) rethrows {
        guard let behind = take(now) else { return }
        do {
            try shift(behind)
        } catch {
            giveBack(behind)
            throw error
        }
    }

    /// As the other, for a queue that waits for its database without a thread.
    func follow(now: Int64, _ shift: (Int64) async throws -> Void) async rethrows {
        guard let behind = take(now) else { return }
        do {
            try await shift(behind)
        } catch {
            giveBack(behind)
            throw error
        }
    }

    private func take(_ now: Int64) -> Int64? {
        state.withLock { state in
            let (microseconds, isOver) = now.multipliedReportingOverflow(by: 1_000_000)
            if let step = state.steps.step(of: { isOver ? .max / 2 : microseconds }), step < 0 {
                state.behind += -step / 1_000_000
            }
            defer { state.behind = 0 }
            return state.behind > 0 ? state.behind : nil
        }
    }

    private func giveBack(_ behind: Int64) { state.withLock { $0.behind += behind } }
}
