// SPDX-License-Identifier: Apache-2.0

public import ServiceLifecycle
import Synchronization

/// Reports a program to systemd: ready once it serves, reloads, the stop, a status line and the watchdog.
///
/// Any thread. Does nothing where systemd does not ask for it.
public final class SystemdReport: Service {
    private struct State {
        var isReady = false
        var line = ""
    }

    private let supervisor: Supervisor
    private let watchdog: Watchdog
    private let line: @Sendable () -> String
    private let state = Mutex(State())

    /// Time between two looks at the status line.
    static let interval = Duration.seconds(10)

    /// - Parameters:
    ///   - progress: the progress of each watched thread, as `Watchdog` takes it.
    ///   - onStuck: called for a thread without progress, with its position.
    ///   - line: the status line.
    public init(
        _ supervisor: Supervisor = .current, progress: @escaping @Sendable () -> [UInt64?],
        onStuck: @escaping @Sendable (_ position: Int) -> Void, line: @escaping @Sendable () -> String
    ) {
        self.supervisor = supervisor
        self.line = line
        watchdog = Watchdog(supervisor, progress: progress, onStuck: onStuck)
    }

    /// Reports that the program serves, and starts the watchdog.
    public func serves() {
        let line = line()
        state.withLock { $0 = State(isReady: true, line: line) }
        supervisor.report(.ready, .status(line))
        watchdog.start()
    }

    /// Reports the begin of a reload, unless the program has not been ready yet.
    public func reloadBegins() {
        guard state.withLock({ $0.isReady }) else { return }
        supervisor.report(.reloading)
    }

    /// Reports the end of a reload, applied or refused.
    public func reloadEnds() {
        guard state.withLock({ $0.isReady }) else { return }
        supervisor.report(.ready)
        renewLine()
    }

    /// Reports that the program stops; work in progress may still finish.
    public func stops() { supervisor.report(.stopping, .status(line())) }

    /// Ends the watchdog, before the watched threads end.
    public func ends() { watchdog.stop() }

    /// Sends the status line if it has changed.
    public func renewLine() {
        let line = line()
        let isNews = state.withLock { state in
            defer { state.line = line }
            return state.isReady && state.line != line
        }
        if isNews { supervisor.report(.status(line)) }
    }

    /// Renews the status line until graceful shutdown.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                self.renewLine()
            }
        }
    }
}
