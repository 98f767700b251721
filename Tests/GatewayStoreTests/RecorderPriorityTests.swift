// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayStore

@Suite("Recorder: beside call threads while it is behind")
struct RecorderPriorityTests {
    private final class Thread {
        var told: [Int32] = []
        var isAllowed = true
    }

    private let thread = Thread()

    private func priority(usual: Int32 = 0) -> RecorderPriority {
        let thread = thread
        return RecorderPriority(usual: usual) { niceness in
            thread.told.append(niceness)
            return thread.isAllowed
        }
    }

    @Test func `it is raised once where half of the ring waits, until next to nothing does`() {
        var priority = priority()
        for filling in [0.1, 0.4, 0.6, 0.9, 0.2, 0.06, 0.04, 0.4, 0.6] { priority.follow(filling) }
        #expect(thread.told == [-5, 0, -5])
    }

    @Test func `a program that goes before all others keeps what it has`() {
        var priority = priority(usual: -10)
        for filling in [0.6, 0.01] { priority.follow(filling) }
        #expect(thread.told == [-10, -10])
    }

    @Test func `where the system refuses it is asked again, and nothing else changes`() {
        thread.isAllowed = false
        var priority = priority()
        for filling in [0.6, 0.01, 0.7] { priority.follow(filling) }
        #expect(thread.told == [-5, -5])
    }
}
