// SPDX-License-Identifier: Apache-2.0

import Host
import Synchronization

/// Shifts the rows of a queue after a step back of the wall clock, so that no wait gets longer.
///
/// A step forward makes rows due early, which costs an attempt. Any thread.
package final class QueueClock: Sendable {
    private let state: Mutex<(steps: ClockStepDetector, behind: Int64)>

    /// - Parameter steady: microseconds of the monotonic clock.
    package init(steady: @escaping @Sendable () -> Int64 = ClockStepDetector.sinceBoot) {
        state = Mutex((ClockStepDetector(steady: steady), 0))
    }

    /// Runs `shift` with the seconds of a step back since the last call, if there was one.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: the error of `shift`; the seconds are kept for the next call then.
    func follow(now: Int64, _ shift: (Int64) throws -> Void) rethrows {
        guard let behind = take(now) else { return }
        do {
            try shift(behind)
        } catch {
            giveBack(behind)
            throw error
        }
    }

    /// The same for a queue with an asynchronous database.
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
