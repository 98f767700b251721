// SPDX-License-Identifier: Apache-2.0

import Host
import Synchronization

/// Results of one producer on their way from its thread to the task that waits for them; safe from any thread.
final class KafkaInbox: Sendable {
    private struct State {
        var reports = KafkaReports()
        var waiter: CheckedContinuation<KafkaReports, Never>?
        /// Microseconds of the monotonic clock.
        var deadline: Int64 = 0
        var isClosing = false

        /// Whether a wait has anything left to wait for.
        var isSettled: Bool { reports.waiting == 0 || reports.failure != nil }

        /// Empties the reports, except for the problem and the number of records without one.
        mutating func take() -> KafkaReports {
            defer {
                reports.delivered = []
                reports.refused = []
            }
            return reports
        }
    }

    let settings: KafkaSettings
    private let log: @Sendable (KafkaLogLine) -> Void
    private let state = Mutex(State())
    /// Rings when the producer is closed.
    let closed = SteadyBell()

    init(_ settings: KafkaSettings, log: @escaping @Sendable (KafkaLogLine) -> Void) {
        (self.settings, self.log) = (settings, log)
    }

    /// Announces records before they are sent, because their reports may come at once.
    func expect(_ count: Int) { state.withLock { $0.reports.waiting += count } }

    func delivered(_ id: Int64) {
        change { state in
            state.reports.waiting -= 1
            state.reports.delivered.append(id)
            state.reports.problem = nil
        }
    }

    func refused(_ id: Int64, _ error: KafkaError) {
        change { state in
            state.reports.waiting -= 1
            state.reports.refused.append(KafkaRefusal(id: id, error: error))
        }
    }

    /// Keeps the first failure, which is the reason for the others.
    func failed(_ error: KafkaError) { change { $0.reports.failure = $0.reports.failure ?? error } }

    /// Keeps the problem; that no broker is left replaces no better reason.
    func met(_ error: KafkaError, isSummary: Bool) {
        state.withLock { state in
            if !isSummary || state.reports.problem == nil { state.reports.problem = error }
        }
    }

    func logged(_ line: KafkaLogLine) { log(line) }

    /// The failure, or else the problem, of this moment.
    var obstacle: KafkaError? { state.withLock { $0.reports.failure ?? $0.reports.problem } }

    /// Waits for reports of all records, for a failure, or for the end of `patience`; one task at a time.
    func wait(_ patience: Duration) async -> KafkaReports {
        let deadline = SteadyClock.microseconds + Int64(patience / .microseconds(1))
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: KafkaReports? = state.withLock { state in
                    guard !state.isSettled else { return state.take() }
                    (state.waiter, state.deadline) = (continuation, deadline)
                    return nil
                }
                if let now { continuation.resume(returning: now) }
                if Task.isCancelled { endWait() }
            }
        } onCancel: {
            endWait()
        }
    }

    /// Ends a wait whose time is over.
    func endOverdueWait() {
        if state.withLock({ $0.waiter != nil && SteadyClock.microseconds >= $0.deadline }) { endWait() }
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    func close() {
        state.withLock { $0.isClosing = true }
        endWait()
    }

    private func endWait() {
        let waiter = state.withLock { state in state.waiter.take().map { ($0, state.take()) } }
        if let (waiter, reports) = waiter { waiter.resume(returning: reports) }
    }

    private func change(_ step: (inout State) -> Void) {
        let isSettled = state.withLock { state in
            step(&state)
            return state.isSettled
        }
        if isSettled { endWait() }
    }
}
