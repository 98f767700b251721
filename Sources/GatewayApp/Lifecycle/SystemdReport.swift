// SPDX-License-Identifier: Apache-2.0

import Host
import Logging
import ServiceLifecycle
import Synchronization

/// Reports the gateway to systemd: ready once calls are taken, reloads, the stop, a status line and the watchdog.
///
/// Any thread. Does nothing where systemd does not ask for it.
final class SystemdReport: Service {
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
    ///   - rounds: completed rounds of each call thread; nil for one that has ended.
    ///   - line: the status line.
    init(
        _ supervisor: Supervisor, rounds: @escaping @Sendable () -> [UInt64?], line: @escaping @Sendable () -> String,
        logger: Logger
    ) {
        self.supervisor = supervisor
        self.line = line
        watchdog = Watchdog(supervisor, progress: rounds) { thread in
            logger.critical(
                "a call thread makes no progress; systemd restarts herald if that lasts, see WatchdogSec",
                metadata: ["thread": "\(thread)"])
        }
    }

    /// Reports that the call threads receive, and starts the watchdog.
    func callsAreTaken() {
        let line = line()
        state.withLock { $0 = State(isReady: true, line: line) }
        supervisor.report(.ready, .status(line))
        watchdog.start()
    }

    /// Reports the begin of a reload, unless the gateway has not been ready yet.
    func reloadBegins() {
        guard state.withLock({ $0.isReady }) else { return }
        supervisor.report(.reloading)
    }

    /// Reports the end of a reload, applied or refused.
    func reloadEnds() {
        guard state.withLock({ $0.isReady }) else { return }
        supervisor.report(.ready)
        renewLine()
    }

    /// Reports that the gateway stops; calls in progress may still finish.
    func stops() { supervisor.report(.stopping, .status(line())) }

    /// Ends the watchdog: the call threads have ended.
    func callsHaveEnded() { watchdog.stop() }

    /// Sends the status line if it has changed.
    func renewLine() {
        let line = line()
        let isNews = state.withLock { state in
            defer { state.line = line }
            return state.isReady && state.line != line
        }
        if isNews { supervisor.report(.status(line)) }
    }

    /// Renews the status line until graceful shutdown.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                self.renewLine()
            }
        }
    }
}

/// The numbers of the status line in `systemctl status herald`.
struct StatusLine: Equatable, Sendable {
    var calls = 0
    var numbers = 0
    /// Nil where no directory is configured, or before the first sync.
    var syncAge: Int64?
    var isDraining = false

    /// The line; the age of the last sync is in minutes, so that an idle gateway sends few lines.
    var text: String {
        var parts = ["\(calls) \(calls == 1 ? "call" : "calls") in progress", "\(numbers) branded numbers"]
        if let syncAge { parts.append(syncAge < 60 ? "in sync" : "last sync \(syncAge / 60) min ago") }
        return (isDraining ? "draining: " : "") + parts.joined(separator: ", ")
    }
}
