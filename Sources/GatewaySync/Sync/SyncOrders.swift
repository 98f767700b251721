// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How one sync ended, for the operator who asked for it.
package struct SyncReport: Hashable, Sendable {
    package var isFull: Bool
    /// Rows written and removed.
    package var written = 0
    package var removed = 0
    /// Items left out, by reason.
    package var rejected: [String: Int] = [:]
    /// The failure in an operator's words; nil after a success.
    package var error: String?
}

/// Why a sync that an operator asked for did not begin.
package enum SyncRefusal: Error, Hashable, Sendable {
    /// One runs, or another operator waits for one.
    case running
    /// The service has ended.
    case stopping
}

/// Hands the next sync's report to the operator who asked for it: one order at a time, and none while a sync runs.
///
/// Any thread.
final class SyncOrders: Sendable {
    private struct State {
        var isRunning = false
        var isOver = false
        var order: (full: Bool, waiter: CheckedContinuation<Result<SyncReport, SyncRefusal>, Never>)?
    }

    private let state = Mutex(State())

    /// Places an order and waits for its report.
    ///
    /// - Parameter placed: called once the order stands, to begin the sync.
    func place(full: Bool, placed: () -> Void) async throws(SyncRefusal) -> SyncReport {
        let result = await withCheckedContinuation { waiter in
            let refusal: SyncRefusal? = state.withLock { state in
                if state.isOver { return .stopping }
                if state.isRunning || state.order != nil { return .running }
                state.order = (full, waiter)
                return nil
            }
            if let refusal { waiter.resume(returning: .failure(refusal)) } else { placed() }
        }
        return try result.get()
    }

    /// The beginning of a sync, which serves an order that stands.
    ///
    /// - Returns: true where the order asks for the whole set.
    func begin() -> Bool {
        state.withLock { state in
            state.isRunning = true
            return state.order?.full ?? false
        }
    }

    /// The end of a sync.
    func end(_ report: SyncReport) {
        let waiter = state.withLock { state in
            defer { (state.isRunning, state.order) = (false, nil) }
            return state.order?.waiter
        }
        waiter?.resume(returning: .success(report))
    }

    /// The end of the service: nobody waits any longer.
    func close() {
        let waiter = state.withLock { state in
            defer { (state.isOver, state.order) = (true, nil) }
            return state.order?.waiter
        }
        waiter?.resume(returning: .failure(.stopping))
    }
}
