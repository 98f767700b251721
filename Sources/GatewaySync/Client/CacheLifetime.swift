// SPDX-License-Identifier: Apache-2.0

import Branding
import ServiceLifecycle

/// Stops showing brands that no successful sync has confirmed for too long; they stay stored, and the next success shows
/// them again.
///
/// The operator's own lifetime decides, zero for none; where he gave none, the directory's `cache_ttl_hours`; where
/// neither is given, records never age. Calls that would have been branded pass with the reason `stale`.
package final class CacheLifetime: Service, Sendable {
    private let publisher: BrandingPublisher
    private let word: DirectoryWord
    private let own: Duration?
    private let lastSuccess: @Sendable () async -> Int64?
    private let time: Timekeeper

    /// - Parameters:
    ///   - own: what the operator configured; zero for no end, nil for nothing.
    ///   - lastSuccess: seconds since 1970 of the last successful sync, of an earlier run too; nil before the first.
    package init(
        publisher: BrandingPublisher, word: DirectoryWord, own: Duration?, time: Timekeeper = .system,
        lastSuccess: @escaping @Sendable () async -> Int64?
    ) {
        self.publisher = publisher
        self.word = word
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
        return word.cacheLifetime
    }

    func check() async {
        var isStale = false
        if let lifetime, let last = await lastSuccess() {
            let age = time.now() - last
            // A clock that was set back says nothing of the age.
            isStale = age > lifetime.components.seconds
        }
        let now = isStale
        guard await publisher.gates.isStale != now else { return }
        await publisher.change { gates in
            var gates = gates
            gates.isStale = now
            return gates
        }
        // A clock that jumped forward ages records at once, and the next sync may be half an hour away.
        if isStale { publisher.wantsSync.ring() }
    }
}
