// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import Synchronization

/// Holds calls back until every HTTP server of the gateway listens, so that a taken port ends the start before the first call.
final class StartGate: Sendable {
    private let servers = Mutex(0)
    private let listening: AsyncStream<Void>
    private let opened: AsyncStream<Void>.Continuation

    init() { (listening, opened) = AsyncStream.makeStream() }

    /// Counts a server that calls wait for.
    ///
    /// - Returns: the callback that the server calls once it listens.
    func expectServer() -> @Sendable (_ port: Int) -> Void {
        servers.withLock { $0 += 1 }
        return { [opened] _ in opened.yield() }
    }

    /// Waits for all servers.
    ///
    /// - Returns: false when the gateway is stopped before they listen.
    func isOpen() async -> Bool {
        let all = servers.withLock { $0 }
        guard all > 0 else { return true }
        return await cancelWhenGracefulShutdown { [listening] in
            var missing = all
            for await _ in listening {
                missing -= 1
                if missing == 0 { return true }
            }
            return false
        }
    }
}
