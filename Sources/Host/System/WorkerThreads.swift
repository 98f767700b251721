// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// Runs blocking work on threads of its own, some at once and the others in turn.
///
/// Swift's tasks and Dispatch's global queues share one thread for each core on Linux. Long work there stops every
/// task of the program. These threads leave them alone, and a niceness lets the kernel prefer all other threads.
/// Thread-safe.
public final class WorkerThreads: Sendable {
    /// The work cannot be done now; the same work may succeed later.
    public enum Refusal: Error, Hashable {
        /// Too much work waits.
        case full
        /// The program ends.
        case stopped
    }

    private struct State {
        var working = 0
        /// Threads that wait for a turn, the oldest first.
        var waiting: [Waiter] = []
        var begun = 0
        var isStopped = false
    }

    /// A thread that waits for a turn.
    private final class Waiter: Sendable {
        private enum Wake {
            static let none = 0
            static let turn = 1
            static let end = 2
        }

        private let bell = SteadyBell()
        private let wake = Atomic<Int>(Wake.none)

        /// Waits until another thread wakes this one; false without a turn, because the program ends.
        func wait() -> Bool {
            while wake.load(ordering: .acquiring) == Wake.none { _ = bell.wait(.seconds(1)) }
            return wake.load(ordering: .acquiring) == Wake.turn
        }

        func wake(withTurn: Bool) {
            wake.store(withTurn ? Wake.turn : Wake.end, ordering: .releasing)
            bell.ring()
        }
    }

    private let name: String
    private let niceness: Int32
    private let atOnce: Int
    private let most: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: the name of the threads, at most 15 bytes.
    ///   - niceness: 0 to 19; the kernel prefers threads with a lower one.
    ///   - atOnce: works that run at once.
    ///   - most: works that run or wait; more are refused.
    public init(name: String, niceness: Int32, atOnce: Int, most: Int) {
        (self.name, self.niceness, self.atOnce, self.most) = (name, niceness, max(atOnce, 1), most)
    }

    /// Long works that suit this machine: one on one or two cores, at most four on many.
    public static var longWorks: Int { min(max(ProcessInfo.processInfo.activeProcessorCount / 2, 1), 4) }

    /// Runs `body` on a thread of its own once it has a turn.
    ///
    /// - Throws: an error of `body`, or `Refusal`.
    public func run<Value: Sendable>(_ body: @escaping @Sendable (WorkTurn) throws -> Value) async throws -> Value {
        guard begin() else { throw Refusal.full }
        return try await withCheckedThrowingContinuation { done in
            let hasThread = OwnThread.start(name, niceness: niceness) { [self] in
                defer { end() }
                do {
                    try take()
                } catch {
                    return done.resume(throwing: error)
                }
                let result = Result { try body(WorkTurn { [self] in try pass() }) }
                give()
                done.resume(with: result)
            }
            if !hasThread {
                end()
                done.resume(throwing: Refusal.full)
            }
        }
    }

    /// Ends works that wait, and works in progress at their next pause.
    public func stop() {
        let waiting = state.withLock { state in
            state.isStopped = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.wake(withTurn: false) }
    }

    /// Accepts work again.
    public func resume() { state.withLock { $0.isStopped = false } }

    /// Works that run or wait.
    public var count: Int { state.withLock { $0.begun } }

    private func begin() -> Bool {
        state.withLock { state in
            guard state.begun < most else { return false }
            state.begun += 1
            return true
        }
    }

    private func end() { state.withLock { $0.begun -= 1 } }

    /// Waits for a turn.
    private func take() throws(Refusal) {
        let waiter = Waiter()
        let hasTurn = try state.withLock { state throws(Refusal) in
            if state.isStopped { throw .stopped }
            guard state.working >= atOnce else {
                state.working += 1
                return true
            }
            state.waiting.append(waiter)
            return false
        }
        if hasTurn { return }
        if !waiter.wait() { throw .stopped }
    }

    private func give() {
        let next = state.withLock { state -> Waiter? in
            guard !state.waiting.isEmpty else {
                state.working = max(state.working - 1, 0)
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.wake(withTurn: true)
    }

    /// Hands the turn to the work that has waited longest, and waits behind the others for the next one.
    private func pass() throws(Refusal) {
        let waiter = Waiter()
        let next = try state.withLock { state throws(Refusal) -> Waiter? in
            if state.isStopped { throw .stopped }
            guard !state.waiting.isEmpty else { return nil }
            state.waiting.append(waiter)
            return state.waiting.removeFirst()
        }
        guard let next else { return }
        next.wake(withTurn: true)
        if waiter.wait() { return }
        // The end of the work gives a turn back.
        state.withLock { $0.working += 1 }
        throw .stopped
    }
}

/// The turn of one long work among others.
public struct WorkTurn: Sendable {
    private let pass: @Sendable () throws -> Void

    public init(_ pass: @escaping @Sendable () throws -> Void) { self.pass = pass }

    /// The turn of work that shares nothing, such as that of a command.
    public static let alone = WorkTurn {}

    /// Lets other work go on first.
    ///
    /// - Throws: `WorkerThreads.Refusal.stopped` if the program ends.
    public func pause() throws { try pass() }

    /// Leaves the processor and the database to others for some milliseconds, then goes on.
    public func rest(milliseconds: UInt32) throws {
        try pass()
        usleep(milliseconds * 1_000)
    }
}

/// A thread outside of all pools.
public enum OwnThread {
    /// The body of a thread, boxed for the C entry point.
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a thread that ends with `body`; false if the system has none left.
    ///
    /// - Parameters:
    ///   - name: at most 15 bytes.
    ///   - niceness: 0 to 19.
    public static func start(_ name: String, niceness: Int32, _ body: @escaping @Sendable () -> Void) -> Bool {
        let boxed = Body {
            NamedThread.begin(name)
            lower(to: niceness)
            body()
        }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(boxed).toOpaque()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, argument)
        guard failure == 0 else {
            Unmanaged<Body>.fromOpaque(argument).release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Lets the kernel prefer other threads to the calling one, unless it already does so more.
    public static func lower(to niceness: Int32) {
        // On Linux a niceness belongs to a thread; 0 is the current thread.
        let thread = Int32(PRIO_PROCESS.rawValue)
        if getpriority(thread, 0) < niceness { _ = setpriority(thread, 0, niceness) }
    }
}
