// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets a few pictures be decoded at once; some more wait, in the order of their arrival. Any thread.
///
/// A decoder takes up to 256 MiB of memory and a processor, and a waiting one up to 20 MiB: a form of 5 MiB and its copies.
package final class DecoderTurns: Sendable {
    /// Those of this process: two at once, and thirty that wait.
    package static let shared = DecoderTurns(most: 2, waiting: 30)

    private struct State {
        var running = 0
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }

    private let most: Int
    private let mostWaiting: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - most: the turns at once.
    ///   - waiting: the most that wait for one.
    package init(most: Int, waiting: Int) { (self.most, mostWaiting) = (most, waiting) }

    /// Waits for a turn, which `giveBack` ends; false at once if too many wait.
    package func take() async -> Bool {
        await withCheckedContinuation { waiter in
            let hasTurn: Bool? = state.withLock { state in
                if state.running < most {
                    state.running += 1
                    return true
                }
                guard state.waiting.count < mostWaiting else { return false }
                state.waiting.append(waiter)
                return nil
            }
            if let hasTurn { waiter.resume(returning: hasTurn) }
        }
    }

    /// Ends a turn; the first that waits gets it.
    package func giveBack() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            if state.waiting.isEmpty {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume(returning: true)
    }
}
