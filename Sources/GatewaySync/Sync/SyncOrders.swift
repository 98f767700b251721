// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Result of one sync, for the operator who ordered it.
package struct SyncReport: Hashable, Sendable {
    package var isFull: Bool
    /// Rows written and removed.
    package var written = 0
    package var removed = 0
    /// Rejected items, by reason.
    package var rejected: [String: Int] = [:]
    /// The failure as a text for the operator; nil after a success.
    package var error: String?
}

/// Why a sync ordered by an operator did not start.
package enum SyncRefusal: Error, Hashable, Sendable {
    /// A sync runs, or another operator waits for one.
    case running
    /// The service has ended.
    case stopping
}

/// Passes the report of the next sync to the operator who ordered it.
///
/// One order at a time, and none during a sync. Any thread.
final class SyncOrders: Sendable {
    private struct State {
        var isRunning = false
        var isOver = false
        var order: (full: Bool, waiter: CheckedContinuation<Result<SyncReport, SyncRefusal>, Never>)?
    }

    private let state = Mutex(State())

    /// Places an order and waits for its report.
    ///
    /// - Parameter placed: called once the order is placed, to start the sync.
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

    /// Marks the start of a sync.
    ///
    /// It serves a placed order.
    ///
    /// - Returns: true if the order asks for the whole set.
    func begin() -> Bool {
        state.withLock { state in
            state.isRunning = true
            return state.order?.full ?? false
        }
    }

    /// Marks the end of a sync.
    func end(_ report: SyncReport) {
        let waiter = state.withLock { state in
            defer { (state.isRunning, state.order) = (false, nil) }
            return state.order?.waiter
        }
        waiter?.resume(returning: .success(report))
    }

    /// Marks the end of the service and ends all waits.
    func close() {
        let waiter = state.withLock { state in
            defer { (state.isOver, state.order) = (true, nil) }
            return state.order?.waiter
        }
        waiter?.resume(returning: .failure(.stopping))
    }
}
