// SPDX-License-Identifier: Apache-2.0

import Branding
import ServiceLifecycle

/// Stops branding when the last successful sync is too old.
///
/// The records stay stored, and the next successful sync resumes branding.
///
/// Precedence: the operator's lifetime (zero for no limit), then the directory's `cache_ttl_hours`, then no limit.
/// Calls of stale brands pass unbranded with the reason `stale`.
package final class CacheLifetime: Service, Sendable {
    private let publisher: BrandingPublisher
    private let state: DirectoryState
    private let own: Duration?
    private let lastSuccess: @Sendable () async -> Int64?
    private let time: ServiceClock

    /// - Parameters:
    ///   - own: the operator's lifetime; zero for no limit, nil if not configured.
    ///   - lastSuccess: seconds since 1970 of the last successful sync, also of an earlier run; nil before the first.
    package init(
        publisher: BrandingPublisher, state: DirectoryState, own: Duration?, time: ServiceClock = .system,
        lastSuccess: @escaping @Sendable () async -> Int64?
    ) {
        self.publisher = publisher
        self.state = state
        self.own = own
        self.time = time
        self.lastSuccess = lastSuccess
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.check()
                try? await self.time.sleep(.seconds(5))
            }
        }
    }

    /// The lifetime in force; nil for none.
    package var lifetime: Duration? {
        if let own { return own > .zero ? own : nil }
        return state.cacheLifetime
    }

    func check() async {
        var isStale = false
        if let lifetime, let last = await lastSuccess() {
            let age = time.now() - last
            // A clock that was set back gives no age.
            isStale = age > lifetime.components.seconds
        }
        let now = isStale
        guard await publisher.gates.isStale != now else { return }
        await publisher.change { gates in
            var gates = gates
            gates.isStale = now
            return gates
        }
        // A clock step forward makes records stale at once, and the next sync may be half an hour away.
        if isStale { publisher.wantsSync.ring() }
    }
}
