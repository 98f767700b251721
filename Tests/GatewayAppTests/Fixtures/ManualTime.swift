// SPDX-License-Identifier: Apache-2.0

import GatewaySync
import Synchronization

/// A clock that moves only when a test advances it.
final class ManualTime: Sendable {
    private struct Sleeper {
        var id: Int
        var end: Duration
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var elapsed = Duration.zero
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var nextID = 0
        var watchers: [(test: @Sendable ([Duration]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

        /// The remaining time of each sleeper, the shortest first.
        var waits: [Duration] { sleepers.map { $0.end - elapsed }.sorted() }

        mutating func satisfied() -> [CheckedContinuation<Void, Never>] {
            let waits = waits
            let done = watchers.filter { $0.test(waits) }.map(\.continuation)
            watchers.removeAll { $0.test(waits) }
            return done
        }
    }

    private let state = Mutex(State())

    /// The clock for the code under test; it starts at second 1,000.
    var clock: ServiceClock {
        ServiceClock(
            now: { 1_000 + self.state.withLock { $0.elapsed.components.seconds } },
            sleep: { try await self.sleep($0) }, chance: { 0.5 })
    }

    /// Moves the time on and wakes the sleepers whose time has come.
    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.elapsed += duration
            let woken = state.sleepers.filter { $0.end <= state.elapsed }
            state.sleepers.removeAll { $0.end <= state.elapsed }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Waits until the remaining times of all sleepers are `waits`.
    func waitForSleepers(_ waits: [Duration]) async {
        let wanted = waits.sorted()
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.waits == wanted { return true }
                state.watchers.append(({ $0 == wanted }, continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    private func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isCancelled, watchers) = state.withLock { state in
                    guard state.cancelled.remove(id) == nil else {
                        return (true, [CheckedContinuation<Void, Never>]())
                    }
                    state.sleepers.append(Sleeper(id: id, end: state.elapsed + duration, continuation: continuation))
                    return (false, state.satisfied())
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
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
}
