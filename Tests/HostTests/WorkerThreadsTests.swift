// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Host
import Synchronization
import Testing

@Suite("Threads of long work", .timeLimit(.minutes(8)))
struct WorkerThreadsTests {
    /// Work that waits until a test lets it end.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)

        func wait() { semaphore.wait() }

        func open() { semaphore.signal() }
    }

    /// The works in the order of their steps.
    private final class Order: Sendable {
        let names = Mutex<[String]>([])
    }

    @Test func `blocked works leave every task of the program alone`() async throws {
        let (threads, gate) = (WorkerThreads(name: "test", niceness: 1, atOnce: 64, most: 64), Gate())
        // More than Swift's pool has threads, which would all be blocked.
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { try await threads.run { _ in gate.wait() } } }
            while threads.count < count { try await Task.sleep(for: .milliseconds(1)) }
            let answer = await Task.detached { 42 }.value
            #expect(answer == 42)
            for _ in 0..<count { gate.open() }
            try await group.waitForAll()
        }
        #expect(threads.count == 0)
    }

    @Test func `a thread has its niceness and its name, and the threads of others keep theirs`() async throws {
        let before = getpriority(Int32(PRIO_PROCESS.rawValue), 0)
        let threads = WorkerThreads(name: "herald-test", niceness: 10, atOnce: 1, most: 1)
        let found = try await threads.run { _ in
            (
                getpriority(Int32(PRIO_PROCESS.rawValue), 0),
                try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            )
        }
        #expect(found.0 == max(before, 10) && found.1 == "herald-test\n")
        #expect(getpriority(Int32(PRIO_PROCESS.rawValue), 0) == before)
    }

    @Test func `two works on a small machine take turns at their pauses`() async throws {
        let threads = WorkerThreads(name: "test", niceness: 1, atOnce: 1, most: 4)
        let (order, gate) = (Order(), Gate())
        @Sendable func work(_ name: String, _ turn: WorkTurn) throws {
            for step in 1...3 {
                order.names.withLock { $0.append("\(name)\(step)") }
                try turn.pause()
            }
        }
        async let first: Void = threads.run { turn in
            gate.wait()
            try work("a", turn)
        }
        while threads.count < 1 { try await Task.sleep(for: .milliseconds(1)) }
        async let second: Void = threads.run { try work("b", $0) }
        while threads.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        // The second waits for its turn before the first goes on.
        try await Task.sleep(for: .milliseconds(50))
        gate.open()
        _ = try await (first, second)
        #expect(order.names.withLock { $0 } == ["a1", "b1", "a2", "b2", "a3", "b3"])
    }

    @Test func `works above the limit are refused, and a stop ends those that wait or pause`() async throws {
        let (threads, gate) = (WorkerThreads(name: "test", niceness: 1, atOnce: 1, most: 2), Gate())
        let pausing = Task {
            try await threads.run { turn in
                gate.wait()
                try turn.pause()
            }
        }
        while threads.count < 1 { try await Task.sleep(for: .milliseconds(1)) }
        let waiting = Task { try await threads.run { _ in } }
        while threads.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        await #expect(throws: WorkerThreads.Refusal.full) { try await threads.run { _ in } }
        threads.stop()
        gate.open()
        await #expect(throws: WorkerThreads.Refusal.stopped) { try await waiting.value }
        await #expect(throws: WorkerThreads.Refusal.stopped) { try await pausing.value }
        await #expect(throws: WorkerThreads.Refusal.stopped) { try await threads.run { _ in } }
        threads.resume()
        #expect(try await threads.run { _ in 1 } == 1)
    }
}
