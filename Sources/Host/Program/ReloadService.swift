// SPDX-License-Identifier: Apache-2.0

public import ServiceLifecycle
public import UnixSignals

/// Reads the configuration again at each SIGHUP.
public struct ReloadService: Service {
    private let hangups: UnixSignalsSequence
    private let reload: @Sendable () async -> Void

    /// - Parameter hangups: SIGHUP, trapped before the slow steps of a start; until then it would end the process.
    public init(_ hangups: UnixSignalsSequence, reload: @escaping @Sendable () async -> Void) {
        self.hangups = hangups
        self.reload = reload
    }

    /// Reloads until graceful shutdown.
    public func run() async throws {
        for await _ in hangups.cancelOnGracefulShutdown() { await reload() }
    }
}
