// SPDX-License-Identifier: Apache-2.0

import GatewaySync
import Synchronization

/// Time that stands still until a test moves it.
final class ManualTime: Sendable {
    private struct Sleeper {
        var id: Int
        var until: Duration
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var elapsed: Duration = .zero
        var sleepers: [Sleeper] = []
        var asked: [Duration] = []
        var cancelled: Set<Int> = []
        var nextID = 0
    }

    static let start: Int64 = 1_700_000_000

    private let state = Mutex(State())
    /// True if every sleep ends at once, with the clock moved on by it.
    private let passesByItself: Bool

    init(passesByItself: Bool = false) {
        self.passesByItself = passesByItself
    }

    /// Without chance: nothing is spread.
    var keeper: ServiceClock {
        ServiceClock(now: { self.now }, sleep: { try await self.sleep($0) }, chance: { 0.5 })
    }

    var now: Int64 { Self.start + state.withLock { $0.elapsed.components.seconds } }

    /// Every duration somebody wanted to sleep, in order.
    var asked: [Duration] { state.withLock { $0.asked } }

    /// Those who sleep now, by how long they still will.
    var sleeping: [Duration] { state.withLock { state in state.sleepers.map { $0.until - state.elapsed } } }

    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.elapsed += duration
            let woken = state.sleepers.filter { $0.until <= state.elapsed }
            state.sleepers.removeAll { $0.until <= state.elapsed }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    private func sleep(_ duration: Duration) async throws {
        if passesByItself {
            state.withLock {
                $0.asked.append(duration)
                $0.elapsed += duration
            }
            try Task.checkCancellation()
            return
        }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    guard state.cancelled.remove(id) == nil else { return true }
                    state.asked.append(duration)
                    state.sleepers.append(
                        Sleeper(id: id, until: state.elapsed + duration, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
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
