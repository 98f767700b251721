// SPDX-License-Identifier: Apache-2.0

import CallPath
import GatewayOperator
import GatewaySync
import Host
import Logging
import UnixSignals

/// Lets calls in progress finish before a stop: until the last call, the end of `gateway.drain` or a second signal.
struct CallDrain: Sendable {
    private let shared: GatewayShared
    private let calls: PresentCalls
    private let patience: @Sendable () -> Duration
    private let logger: Logger
    private let time: ServiceClock
    private let secondSignal: @Sendable () async -> Void

    /// Time between two looks at the number of calls.
    static let interval = Duration.milliseconds(100)
    /// Time for the response to the last BYE, which may need a retransmission (RFC 3261 §17.1.2.1).
    static let lastResponse = Duration.seconds(1)

    /// - Parameters:
    ///   - calls: the calls that are awaited.
    ///   - patience: the longest wait; zero for none.
    ///   - secondSignal: returns at a SIGTERM or SIGINT that arrives during the drain.
    init(
        _ shared: GatewayShared, _ calls: PresentCalls, patience: @escaping @autoclosure @Sendable () -> Duration,
        logger: Logger,
        time: ServiceClock = .system,
        secondSignal: @escaping @Sendable () async -> Void = CallDrain.nextSignal
    ) {
        (self.shared, self.calls) = (shared, calls)
        self.patience = patience
        self.logger = logger
        self.time = time
        self.secondSignal = secondSignal
    }

    /// Rejects new calls from now on, except emergency calls, and waits for those in progress.
    func run() async {
        shared.drain()
        let patience = patience()
        guard calls.count > 0, patience > .zero else { return }
        logger.notice(
            "draining: new calls but emergencies are refused, calls in progress may finish; a second signal ends at once",
            metadata: ["calls": "\(calls.count)", "longest": "\(patience)"])
        await firstOf({ await lastCall() }, { try? await time.sleep(patience) }, { await secondSignal() })
        if calls.count > 0 {
            logger.notice(
                "calls are still in progress; they go on with the next start",
                metadata: ["calls": "\(calls.count)"])
        }
    }

    /// Waits until no call has been in progress for `lastResponse`.
    private func lastCall() async {
        repeat {
            while calls.count > 0, !Task.isCancelled { try? await time.sleep(Self.interval) }
            try? await time.sleep(Self.lastResponse)
        } while calls.count > 0 && !Task.isCancelled
    }

    /// Waits for a SIGTERM or SIGINT.
    static let nextSignal: @Sendable () async -> Void = {
        for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) { break }
    }
}
