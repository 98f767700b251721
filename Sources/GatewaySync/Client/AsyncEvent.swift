// SPDX-License-Identifier: Apache-2.0

import Host
import Synchronization

/// Wakes one waiting task. A ring without a waiting task is kept; several rings count as one.
package final class AsyncEvent: Sendable {
    private struct State {
        var rung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Ends the current wait, or the next one. Any thread.
    package func ring() {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            state.rung = waiter == nil
            return waiter
        }
        waiter?.resume()
    }

    /// Takes a ring that nobody has waited for; false without one.
    func takeRing() -> Bool {
        state.withLock { state in
            defer { state.rung = false }
            return state.rung
        }
    }

    /// Waits for a ring, at most `duration`.
    ///
    /// Returns at once when the task is cancelled. Only one task may wait at a time.
    package func wait(_ duration: Duration, time: ServiceClock) async {
        await firstOf({ try? await time.sleep(duration) }, { await self.wait() })
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // Cancellation sets the flag before its handler takes the lock, so one of the two sees the other.
                    if state.rung || Task.isCancelled {
                        state.rung = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}
