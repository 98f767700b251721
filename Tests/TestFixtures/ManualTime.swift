// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A clock that moves only when a test advances it.
package final class ManualTime: Sendable {
    private struct Sleeper {
        var id: Int
        var end: Duration
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        var waits: [Duration]
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var elapsed = Duration.zero
        var asked: [Duration] = []
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var nextID = 0
        var watchers: [Watcher] = []

        /// The remaining time of each sleeper, the shortest first.
        var waits: [Duration] { sleepers.map { $0.end - elapsed }.sorted() }

        mutating func satisfied() -> [CheckedContinuation<Void, Never>] {
            let waits = waits
            let done = watchers.filter { $0.waits == waits }.map(\.continuation)
            watchers.removeAll { $0.waits == waits }
            return done
        }
    }

    /// The first second, unless a test sets another: 2026-01-01T00:00:00Z.
    package static let start: Int64 = 1_767_225_600

    private let state = Mutex(State())
    private let start: Int64
    /// True if every sleep ends at once, with the clock moved on by it.
    private let passesByItself: Bool

    package init(start: Int64 = ManualTime.start, passesByItself: Bool = false) {
        self.start = start
        self.passesByItself = passesByItself
    }

    /// Seconds since 1970.
    ///
    /// A test that sets them moves the clock, also backwards.
    package var now: Int64 {
        get { start + state.withLock { $0.elapsed.components.seconds } }
        set { advance(by: .seconds(newValue - now)) }
    }

    /// Every sleep that was asked for, in order.
    package var asked: [Duration] { state.withLock { $0.asked } }

    /// The remaining time of each sleeper, in the order of their start.
    package var sleeping: [Duration] { state.withLock { state in state.sleepers.map { $0.end - state.elapsed } } }

    /// Moves the time on and wakes the sleepers whose time has come.
    package func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.elapsed += duration
            let woken = state.sleepers.filter { $0.end <= state.elapsed }
            state.sleepers.removeAll { $0.end <= state.elapsed }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Waits until the remaining times of all sleepers are `waits`.
    package func waitForSleepers(_ waits: [Duration]) async {
        let wanted = waits.sorted()
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.waits == wanted { return true }
                state.watchers.append(Watcher(waits: wanted, continuation: continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    /// Sleeps until a test has advanced the clock by `duration`.
    package func sleep(_ duration: Duration) async throws {
        if passesByItself {
            state.withLock {
                $0.asked.append(duration)
                $0.elapsed += duration
            }
            return try Task.checkCancellation()
        }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { fallAsleep(id, for: duration, $0) }
        } onCancel: {
            cancel(id)
        }
    }

    private func fallAsleep(_ id: Int, for duration: Duration, _ continuation: CheckedContinuation<Void, any Error>) {
        let (isCancelled, watchers) = state.withLock { state in
            guard state.cancelled.remove(id) == nil else { return (true, [CheckedContinuation<Void, Never>]()) }
            state.asked.append(duration)
            state.sleepers.append(Sleeper(id: id, end: state.elapsed + duration, continuation: continuation))
            return (false, state.satisfied())
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        for watcher in watchers { watcher.resume() }
    }

    private func cancel(_ id: Int) {
        let sleeper = state.withLock { state in
            guard let position = state.sleepers.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return Sleeper?.none
            }
            return state.sleepers.remove(at: position)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
