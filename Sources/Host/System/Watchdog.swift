// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Reports to systemd's watchdog while every watched thread makes progress.
///
/// It has a thread of its own, touches memory only, and waits for nothing else. So neither a slow disk nor a busy pool of
/// tasks can silence it. A thread that makes no progress does: systemd then restarts the program. Source:
/// sd_watchdog_enabled(3).
public final class Watchdog: Sendable {
    private let supervisor: Supervisor
    private let progress: @Sendable () -> [UInt64?]
    private let onStuck: @Sendable (_ position: Int) -> Void
    private let seen: Mutex<[UInt64?]>
    private let bell = SteadyBell()

    /// - Parameters:
    ///   - progress: a number for each thread, which changes while the thread makes progress; nil for one that has ended.
    ///   - onStuck: called at each look that finds a thread without progress, with its position.
    public init(
        _ supervisor: Supervisor, progress: @escaping @Sendable () -> [UInt64?],
        onStuck: @escaping @Sendable (_ position: Int) -> Void
    ) {
        self.supervisor = supervisor
        self.progress = progress
        self.onStuck = onStuck
        seen = Mutex(progress().map { $0.map { $0 &- 1 } })
    }

    /// Starts the thread; without a watchdog in systemd it starts none.
    public func start() {
        guard let interval = supervisor.watchdogInterval else { return }
        let loop = WatchdogLoop { [self] in
            repeat { look() } while !bell.wait(interval / 2)
        }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(loop).toOpaque()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<WatchdogLoop>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, argument)
        guard failure == 0 else { return Unmanaged<WatchdogLoop>.fromOpaque(argument).release() }
        pthread_detach(thread)
    }

    /// Ends the thread.
    public func stop() { bell.ring() }

    /// Compares the progress with that of the last look, and reports if every thread has moved.
    public func look() {
        let now = progress()
        let before = seen.withLock { seen in
            defer { seen = now }
            return seen
        }
        guard let stuck = zip(before, now).enumerated().first(where: { $1.1 != nil && $1.0 == $1.1 })?.offset else {
            return supervisor.report(.alive)
        }
        onStuck(stuck)
    }
}

/// The body of the watchdog's thread, boxed for the C entry point.
private final class WatchdogLoop: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
